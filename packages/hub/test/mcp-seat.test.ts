import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ForeignGround } from './foreign-ground.ts';
import { byHttp, byStdio, use } from './mcp-clients.ts';
import { invited } from './people-ground.ts';
import { TestHub, until } from './test-hub.ts';

let hub: TestHub;
let client: Client;
let session: string;
/** The pane of the session, another on the same server, and one beside the first in its window. */
let pane: string;
let other: string;
let beside: string;

const tmux = (...args: readonly string[]): string =>
  spawnSync('tmux', ['-L', hub.env.POLY_TMUX_SOCKET ?? '', ...args], { encoding: 'utf8' }).stdout.trim();

const tmuxPaneOf = async (id: string): Promise<string> => {
  const pid = (await hub.client.call('pane:list', {})).find((one) => one.id === id)?.pid;
  const rows = tmux('list-panes', '-a', '-F', '#{pane_pid} #{pane_id}').split('\n');
  return rows.find((row) => row.startsWith(`${pid} `))?.split(' ')[1] ?? '';
};

const reads = async (paneId: string): Promise<string> =>
  ((await hub.client.call('pane:read', { paneId })).lines ?? []).map(({ text }) => text).join('\n');

beforeAll(async () => {
  hub = await TestHub.start();
  await hub.client.call('session:start', {});
  for (const id of ['driven', 'free'])
    await hub.client.call('pane:new', { id, argv: ['cat'], backend: 'tmux' });
  [pane, other] = [await tmuxPaneOf('driven'), await tmuxPaneOf('free')];
  beside = tmux('split-window', '-d', '-t', pane, '-P', '-F', '#{pane_id}', 'exec cat');
  const joined = await hub.client.call('floor:join', { project: 'p', pane: 'driven' });
  session = joined.session.session_id;
  await invited(hub, 'ada');
  await hub.client.call('floor:handoff', { session, to: 'user:ada' });
  client = await byHttp(hub, { query: '?toolsets=tmux,plans&safety=destructive&operations=true' });
}, 60_000);
afterAll(async () => {
  await client.close();
  await hub[Symbol.asyncDispose]();
});

const taken =
  /forbidden: user:ada drives p\/s-\w+ since .*Ask for the seat: poly claim s-\w+ --takeover|may type into a pane of a session that another drives/;

