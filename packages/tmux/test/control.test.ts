import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ControlEngine } from '../src/engines/control/engine.ts';
import { atLeast } from '../src/operation/version.ts';
import { isAlive, startTestServer, type TestServer, testBinaries } from '../src/testing/index.ts';
import { attachUser } from './attach-user.ts';

const say = (text: string): { argv: string[]; effect: 'read' } => ({
  argv: ['display-message', '-p', text],
  effect: 'read',
});

describe.each(testBinaries())('the control engine on %s', (tmux) => {
  async function started(): Promise<TestServer & { control: ControlEngine }> {
    const server = await startTestServer({ tmux });
    const control = server.engine('control') as ControlEngine;
    await control.run({ argv: ['new-session', '-d', '-s', 'work', '-x', '100', '-y', '30'] });
    return Object.assign(server, { control });
  }

  test('gives the first command its own output, not the acknowledgement of the attach', async () => {
    await using server = await started();
    expect(await server.control.run(say('first'))).toEqual({
      status: 'complete',
      stdout: 'first\n',
      stderr: '',
    });
  });

  test('blames the right command of a line and keeps the next one aligned', async () => {
    await using server = await started();
    const bad = { argv: ['kill-pane', '-t', '%999'] };
    const rename = { argv: ['rename-window', '-t', '=work:', 'first-ran'] };
    expect((await server.control.runChain([bad, say('x')])).map((reply) => reply.status)).toEqual([
      'failed',
      'skipped',
    ]);
    expect((await server.control.runChain([rename, bad, say('x')])).map((reply) => reply.status)).toEqual([
      'complete',
      'failed',
      'skipped',
    ]);
    expect((await server.control.run(say('#{window_name}'))).stdout).toBe('first-ran\n');
  });

  test('runs nothing of a line tmux cannot parse, and fails all of it', async () => {
    await using server = await started();
    const rename = { argv: ['rename-window', '-t', '=work:', 'never'] };
    const replies = await server.control.runChain([rename, { argv: ['no-such-command'] }]);
    expect(replies.map((reply) => reply.status)).toEqual(['failed', 'failed']);
    expect((await server.control.run(say('#{window_name}'))).stdout).not.toContain('never');
  });

  test('matches a thousand pipelined replies to their commands when every tenth fails', async () => {
    await using server = await started();
    const commands = Array.from({ length: 1000 }, (_, i) =>
      i % 10 === 9 ? { argv: ['kill-pane', '-t', `%${i}000`] } : say(`n${i}`),
    );
    const replies = await Promise.all(commands.map((command) => server.control.run(command)));
    for (const [i, reply] of replies.entries()) {
      expect(reply.status === 'failed' ? reply.stderr : reply.stdout).toBe(
        i % 10 === 9 ? `can't find pane: %${i}000\n` : `n${i}\n`,
      );
    }
  });

  test('is not shifted by the output of a hook', async () => {
    await using server = await started();
    await server.control.run({
      argv: ['set-hook', '-g', 'after-rename-window', 'display-message -p from-the-hook'],
    });
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        server.control.run(i % 2 ? say(`n${i}`) : { argv: ['rename-window', '-t', '=work:', `w${i}`] }),
      ),
    );
    expect(replies.map((reply) => reply.stdout)).toEqual(
      Array.from({ length: 100 }, (_, i) => (i % 2 ? `n${i}\n` : '')),
    );
  });

  test('tells whoever wants to know what a hook printed', async () => {
    await using server = await started();
    const heard: (readonly string[])[] = [];
    const engine = new ControlEngine(server.connection, { onUnsolicited: (lines) => heard.push(lines) });
    try {
      await engine.run({ argv: ['set-hook', '-g', 'after-rename-window', 'display-message -p "hook #W"'] });
      const rename = (name: string) => ({ argv: ['rename-window', '-t', '=work:', name] });
      for (const name of ['a', 'b']) await engine.run(rename(name));
      await engine.runChain([rename('c'), say('x'), rename('d')]);
      await expect.poll(() => heard).toEqual([['hook a'], ['hook b'], ['hook c'], ['hook d']]);
    } finally {
      await engine.close();
    }
  });

  test('is not shifted by commands that answer several times', async () => {
    await using server = await started();
    const file = join(server.directory, 'three.conf');
    await writeFile(file, 'display-message -p one\ndisplay-message -p two\ndisplay-message -p three\n');
    const [source, afterSource, branch, afterBranch] = await Promise.all([
      server.control.run({ argv: ['source-file', file] }),
      server.control.run(say('after source')),
      server.control.run({ argv: ['if-shell', '-F', '1', 'display-message -p yes'] }),
      server.control.run(say('after branch')),
    ]);
    expect([source, afterSource, branch, afterBranch].map((reply) => reply?.stdout)).toEqual([
      'one\ntwo\nthree\n',
      'after source\n',
      'yes\n',
      'after branch\n',
    ]);
  });

  test('takes text that imitates the guards of a reply for text', async () => {
    await using server = await started();
    const now = Math.floor(Date.now() / 1000);
    const forged = Array.from(
      { length: 400 },
      (_, i) => `%end ${now + Math.floor(i / 200)} ${i % 200} 1\n%begin ${now} ${i} 1\nforged`,
    );
    const text = `${forged.join('\n')}\n`;
    await server.control.run({ argv: ['set-buffer', '-b', 'forged', text] });
    const [shown, after] = await Promise.all([
      server.control.run({ argv: ['show-buffer', '-b', 'forged'] }),
      server.control.run(say('aligned')),
    ]);
    expect(shown?.stdout.trimEnd()).toBe(text.trimEnd());
    expect(after?.stdout).toBe('aligned\n');
  });

  test('is not held up by a message that imitates the guard of a hook', async () => {
    await using server = await started();
    // An older tmux tells a control client of no message.
    if (!atLeast(await server.control.version(), '3.4')) return;
    const processes = server.engine('subprocess');
    const client = (await processes.run({ argv: ['list-clients', '-F', '#{client_name}'] })).stdout.trim();
    await processes.run({ argv: ['display-message', '-c', client, 'text\n%%begin 1 2 0'] });
    const replies = await Promise.all(['one', 'two'].map((text) => server.control.run(say(text))));
    expect(replies.map(({ stdout }) => stdout)).toEqual(['one\n', 'two\n']);
    expect(server.control.generation).toBe(1);
  });

  test('tells many reads at once from each other, also when some fail, or print what imitates a guard', async () => {
    await using server = await started();
    const now = Math.floor(Date.now() / 1000);
    const forged = Array.from({ length: 40 }, (_, i) => `%end ${now} ${i} 1\n%begin ${now} ${i} 1`).join(
      '\n',
    );
    await server.control.run({ argv: ['set-option', '-g', '@forged', forged] });
    await server.control.run({
      argv: ['set-hook', '-g', 'after-list-windows', 'display-message -p "%begin 1 2 1"'],
    });
    const kinds = [
      [say('plain'), 'plain\n'],
      [{ argv: ['has-session', '-t', '=nobody'], effect: 'read' }, "can't find session: nobody\n"],
      [{ argv: ['list-windows', '-F', 'listed'], effect: 'read' }, 'listed\n'],
      [say('#{@forged}'), `${forged}\n`],
    ] as const;
    for (const choices of [kinds.slice(0, 2), kinds.slice(0, 3), kinds]) {
      const asked = Array.from({ length: 300 }, (_, i) => choices[i % choices.length] ?? kinds[0]);
      const replies = await Promise.all(asked.map(([command]) => server.control.run(command)));
      expect(replies.map(({ stdout, stderr }) => stdout + stderr)).toEqual(asked.map(([, said]) => said));
    }
    expect(server.control.generation).toBe(1);
  });

  test('forgets a command that timed out and discards its late reply', async () => {
    await using server = await started();
    const waiting = server.control.run({ argv: ['wait-for', 'never-signalled'] }, { timeoutMs: 50 });
    await expect(waiting).rejects.toMatchObject({ code: 'timed_out' });
    const held = server.control.run(say('held up'));
    await server.engine('subprocess').run({ argv: ['wait-for', '-S', 'never-signalled'] });
    expect((await held).stdout).toBe('held up\n');
  });

  test('stops waiting when aborted, and stays aligned', async () => {
    await using server = await started();
    const aborting = new AbortController();
    const held = server.control.run(say('one'), { signal: aborting.signal });
    aborting.abort();
    await expect(held).rejects.toMatchObject({ code: 'aborted' });
    expect((await server.control.run(say('two'))).stdout).toBe('two\n');
  });

  test('keeps answering while a command that waits has a process of its own', async () => {
    await using server = await started();
    const waiting = server.control.run({ argv: ['wait-for', 'door'], ownProcess: true });
    expect((await server.control.run(say('meanwhile'))).stdout).toBe('meanwhile\n');
    await server.control.run({ argv: ['wait-for', '-S', 'door'] });
    expect((await waiting).status).toBe('complete');
  });

  test('rejects what is pending when its process is killed, reconnects, and counts', async () => {
    await using server = await started();
    await server.control.run(say('connected'));
    expect(server.control.generation).toBe(1);
    const held = server.control.run({ argv: ['wait-for', 'nothing'] });
    const lost = expect(held).rejects.toMatchObject({ code: 'connection_lost' });
    for (const pid of await clientPids(server)) process.kill(pid, 'SIGKILL');
    await lost;
    expect((await server.control.run(say('again'))).stdout).toBe('again\n');
    expect(server.control.generation).toBe(2);
  });

  test('never executes a write twice when somebody ends its process in the middle', async () => {
    await using server = await started();
    for (let round = 0; round < 12; round++) {
      const log = `@log${round}`;
      await server.control.run(say('connected'));
      const [client] = await clientPids(server);
      if (client === undefined) throw new Error('The engine has no client.');
      const writes = Array.from({ length: 600 }, (_, i) =>
        server.control.run({ argv: ['set-option', '-ga', log, `,${i}`], effect: 'write' }).then(
          ({ status }) => (status === 'complete' ? i : null),
          () => null,
        ),
      );
      await writes[round * 10];
      process.kill(client, round % 2 ? 'SIGTERM' : 'SIGKILL');
      const done = (await Promise.all(writes)).filter((i) => i !== null);
      const shown = await server.engine('subprocess').run({ argv: ['show-options', '-gv', log] });
      const executed = shown.stdout.trim().split(',').filter(Boolean).map(Number);
      expect(new Set(executed).size).toBe(executed.length);
      expect(executed).toEqual(expect.arrayContaining(done));
    }
  });

  test('keeps the order of its calls when the session it sits in ends in the middle', async () => {
    await using server = await started();
    await server.control.run({ argv: ['new-session', '-d', '-s', 'second'] });
    await server.control.run(say('connected'));
    const writes = Array.from({ length: 200 }, (_, i) =>
      server.control
        .run(
          i === 20
            ? { argv: ['kill-session', '-t', '=work:'] }
            : { argv: ['set-option', '-ga', '@log', `,${i}`], effect: 'write' },
        )
        .catch(() => null),
    );
    await Promise.all(writes);
    const shown = await server.engine('subprocess').run({ argv: ['show-options', '-gv', '@log'] });
    const executed = shown.stdout.trim().split(',').filter(Boolean).map(Number);
    expect(executed).toEqual(executed.toSorted((a, b) => a - b));
    expect(executed).toHaveLength(199);
  });

  test('does without a connection where attaching is refused', async () => {
    await using server = await startTestServer({ tmux });
    const processes = server.engine('subprocess');
    await processes.run({ argv: ['new-session', '-d', '-s', 'work'] });
    await processes.run({
      argv: ['set-option', '-s', 'command-alias[100]', 'attach-session=kill-pane -t %999'],
    });
    expect((await server.engine('control').run(say('still here'))).stdout).toBe('still here\n');
  });

  test('does without a connection where every client is thrown out', async () => {
    await using server = await started();
    await server.engine('subprocess').run({ argv: ['set-hook', '-g', 'client-attached', 'detach-client'] });
    const other = server.engine('control');
    for (let i = 0; i < 5; i++) {
      const written = await other
        .run({ argv: ['set-option', '-g', '@written', `${i}`], effect: 'write' })
        .catch((error: { code?: string }) => error.code);
      if (i > 3) expect(written).toMatchObject({ status: 'complete' });
    }
  });

  test('leaves nothing behind when it is closed while it connects', async () => {
    await using server = await started();
    for (let round = 0; round < 8; round++) {
      const engine = new ControlEngine(server.connection);
      const call = engine.run(say('x')).catch((error: unknown) => error);
      await new Promise((resolve) => setTimeout(resolve, round * 3));
      await engine.close();
      await call;
    }
    await server.control.close();
    const clients = { argv: ['list-clients', '-F', '#{client_name}'] };
    await expect.poll(async () => (await server.engine('subprocess').run(clients)).stdout).toBe('');
  });

  test('can be closed while the server does not answer', async () => {
    await using server = await started();
    await server.control.run(say('connected'));
    const pid = Number(await server.pid());
    process.kill(pid, 'SIGSTOP');
    try {
      await server.control.close();
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });

  test('goes on after a command that is never answered', async () => {
    await using server = await started();
    await server.control.run({ argv: ['set-hook', '-g', 'after-rename-window', 'wait-for never'] });
    const stuck = server.control.run({ argv: ['rename-window', '-t', '=work:', 'x'] }, { timeoutMs: 100 });
    const after = stuck.catch(() => server.control.run(say('going on')));
    expect(await after).toMatchObject({ stdout: expect.stringMatching(/^(going on\n)?$/) });
    expect((await server.control.run(say('and on'))).stdout).toBe('and on\n');
  });

  test('survives the end of the session it sits in without the caller noticing', async () => {
    await using server = await started();
    await server.control.run({ argv: ['new-session', '-d', '-s', 'second'] });
    await server.control.run({ argv: ['kill-session', '-t', '=work:'] });
    const renamed = await server.control.run({
      argv: ['rename-session', '-t', '=second:', 'third'],
      effect: 'write',
    });
    expect(renamed.status).toBe('complete');
    expect((await server.control.run({ argv: ['list-sessions', '-F', '#{session_name}'] })).stdout).toBe(
      'third\n',
    );
  });

  test('is of use again after its session ended while no process could be started', async () => {
    await using server = await started();
    const program = join(server.directory, 'program');
    await writeFile(program, `#!/bin/sh\nexec '${tmux}' "$@"\n`, { mode: 0o755 });
    const engine = new ControlEngine({ ...server.connection, tmux: program });
    try {
      await engine.run({ argv: ['new-session', '-d', '-s', 'second'] });
      await engine.run(say('connected'));
      const held = engine.run({ argv: ['wait-for', 'never'] });
      const lost = expect(held).rejects.toMatchObject({ code: 'connection_lost' });
      await rename(program, `${program}-away`);
      await server.engine('subprocess').run({ argv: ['kill-session', '-t', '=work:'] });
      await lost;
      await expect(engine.run(say('no way'))).rejects.toMatchObject({ code: 'missing_binary' });
      await rename(`${program}-away`, program);
      expect((await engine.run(say('again'))).stdout).toBe('again\n');
    } finally {
      await engine.close();
    }
  });

  test('answers the killing of the last pane of the session it sits in', async () => {
    await using server = await started();
    await server.control.run({ argv: ['new-session', '-d', '-s', 'second'] });
    await server.control.run(say('connected'));
    const killed = await server.control.run({
      argv: ['kill-pane', '-t', '=work:0.0'],
      effect: 'destructive',
    });
    expect(killed.status).toBe('complete');
    expect((await server.control.run({ argv: ['has-session', '-t', '=work:'] })).status).toBe('failed');
  });

  test('never keeps or destroys a session that is to go when unattached', async () => {
    await using server = await startTestServer({ tmux });
    const control = server.engine('control') as ControlEngine;
    await control.run({ argv: ['new-session', '-d', '-s', 'work'] });
    await using user = await attachUser(server, 'work');
    await server
      .engine('subprocess')
      .run({ argv: ['set-option', '-t', '=work:', 'destroy-unattached', 'on'] });
    expect((await control.run(say('hello'))).stdout).toBe('hello\n');
    expect(control.generation).toBe(0);
    await control.close();
    const listed = { argv: ['list-sessions', '-F', '#{session_name}'] };
    expect((await server.engine('subprocess').run(listed)).stdout).toBe('work\n');
    await user.leave();
    expect((await server.engine('subprocess').run(listed)).status).toBe('failed');
  });

  test('never changes the size of a window', async () => {
    await using server = await started();
    const size = say('#{window_width}x#{window_height}');
    expect((await server.control.run(size)).stdout).toBe('100x30\n');
    // Without a size of its own a control client resizes nothing: so it is given one, beside somebody who has none.
    await using _user = await attachUser(server, 'work');
    expect((await server.control.run({ argv: ['refresh-client', '-C', '20,10'] })).status).toBe('complete');
    expect((await server.control.run(size)).stdout).toBe('100x30\n');
  });

  test('is told nothing of what the panes print', async () => {
    await using server = await started();
    await server.control.run(say('connected'));
    const clients = await server
      .engine('subprocess')
      .run({ argv: ['list-clients', '-F', '#{client_flags}'] });
    expect(clients.stdout).toMatch(/^[^\n]*\bno-output\b[^\n]*\n$/);
  });

  test('starts one server when ten starts race', async () => {
    await using server = await startTestServer({ tmux });
    const engines = Array.from({ length: 10 }, () => server.engine('control'));
    await Promise.all(engines.map((engine, i) => engine.run({ argv: ['new-session', '-d', '-s', `s${i}`] })));
    const listed = await server.engine('control').run({ argv: ['list-sessions', '-F', '#{session_name}'] });
    expect(listed.stdout.trim().split('\n').sort()).toEqual(Array.from({ length: 10 }, (_, i) => `s${i}`));
  });

  test('runs calls made without waiting in their order, also while there is no server yet', async () => {
    await using server = await startTestServer({ tmux });
    const control = server.engine('control');
    const replies = await Promise.all([
      control.run({ argv: ['new-session', '-d', '-s', 'a'] }),
      control.run({ argv: ['rename-session', '-t', '=a:', 'b'] }),
      control.run({ argv: ['rename-session', '-t', '=b:', 'c'] }),
    ]);
    expect(replies.map((reply) => reply.status)).toEqual(['complete', 'complete', 'complete']);
  });

  test('leaves no server behind when it kills one, and none alive when this process dies', async () => {
    await using server = await started();
    const pid = await server.pid();
    await server.control.run({ argv: ['kill-server'] });
    await expect.poll(() => isAlive(Number(pid))).toBe(false);
    expect((await server.control.run(say('x'))).status).toBe('failed');
  });
});

