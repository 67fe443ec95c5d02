import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentExplanation, AgentStatus } from '@polyphony/protocol';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ForeignGround } from './foreign-ground.ts';
import { until } from './test-hub.ts';

const bash = { tool_name: 'Bash', tool_input: { command: 'rm -rf build' }, tool_use_id: 't1' };

/** Everything of the user's tmux that a guest might change. */
const tmuxAsItIs = (ground: ForeignGround): string =>
  [
    'list-clients',
    "list-sessions -F '#{session_id} #{session_attached} #{session_last_attached} #{session_activity} #{session_created}'",
    "list-panes -a -F '#{pane_id} #{pane_pid} #{pane_width}x#{pane_height} #{pane_pipe} #{pane_in_mode} #{window_id}'",
    'show-options -g',
    'show-options -s',
    'show-hooks -g',
    'list-buffers',
  ]
    .map((command) =>
      ground.tmux(...command.split(/ (?=(?:[^']*'[^']*')*[^']*$)/).map((word) => word.replaceAll("'", ''))),
    )
    .join('\n');

/** What has been told of an agent so far, in order, up to a state. */
async function told(ground: ForeignGround, id: string, last: AgentStatus): Promise<readonly AgentStatus[]> {
  const found: AgentStatus[] = [];
  for await (const { payload } of ground.hub.events('agent:state', { since: 0 })) {
    const { paneId, status } = payload as { readonly paneId: string; readonly status: AgentStatus };
    if (paneId !== id) continue;
    // Whether it has just been started, or nothing is known of it for longer, the machine decides.
    if (status !== 'starting' && status !== 'unknown') found.push(status);
    if (status === last) break;
  }
  return found;
}

describe('an agent that somebody has started by hand', () => {
  let ground: ForeignGround;

  beforeAll(async () => {
    ground = await ForeignGround.start();
    // A window that is nobody's agent.
    ground.inTmux();
    ground.tmux('respawn-pane', '-k', '-t', '%0', 'exec cat');
  });
  afterAll(() => ground[Symbol.asyncDispose]());

  it('in tmux is found, watched by its screen and its hooks, and left as it is', async () => {
    const { pane, as } = ground.inTmux();
    const before = tmuxAsItIs(ground);
    const seen = await ground.adopt('--dry-run');
    expect(seen.adopted).toMatchObject([
      { vendor: 'claude', cwd: ground.hub.home, tmux: { socket: ground.socket, pane }, typing: true },
    ]);
    expect(seen.adopted[0]?.id).toBeUndefined();
    expect(await ground.hub.client.call('agent:list', {})).toEqual([]);

    const [{ id = '' } = {}] = (await ground.adopt()).adopted;
    expect(await ground.adopt()).toMatchObject({ adopted: [], already: [{ id }] });
    await ground.hub.event('agent:adopted', ({ payload }) => payload.paneId === id);
    const agent = as(id);
    await agent.show('idle-80x24');
    await ground.becomes(id, 'idle');
    await agent.hook('UserPromptSubmit', { prompt: 'go' });
    await agent.work('working-80x24');
    expect(await ground.becomes(id, 'running')).toMatchObject({ authority: 'hooks' });
    await agent.hook('PermissionRequest', bash);
    await agent.show('permission-bash-80x24');
    expect(await ground.becomes(id, 'blocked')).toMatchObject({
      reason: { kind: 'permission', tool: 'Bash', input: '{"command":"rm -rf build"}' },
    });
    await agent.work('working-tool-80x24');
    expect(await ground.becomes(id, 'running')).toMatchObject({ authority: 'screen' });
    await agent.hook('Stop');
    await agent.show('finished-120x40');
    await ground.becomes(id, 'done');
    expect(await ground.info(id)).toMatchObject({
      adopted: { sources: ['process', 'hooks', 'screen'], resume: true, typing: true },
    });
    await ground.hub.client.call('agent:seen', { paneId: id });
    await ground.becomes(id, 'idle');
    expect(tmuxAsItIs(ground)).toBe(before);
    const explained = await ground.json<AgentExplanation>('agent', 'explain', id.slice(0, 9));
    expect(explained.signals.map(({ authority }) => authority)).toEqual(
      expect.arrayContaining(['hooks', 'screen']),
    );
    await agent.end();
    await ground.becomes(id, 'gone');
    expect(await told(ground, id, 'gone')).toEqual([
      ...['idle', 'running', 'blocked', 'running', 'done', 'idle', 'gone'],
    ]);
  });

  it('outside of tmux is known by its process, its session file and its hooks, and by nothing else', async () => {
    const { pid, as } = ground.outside();
    const id = await ground.adoptOne(String(pid));
    await until(async () => ['starting', 'unknown'].includes((await ground.info(id)).status));
    const info = await ground.info(id);
    expect(info.adopted).toMatchObject({ pid, sources: ['process'], typing: false, resume: false });
    expect(info.adopted?.tmux).toBeUndefined();
    expect(info.adopted?.notes.join()).toContain('only whether it runs is known');
    const agent = as(id);
    await agent.hook('PermissionRequest', { ...bash, session_id: 's-outside' });
    expect(await ground.becomes(id, 'blocked')).toMatchObject({ authority: 'hooks' });
    await until(async () => (await ground.info(id)).adopted?.resume);
    expect((await ground.info(id)).adopted).toMatchObject({ sources: ['process', 'hooks'] });
    await agent.hook('Stop', { session_id: 's-outside' });
    await ground.becomes(id, 'idle');
    const refused = await ground.poly('agent', 'message', id, 'hello');
    expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining('nothing can be seen of it') });
    await agent.end();
    await ground.becomes(id, 'gone');
  });

  it('is known to begin another conversation, also when the shell of that hook has ended', async () => {
    const { at, as } = ground.inTmux();
    const id = await ground.adoptOne(at);
    const agent = as(id);
    await agent.hook('StopFailure', { error: 'refused', session_id: 's-before' });
    await ground.becomes(id, 'error');
    await agent.show('idle-120x40');
    await agent.hookOfEndedShell('SessionStart', { source: 'clear', session_id: 's-after' });
    expect(await ground.becomes(id, 'idle')).toMatchObject({ sessionId: 's-after' });
    await agent.end();
    await ground.becomes(id, 'gone');
  });

  it('hears of its own hooks only, also beside another in the same folder', async () => {
    const [one, two] = [ground.inTmux(), ground.inTmux()];
    const first = await ground.adoptOne(one.at);
    const second = await ground.adoptOne(two.at);
    await one.as(first).hook('PermissionRequest', { ...bash, session_id: 's-first' });
    await two.as(second).hook('UserPromptSubmit', { session_id: 's-second' });
    await ground.becomes(first, 'blocked');
    await ground.becomes(second, 'running');
    await one.as(first).hook('Stop', { session_id: 's-first' });
    await one.as(first).show('finished-120x40');
    await ground.becomes(first, 'idle');
    expect(await ground.info(second)).toMatchObject({ status: 'running' });
    await one.as(first).end();
    await two.as(second).end();
    await ground.becomes(second, 'gone');
    expect(await told(ground, first, 'gone')).toEqual(['blocked', 'idle', 'gone']);
  });

  it('is not typed to while it asks, nor once a shell has its terminal', async () => {
    const { at, pane, as } = ground.inTmux();
    const id = await ground.adoptOne(at);
    await as(id).show('permission-bash-80x24');
    await ground.becomes(id, 'blocked');
    const message = { paneId: id, text: 'rm -rf /', timeoutMs: 1_000 };
    await expect(ground.hub.client.call('agent:message', message)).resolves.toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('it waits for an answer'),
    });
    ground.tmux('respawn-pane', '-k', '-t', pane, 'exec sh');
    await ground.becomes(id, 'gone');
    await expect(ground.hub.client.call('agent:message', message)).resolves.toMatchObject({
      state: 'failed',
    });
    expect(ground.tmux('capture-pane', '-p', '-t', pane)).not.toContain('rm -rf');
  });

  it('is gone with its tmux pane, also where its process does not end with that', async () => {
    const { at, pane, as } = ground.inTmux();
    const id = await ground.adoptOne(at);
    await as(id).show('idle-80x24');
    const { adopted } = await ground.becomes(id, 'idle');
    const pid = adopted?.pid ?? 0;
    await as(id).outlive();
    await until(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('sleep'));
    ground.tmux('kill-pane', '-t', pane);
    try {
      expect(await ground.becomes(id, 'gone')).toMatchObject({
        adopted: {
          typing: false,
          notes: [expect.stringContaining('its process runs on without a terminal')],
        },
      });
    } finally {
      process.kill(pid, 'SIGKILL');
    }
  });

  it('is let go again without being touched', async () => {
    const { at, pane, as } = ground.inTmux();
    const id = 'guest';
    expect((await ground.adopt(at, '--name', id)).adopted).toMatchObject([{ id }]);
    await as(id).show('idle-80x24');
    await ground.becomes(id, 'idle');
    await expect(ground.hub.client.call('pane:new', { id: 'guest', argv: ['cat'] })).rejects.toMatchObject({
      code: 'conflict',
      message: '"guest" is the id of an agent that runs in no pane of ours.',
    });
    expect(await ground.poly('agent', 'release', 'guest')).toMatchObject({ code: 0 });
    await ground.hub.event('agent:released', ({ payload }) => payload.paneId === id);
    expect((await ground.hub.client.call('agent:list', {})).map((agent) => agent.id)).not.toContain('guest');
    expect(ground.tmux('display-message', '-p', '-t', pane, '#{pane_dead}')).toBe('0');
    expect(await ground.poly('agent', 'release', 'guest')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('there is no adopted agent "guest"'),
    });
    await as(id).end();
  });

  it('is taken up again in a pane of ours, with its conversation and its id', async () => {
    const { at, pane, as } = ground.inTmux();
    const id = await ground.adoptOne(at);
    await as(id).hook('SessionStart', { source: 'startup', session_id: 'conversation-7' });
    await until(async () => (await ground.info(id)).adopted?.resume);
    expect(await ground.poly('agent', 'resume', id)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('still runs'),
    });
    ground.tmux('kill-pane', '-t', pane);
    await ground.becomes(id, 'gone');
    expect(await ground.poly('agent', 'resume', id)).toMatchObject({ code: 0, stdout: `${id}\n` });
    const resumed = (await ground.hub.client.call('pane:list', {})).find((each) => each.id === id);
    expect(resumed).toMatchObject({ status: 'running', cwd: ground.hub.home });
    expect(resumed?.argv.slice(-2)).toEqual(['--resume', 'conversation-7']);
    expect((await ground.info(id)).adopted).toBeUndefined();
    await ground.hub.client.call('pane:close', { paneId: id });
  });

  it('has no way to write on a screen or into a list by its folder or its title', async () => {
    const evil = join(ground.hub.home, 'a #{pane_id} $(touch made) \u001b]0;x\u0007 \'"\n[31mred‮');
    const { at, pane } = ground.inTmux(evil);
    ground.tmux('select-pane', '-t', pane, '-T', 'title %99 1 1 1 1 1 00 0 #{pid}');
    const { stdout, stderr, code } = await ground.poly('agent', 'adopt', at);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u202e]/);
    const [found] = (await ground.hub.client.call('agent:list', {})).filter(
      ({ adopted }) => adopted?.tmux?.pane === pane,
    );
    expect(found?.adopted?.cwd).toBe(evil);
    expect(existsSync(join(ground.hub.home, 'made'))).toBe(false);
    await ground.poly('agent', 'release', found?.id ?? '');
    ground.tmux('kill-pane', '-t', pane);
  });

  it.each([
    [['nonsense'], 2, '"nonsense" is neither a pid nor a tmux pane.'],
    [['%4711'], 3, 'no tmux server that answers has a pane %4711.'],
    [['nowhere:%0'], 3, 'no tmux server that answers has a pane nowhere:%0.'],
    [['999999999'], 3, 'no process 999999999 runs.'],
    [['OURS:%0'], 4, ':%0 runs cat, and no coding agent that is known here.'],
    [[String(process.pid)], 4, 'and no coding agent that is known here.'],
    [['--name', 'x'], 2, 'an id of your own is for one agent: name which.'],
    [['%0', '--name', 'a b'], 2, 'id must be 1-64 letters'],
  ])('is not guessed from %j', async (args, code, message) => {
    const refused = await ground.poly(
      ...['agent', 'adopt', ...args.map((arg) => arg.replace('OURS', ground.socket))],
    );
    expect(refused).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) });
  });

  it('that is a pane of ours is no stranger', async () => {
    const { id, pid } = await ground.hub.client.call('agent:create', {
      argv: [join(ground.hub.home, 'claude')],
    });
    expect(await ground.poly('agent', 'adopt', String(pid))).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(`It is watched as ${id}`),
    });
    expect((await ground.adopt('--dry-run')).adopted).toEqual([]);
    await ground.hub.client.call('pane:close', { paneId: id });
  });

  it('needs somebody when it asks and nobody has it before them', async () => {
    const { at, as } = ground.inTmux();
    const id = await ground.adoptOne(at);
    await as(id).hook('PermissionRequest', { ...bash, session_id: 's-needs' });
    const event = await ground.hub.event(
      'agent:state',
      ({ payload }) => payload.paneId === id && payload.status === 'blocked',
    );
    expect(event.payload).toMatchObject({ attention: true });
    await as(id).end();
  });

  it('is nothing that a program in a pane may find or let go', async () => {
    const { at, as } = ground.inTmux();
    const id = await ground.adoptOne(at);
    const inside = ground.hub.as(await ground.hub.paneToken('inside'));
    await expect(inside.call('agent:adopt', {})).rejects.toMatchObject({ code: 'forbidden' });
    await expect(inside.call('agent:release', { paneId: id })).rejects.toMatchObject({ code: 'forbidden' });
    expect(await inside.call('agent:list', {})).toEqual([]);
    await as(id).end();
  });
});