describe('the tools of tmux, while another has the seat', () => {
  it('type nothing into the pane of a session, by any tool, plan or command', async () => {
    const word = 'NOT-THEIRS';
    writeFileSync(join(hub.home, 'file'), `send-keys -t ${pane} ${word}\n`);
    await use(client, 'set_buffer', { data: word, buffer_name: 'b' });
    const keys = { target: pane, keys: [word] };
    const plan = (...operations: readonly object[]) => ['execute_plan', { operations }] as const;
    const raw = (...args: readonly string[]) => ['run_tmux', { args }] as const;
    const tries: readonly (readonly [string, Record<string, unknown>])[] = [
      ['send_input', { target: pane, keys: word, enter: true }],
      ['send_input', { target: pane, enter: true }],
      ['paste_buffer', { target: pane, buffer_name: 'b' }],
      ['respawn_pane', { target: pane, kill: true, shell: `echo ${word}` }],
      ['op_send_keys', keys],
      ['op_send_prefix', { target: pane }],
      ['op_paste_buffer', { target: pane, bufferName: 'b' }],
      ['op_respawn_pane', { target: pane, kill: true, shell: `echo ${word}` }],
      ['op_respawn_window', { target: pane, kill: true, shell: `echo ${word}` }],
      plan({ kind: 'send_keys', params: keys }),
      plan(
        { kind: 'new_window', params: { target: 'poly' } },
        { kind: 'send_keys', params: { target: { slot: 0, part: 'pane' }, keys: ['true'] } },
        { kind: 'paste_buffer', params: { target: pane, bufferName: 'b' } },
      ),
      plan({ host: { type: 'script', command: `tmux -L x send-keys -t ${pane} ${word}` } }),
      raw('send-keys', '-t', pane, word),
      raw('send', '-t', pane, word),
      raw('send-k', `-t${pane}`, word),
      raw('send-keys', '-H', '-t', pane, '41'),
      raw('send-keys', '-t', tmux('display-message', '-p', '-t', pane, '#{session_name}:#{window_index}.#{pane_index}'), word),
      raw('send-keys', word),
      raw('send-keys', '-K', word),
      raw('pasteb', '-b', 'b', '-t', pane),
      raw('respawnw', '-k', '-t', pane, `echo ${word}`),
      raw('pipe-pane', '-I', '-t', pane, `echo ${word}`),
      raw('pipe-pane', '-t', other, `cat; tmux send-keys -t ${pane} ${word}`),
      raw('if-shell', '-F', '1', `send-keys -t ${pane} ${word}`),
      raw('if-shell', 'true', `send-keys -t ${pane} ${word}`),
      raw('run-shell', '-C', `send-keys -t ${pane} ${word}`),
      raw('run-shell', `tmux send -t ${pane} ${word}`),
      raw('run-shell', `t'm'ux se'n'd -t ${pane} ${word}`),
      raw('set-hook', '-g', 'after-select-window', `send -t ${pane} ${word}`),
      raw('bind-key', 'F12', `send-keys -t ${pane} ${word}`),
      raw('source-file', join(hub.home, 'file')),
      raw('set-option', '-s', 'command-alias[77]', `x=send-keys -t ${pane} ${word}`),
      raw('set-option', '-w', '-t', pane, 'synchronize-panes', 'on'),
      raw('display-message', '-p', `#(tmux send-keys -t ${pane} ${word})`),
    ]; // biome-ignore format: a table
    const answers: string[] = [];
    for (const [tool, given] of tries)
      answers.push(`${tool} ${JSON.stringify(given).slice(0, 150)} → ${await use(client, tool, given)}`);
    expect(answers.filter((answer) => !taken.test(answer))).toEqual([]);
    // A pane that shares what is typed with the one of the session is that one.
    tmux('set-option', '-w', '-t', pane, 'synchronize-panes', 'on');
    expect(await use(client, 'send_input', { target: beside, keys: word })).toMatch(taken);
    tmux('set-option', '-w', '-t', pane, 'synchronize-panes', 'off');

    // What came before would have been typed by now.
    tmux('send-keys', '-t', pane, 'by-hand', 'Enter');
    await until(async () => (await reads('driven')).includes('by-hand'));
    expect(await reads('driven')).not.toContain(word);
    expect(tmux('list-windows', '-a').split('\n').length).toBeGreaterThan(1);
  });

  it('look at it, and type wherever nobody else drives', async () => {
    expect(await use(client, 'capture_pane', { target: pane })).toContain('by-hand');
    expect(await use(client, 'list_panes', {})).toContain(pane);
    expect(await use(client, 'send_input', { target: other, keys: 'typed-1', enter: true })).toMatch(
      /^Typed/,
    );
    expect(
      await use(client, 'execute_plan', {
        operations: [{ kind: 'send_keys', params: { target: other, keys: ['typed-2', 'Enter'] } }],
      }),
    ).toMatch(/^All 1 steps are done/);
    await use(client, 'set_buffer', { data: 'send-keys is a word\n', buffer_name: 'c' });
    expect(await use(client, 'paste_buffer', { target: other, buffer_name: 'c' })).toMatch(/^Pasted/);
    expect(await use(client, 'run_tmux', { args: ['send-keys', '-t', other, 'typed-3', 'Enter'] })).toBe(
      'Done.',
    );
    expect(await use(client, 'run_tmux', { args: ['rename-window', '-t', other, 'send-keys'] })).toBe(
      'Done.',
    );
    await until(async () => /typed-1.*typed-2.*is a word.*typed-3/s.test(await reads('free')));
  });

  it('type as soon as the seat is the user’s, and no longer once it is given away', async () => {
    const ada = hub.as((await invited(hub, 'ada')).token);
    await ada.call('floor:handoff', { session, to: `@${(await hub.client.call('person:list', {})).user}` });
    expect(await use(client, 'send_input', { target: pane, keys: 'mine-now', enter: true })).toMatch(
      /^Typed/,
    );
    await until(async () => (await reads('driven')).includes('mine-now'));
    await hub.client.call('floor:handoff', { session, to: 'user:ada' });
    expect(await use(client, 'send_input', { target: pane, keys: 'x' })).toMatch(taken);
  });
});

it('lets a client that has registered as an agent read nothing of a tmux server', async () => {
  const socket = join('/tmp', `tmux-${process.getuid?.()}`, hub.env.POLY_TMUX_SOCKET ?? '');
  const own = await byStdio(hub, { args: ['--toolsets', 'tmux,mail', '--socket-path', socket] });
  try {
    const uri = `tmux://panes/${pane.slice(1)}/content`;
    const { contents } = await own.readResource({ uri });
    expect(contents).toMatchObject([{ text: expect.stringContaining('by-hand') }]);
    expect(await use(own, 'register_agent', { name: 'reader', project: 'p' })).not.toMatch(/^ERROR/);
    for (const read of [() => own.readResource({ uri }), () => own.listResources()])
      await expect(read()).rejects.toThrow(/agent:reader may not look at or use a tmux server/);
    expect(await use(own, 'capture_pane', { target: pane })).toMatch(/forbidden/);
  } finally {
    await own.close();
  }
});

it('guards an adopted agent in a tmux of the user’s own', async () => {
  await using ground = ForeignGround.beside(hub);
  const { pane: place, at } = ground.inTmux();
  const id = await ground.adoptOne(at);
  const { session: joined } = await hub.client.call('floor:join', { project: 'p', pane: id });
  await hub.client.call('floor:handoff', { session: joined.session_id, to: 'user:ada' });
  const there = await byHttp(hub, {
    query: `?toolsets=tmux&safety=destructive&socket-path=${encodeURIComponent(ground.socket)}`,
  });
  try {
    expect(await use(there, 'send_input', { target: place, keys: 'x' })).toMatch(taken);
  } finally {
    await there.close();
  }
});
