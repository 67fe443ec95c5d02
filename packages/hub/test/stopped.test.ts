import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CliGround } from './cli-ground.ts';
import { byStdio, use } from './mcp-clients.ts';
import { TestHub, until } from './test-hub.ts';

/** The number of the process that serves tmux for a hub. */
const tmuxPid = (hub: TestHub): number =>
  Number(
    execFileSync('tmux', ['-L', hub.env.POLY_TMUX_SOCKET ?? '', 'display', '-p', '#{pid}'], {
      encoding: 'utf8',
    }),
  );

/** What the disk has of a pane's output. */
const filesOf = (hub: TestHub, id: string) => {
  const folder = join(hub.dir, 'panes', id);
  return existsSync(folder) ? readdirSync(folder).map((name) => statSync(join(folder, name))) : [];
};

const codeOf = (failed: Promise<unknown>): Promise<unknown> =>
  failed.then(
    () => 'done',
    ({ code }: { readonly code: string }) => code,
  );

interface Finding {
  readonly name: string;
  readonly state: string;
  readonly says: string;
  readonly fix?: string;
}

describe.concurrent('a process that is stopped, not ended', () => {
  it('the host: whoever needs it hears so, the hub goes on and starts, and all is there when it goes on', async () => {
    await using hub = await TestHub.start();
    const { id } = await hub.client.call('pane:new', {
      argv: ['sh', '-c', 'echo here; cat'],
      backend: 'pty',
    });
    await until(async () => (await hub.client.call('pane:screen', { paneId: id })).lines[0] === 'here');
    const host = hub.hostPid();
    process.kill(host, 'SIGSTOP');
    try {
      const asked = [
        hub.client.call('pane:write', { paneId: id, data: 'x' }),
        hub.client.call('pane:read', { paneId: id, tail: 1 }),
      ];
      await Promise.allSettled(asked);
      const silent = { code: 'uncertain', message: expect.stringContaining('has not answered one for') };
      for (const answer of asked) await expect(answer).rejects.toMatchObject(silent);
      expect(await hub.client.call('pane:list', {})).toMatchObject([{ id, status: 'running' }]);
      await hub.kill('SIGKILL');
      await hub.start();
      expect(await hub.client.call('pane:list', {})).toMatchObject([{ id, status: 'running' }]);
      expect(await codeOf(hub.client.call('pane:read', { paneId: id, tail: 1 }))).toBe('unavailable');
    } finally {
      process.kill(host, 'SIGCONT');
    }
    await until(
      async () => (await codeOf(hub.client.call('pane:write', { paneId: id, data: 'back\r' }))) === 'done',
    );
    await until(async () =>
      (await hub.client.call('pane:screen', { paneId: id })).lines.some((line) => line.includes('back')),
    );
  }, 60_000);

  it('tmux: pty panes do not notice, tmux panes are not taken for dead, and all is there when it goes on', async () => {
    await using hub = await TestHub.start();
    await hub.client.call('session:start', {});
    const { id } = await hub.client.call('pane:new', { argv: ['cat'], backend: 'tmux' });
    const pid = tmuxPid(hub);
    process.kill(pid, 'SIGSTOP');
    try {
      expect(await codeOf(hub.client.call('pane:screen', { paneId: id }))).toBe('unavailable');
      const { id: other } = await hub.client.call('pane:new', { argv: ['cat'] });
      expect(other).toMatch(/^pty_/);
      await hub.kill('SIGKILL');
      await hub.start();
      const listed = await hub.client.call('pane:list', {});
      expect(listed.map(({ status }) => status)).toEqual(['running', 'running']);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await until(
      async () => (await codeOf(hub.client.call('pane:write', { paneId: id, data: 'back\r' }))) === 'done',
    );
    await until(async () =>
      (await hub.client.call('pane:screen', { paneId: id })).lines.some((line) => line.includes('back')),
    );
  }, 60_000);

  it.each([
    { keep: 'memory', killed: 'the host' },
    { keep: 'disk', killed: 'host and hub' },
  ])(
    'tmux, while $killed is killed: its panes are not taken for dead, and are met again with all it has ($keep)',
    async ({ keep, killed }) => {
      await using hub = await TestHub.start({ config: `[output]\nkeep = "${keep}"\n` });
      await hub.client.call('session:start', {});
      const go = join(hub.home, 'go');
      const script = `echo before; until [ -e ${go} ]; do sleep 0.1; done; echo meanwhile; touch ${go}.printed; exec cat`;
      const { id } = await hub.client.call('pane:new', { argv: ['sh', '-c', script], backend: 'tmux' });
      const texts = async (): Promise<string[]> =>
        ((await hub.client.call('pane:read', { paneId: id })).lines ?? []).map(({ text }) => text);
      await until(async () => (await texts())[0] === 'before');
      if (keep === 'disk') await until(() => filesOf(hub, id).some(({ size }) => size > 0));
      const pid = tmuxPid(hub);
      process.kill(pid, 'SIGSTOP');
      try {
        if (killed !== 'the host') await hub.kill('SIGKILL');
        process.kill(hub.hostPid(), 'SIGKILL');
        // The kernel takes what the program prints; nobody hears it.
        writeFileSync(go, '');
        await until(() => existsSync(`${go}.printed`));
        if (killed !== 'the host') await hub.start();
        const { id: other } = await hub.client.call('pane:new', { argv: ['cat'], backend: 'pty' });
        expect(await hub.client.call('pane:read', { paneId: other })).toMatchObject({ lines: [] });
        const listed = await hub.client.call('pane:list', {});
        expect(listed.find((pane) => pane.id === id)).toMatchObject({ status: 'running' });
        // What is on the disk can be read meanwhile, and what is nowhere says why it cannot.
        if (keep === 'disk') expect(await texts()).toEqual(['before']);
        else await expect(texts()).rejects.toMatchObject({ code: 'unavailable', hint: expect.any(String) });
        expect(await codeOf(hub.client.call('pane:write', { paneId: id, data: 'x' }))).toBe('unavailable');
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      await until(async () => (await texts().catch((): string[] => [])).includes('meanwhile'));
      expect(await texts()).toEqual(['before', 'meanwhile']);
      await hub.client.call('pane:write', { paneId: id, data: 'on', enter: true });
      await until(async () => (await texts()).at(-1) === 'on');
      const { truncated } = await hub.client.call('pane:read', { paneId: id, since: 0 });
      expect(truncated).toBe(keep === 'memory');
    },
    120_000,
  );

  it('tmux: the command line says that it does not answer, and never that it is not there', async () => {
    await using ground = new CliGround();
    await ground.ok('server', 'start');
    expect(await ground.ok('session', 'start')).toContain('is up');
    const tmux = ['-S', ground.env.POLY_TMUX_SOCKET ?? '', 'display', '-p', '#{pid}'];
    const pid = Number(execFileSync('tmux', tmux, { encoding: 'utf8' }));
    process.kill(pid, 'SIGSTOP');
    const silent = 'tmux takes calls and does not answer: it may be stopped.';
    try {
      const status = await ground.ok('server', 'status');
      expect(status).toContain(silent);
      expect(status).not.toContain('not up');
      const run = await ground.run(['run', '--name', 'instead', '--', 'cat']);
      expect(run).toMatchObject({ code: 0, stdout: 'instead\n' });
      expect(run.stderr).toContain(`${silent} So this is a pty pane.`);
      const asked = [
        ['run', '--backend', 'tmux', '--', 'cat'],
        ['session', 'attach'],
        ['session', 'start'],
      ];
      for (const args of asked) {
        const { code, stderr } = await ground.run(args);
        expect([code, stderr]).toEqual([4, expect.stringContaining(silent)]);
        expect(stderr).not.toContain('Install tmux');
      }
      const findings = JSON.parse((await ground.run(['doctor', '--json'])).stdout) as readonly Finding[];
      expect(findings.find(({ name }) => name === 'tmux')).toMatchObject({
        state: 'bad',
        says: expect.stringContaining(silent),
        fix: `Let it go on: kill -CONT ${pid}`,
      });
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await until(async () => /tmux session +up/.test(await ground.ok('server', 'status')));
    expect(await ground.run(['run', '--name', 'again', '--', 'cat'])).toMatchObject({ code: 0, stderr: '' });
    expect(await ground.ok('ls')).toMatch(/again.*tmux/);
  }, 60_000);

  it('the hub: the command line says so and what to do, and stops waiting', async () => {
    await using ground = new CliGround();
    const { pid } = JSON.parse(await ground.ok('server', 'start', '--json')) as { readonly pid: number };
    process.kill(pid, 'SIGSTOP');
    try {
      const outcomes = await Promise.all([ground.run(['ls']), ground.run(['events'])]);
      for (const { code, stderr } of outcomes) {
        expect([code, stderr]).toEqual([
          5,
          expect.stringContaining(`the hub (pid ${pid}) takes calls and does not answer`),
        ]);
        expect(stderr).toContain(`kill -CONT ${pid}`);
      }
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    expect(await ground.ok('ls', '--json')).toBe('[]\n');
  }, 60_000);

  it('the hub: an agent is told so in the middle of a call, and goes on with it when it goes on', async () => {
    await using ground = new CliGround();
    const client = await byStdio(ground, { era: 'legacy' });
    const id = /^ID: (\S+)$/m.exec(await use(client, 'pty_spawn', { command: 'cat' }))?.[1];
    const { pid } = await ground.json<{ pid: number }>('server', 'status');
    process.kill(pid, 'SIGSTOP');
    try {
      const [listed, written] = await Promise.all([
        use(client, 'pty_list'),
        use(client, 'pty_write', { id, data: 'once\\n' }),
      ]);
      expect(listed).toContain(
        `ERROR the hub (pid ${pid}) takes calls and does not answer: it may be stopped.`,
      );
      expect(listed).toMatch(/ Your user .* poly up; then call again\.$/);
      expect(written).toMatch(/^ERROR .*pty_write ran: it may have happened or not\. Look first/);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    expect(await use(client, 'pty_list')).toContain(`ID: ${id}`);
    await client.close();
  }, 60_000);

  it('host or hub: poly doctor names it and says how it goes on', async () => {
    await using ground = new CliGround();
    const { pid } = JSON.parse(await ground.ok('server', 'start', '--json')) as { readonly pid: number };
    await ground.ok('run', '--backend', 'pty', '--', 'cat');
    const look = async (name: string): Promise<Finding | undefined> =>
      (JSON.parse((await ground.run(['doctor', '--json'])).stdout) as readonly Finding[]).find(
        (finding) => finding.name === name,
      );
    const host = await until(
      async () => Number(/^answers, pid (\d+)$/.exec((await look('host'))?.says ?? '')?.[1]) || undefined,
    );
    for (const [name, stopped] of [['host', host] as const, ['hub', pid] as const]) {
      process.kill(stopped, 'SIGSTOP');
      try {
        const finding = await until(async () => {
          const found = await look(name);
          return found?.state === 'bad' && found;
        });
        expect(finding.says).toContain(`pid ${stopped}`);
        expect(finding.fix).toContain(`kill -CONT ${stopped}`);
      } finally {
        process.kill(stopped, 'SIGCONT');
      }
    }
    await until(async () => (await look('host'))?.state === 'ok');
  }, 120_000);
});