describe.each(testBinaries())('a program that is killed on %s', (tmux) => {
  test('leaves no client behind, and no server that lives for it alone', async () => {
    await using server = await startTestServer({ tmux });
    const processes = server.engine('subprocess');
    await processes.run({ argv: ['new-session', '-d', '-s', 'work', 'exec yes'] });
    const pid = Number(await server.pid());
    const source = (file: string): string =>
      JSON.stringify(new URL(`../src/${file}`, import.meta.url).pathname);
    const connection = JSON.stringify({ ...server.connection, env: undefined });
    const script = `
      import { ControlEngine } from ${source('engines/control/engine.ts')};
      import { Events } from ${source('events/events.ts')};
      const engine = new ControlEngine(${connection});
      await engine.run({ argv: ['list-sessions'] });
      const events = await Events.open(${connection});
      let heard = 0;
      for await (const { type } of events.subscribe()) if (type === 'output' && ++heard === 100) console.log('flooded');`;
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    expect(await clientPids(server)).toHaveLength(2);
    child.kill('SIGKILL');
    await expect.poll(() => clientPids(server), { timeout: 10_000 }).toEqual([]);
    await processes.run({ argv: ['kill-session', '-t', '=work:'] });
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
  });
});

test('a program that used an engine and closed it ends by itself', async () => {
  await using server = await startTestServer();
  const script = `
    import { ControlEngine } from ${JSON.stringify(new URL('../src/engines/control/engine.ts', import.meta.url).pathname)};
    const engine = new ControlEngine(${JSON.stringify({ ...server.connection, env: undefined })});
    await engine.run({ argv: ['new-session', '-d'] });
    await engine.run({ argv: ['kill-pane', '-t', '%999'] });
    await engine.close();`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
    stdio: 'inherit',
  });
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
});

/** The processes of a server's control clients. */
async function clientPids(server: TestServer): Promise<readonly number[]> {
  const listed = await server.engine('subprocess').run({ argv: ['list-clients', '-F', '#{client_pid}'] });
  return listed.stdout.trim().split('\n').filter(Boolean).map(Number);
}