describe('adopted agents', () => {
  it('are known again after the hub was killed, with what happened meanwhile', async () => {
    await using ground = await ForeignGround.start();
    const [asks, ends, other] = [ground.inTmux(), ground.inTmux(), ground.outside()];
    const [asking, ending] = [await ground.adoptOne(asks.at), await ground.adoptOne(ends.at)];
    const beside = await ground.adoptOne(String(other.pid));
    await asks.as(asking).hook('UserPromptSubmit', { session_id: 's-asks' });
    await asks.as(asking).work('working-80x24');
    await ground.becomes(asking, 'running');
    await ground.hub.kill('SIGKILL');
    await asks.as(asking).hook('PermissionRequest', { ...bash, session_id: 's-asks' });
    await asks.as(asking).show('permission-bash-80x24');
    await other.as(beside).hook('UserPromptSubmit', { session_id: 's-beside' });
    await ends.as(ending).end();
    await ground.hub.start();
    await ground.becomes(ending, 'gone');
    expect(await ground.becomes(asking, 'blocked')).toMatchObject({ reason: { tool: 'Bash' } });
    await ground.becomes(beside, 'running');
    expect((await ground.adopt()).adopted).toEqual([]);
    await asks.as(asking).work('working-tool-80x24');
    await ground.becomes(asking, 'running');
  });

  it('are not taken for whatever has the number of their process later', async () => {
    await using ground = await ForeignGround.start();
    const { at, pane } = ground.inTmux();
    const id = await ground.adoptOne(at);
    await ground.hub.kill('SIGKILL');
    const record = new Database(join(ground.hub.dir, 'hub.db'));
    const change =
      "UPDATE adopted_agents SET record = json_set(record, '$.startTime', 'another') WHERE id = ?";
    expect(record.prepare(change).run(id).changes).toBe(1);
    record.close();
    await ground.hub.start();
    await ground.becomes(id, 'gone');
    expect((await ground.adopt()).adopted).toMatchObject([{ tmux: { pane } }]);
  });

  it('hold up nobody when their tmux is stopped, and are followed again when it goes on', async () => {
    await using ground = await ForeignGround.start();
    const { at, as } = ground.inTmux();
    const id = await ground.adoptOne(at);
    await as(id).show('idle-80x24');
    await ground.becomes(id, 'idle');
    const { serverPid } = ground;
    process.kill(serverPid, 'SIGSTOP');
    try {
      const found = await ground.adopt();
      expect(found.silent).toContainEqual({
        socket: ground.socket,
        why: 'it does not answer: it may be stopped',
      });
      const { id: paneId } = await ground.hub.client.call('pane:new', { argv: ['cat'] });
      await ground.hub.client.call('pane:close', { paneId });
      // What was known last is neither forgotten nor made up.
      expect(await ground.info(id)).toMatchObject({ status: 'idle' });
    } finally {
      process.kill(serverPid, 'SIGCONT');
    }
    await as(id).work('working-80x24');
    await ground.becomes(id, 'running');
  });
});
