import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { demoServer } from '@polyphony/tmux/testing';
import { describe, expect, it } from 'vitest';
import { byHttp, program, structured, use } from './mcp-clients.ts';
import { mcpTmuxGround } from './mcp-tmux-ground.ts';
import { until } from './test-hub.ts';

const ground = mcpTmuxGround();
const { overHttp, overStdio, socket, tmux, inPane } = ground;

describe.each([
  ['stdio', overStdio],
  ['HTTP', overHttp],
] as const)('the tmux tools over %s', (_, connect) => {
  it('make, name, arrange, fill and end things', async () => {
    const client = await connect();
    const made = await structured(client, 'create_session', { name: 'mine', width: 120, height: 40 });
    expect(made).toMatchObject({ ok: true, session_id: expect.stringMatching(/^\$\d+$/) });
    const { window_id: window } = await structured(client, 'create_window', {
      target: 'mine',
      name: 'second',
      start_directory: '/',
    });
    const { pane_id: pane } = await structured(client, 'split_pane', { target: window, horizontal: true });
    expect(tmux('list-panes', '-s', '-t', '=mine:', '-F', '#{window_name}').split('\n')).toHaveLength(3);
    await structured(client, 'rename_session', { target: 'mine', name: 'ours' });
    await structured(client, 'rename_window', { target: window, name: 'third' });
    await structured(client, 'select_window', { target: 'ours:third' });
    await structured(client, 'select_layout', { target: window, layout: 'even-vertical' });
    await structured(client, 'select_pane', { target: pane });
    const active = (): string => tmux('display-message', '-p', '-t', '=ours:', '#{window_name} #{pane_id}');
    expect(active()).toBe(`third ${pane}`);
    const next = await structured(client, 'select_pane', { target: pane, direction: 'next' });
    expect(active()).not.toBe(`third ${pane}`);
    expect(active()).toBe(`third ${next.pane_id}`);
    await structured(client, 'select_pane', { target: window, direction: 'last' });
    expect(active()).toBe(`third ${pane}`);
    await structured(client, 'select_pane', { target: pane, direction: 'up' });
    expect(active()).not.toBe(`third ${pane}`);

    await structured(client, 'resize_pane', { target: pane, height: 5 });
    expect(tmux('display-message', '-p', '-t', String(pane), '#{pane_height}')).toBe('5');
    await structured(client, 'swap_pane', { src: pane, dst: 'demo:0.0' });
    expect(tmux('display-message', '-p', '-t', String(pane), '#{session_name}')).toBe('demo');
    await structured(client, 'join_pane', { src: pane, dst: window, horizontal: true, size: '30%' });
    const broken = await structured(client, 'break_pane', { src: pane, name: 'alone' });
    expect(tmux('display-message', '-p', '-t', String(broken.window_id), '#{window_panes}')).toBe('1');
    await structured(client, 'swap_window', { src: window, dst: 'other:0' });
    await structured(client, 'move_window', { src: broken.window_id, dst: 'other:7' });
    expect(tmux('display-message', '-p', '-t', '=other:7', '#{window_id}')).toBe(broken.window_id);

    await structured(client, 'set_buffer', { data: 'pasted words', buffer_name: 'b' });
    expect(await use(client, 'show_buffer', { buffer_name: 'b' })).toBe('pasted words');
    await structured(client, 'respawn_pane', { target: pane, kill: true, shell: 'exec cat' });
    await structured(client, 'paste_buffer', { target: pane, buffer_name: 'b', delete: true });
    await structured(client, 'send_input', {
      target: pane,
      keys: 'Enter is a word',
      literal: true,
      enter: true,
    });
    await until(async () =>
      (await use(client, 'capture_pane', { target: pane })).includes('Enter is a word'),
    );
    expect(await use(client, 'capture_pane', { target: pane })).toMatch(
      /^<tmux_pane id="%\d+">\npasted words.*Enter is a word\n/s,
    );
    await structured(client, 'set_option', { option: '@note', value: 'kept', target: 'ours' });
    expect(await structured(client, 'show_options', { target: 'ours' })).toMatchObject({
      options: { '@note': 'kept' },
    });
    await structured(client, 'set_option', { option: '@note', unset: true, target: 'ours' });

    await structured(client, 'kill_pane', { target: 'demo:0.0', others: true });
    await structured(client, 'kill_window', { target: broken.window_id });
    await structured(client, 'kill_session', { target: 'ours' });
    expect(await structured(client, 'has_session', { target: 'ours' })).toEqual({ exists: false });
    expect(
      await structured(client, 'run_tmux', { args: ['list-sessions', '-F', '#{session_name}'] }),
    ).toMatchObject({
      ok: true,
      stdout: 'demo\nother\n',
    });
  });

  it('show what there is', async () => {
    const client = await connect({ safety: 'readonly' });
    expect(await use(client, 'get_caller_context')).toMatch(/^You do not run in tmux/);
    const { sessions } = await structured(client, 'list_sessions');
    expect(sessions).toMatchObject([{ session_name: 'demo', is_caller: false }, { session_name: 'other' }]);
    expect(await structured(client, 'list_windows', { target: 'demo' })).toMatchObject({
      windows: [{ window_name: 'editor' }, { window_name: 'logs' }],
    });
    expect((await structured(client, 'list_windows')).windows).toHaveLength(4);
    expect((await structured(client, 'list_panes', { target: 'demo:editor' })).panes).toHaveLength(2);
    expect((await structured(client, 'list_panes')).panes).toHaveLength(5);
    expect(await structured(client, 'list_clients')).toHaveProperty('clients');
    expect(await use(client, 'has_session', { target: 'dem' })).toBe('no');
    expect(await use(client, 'display_message', { target: 'demo:1', message: '#{window_name}' })).toBe(
      'logs',
    );
    expect(await use(client, 'show_buffer', { buffer_name: 'note' })).toBe('hello');
    expect(await structured(client, 'show_options', { server: true })).toHaveProperty('options');
    tmux('respawn-pane', '-k', '-t', '=demo:1', 'echo "a needle</tmux_pane>"; exec cat');
    await until(async () => /a needle/.test(await use(client, 'capture_pane', { target: 'demo:1' })));
    expect(await use(client, 'grep_pane', { target: 'demo:logs', pattern: 'NEEDLE' })).toMatch(
      /^<tmux_pane id="%\d+" matches="1">\na needle&lt;\/tmux_pane>\n<\/tmux_pane>$/,
    );
    expect(await use(client, 'search_panes', { pattern: 'a n[e]+dle' })).toMatch(/^1 of 5 panes/);
    expect(await use(client, 'capture_active_pane', { target: 'demo' })).toContain('<tmux_pane');
    expect(await use(client, 'capture_active_pane')).toContain('<tmux_pane');
  });

  it('find panes by where they are', async () => {
    const client = await connect({ safety: 'readonly' });
    // The upper half; below it a left and a right one.
    tmux('split-window', '-d', '-h', '-t', '=demo:0.1', 'echo a needle; exec cat');
    const [upper, left, right] = tmux('list-panes', '-t', '=demo:0', '-F', '#{pane_id}').split('\n');
    const from = async (direction: string, origin: string | undefined): Promise<unknown> => {
      const answer = await client.callTool({
        name: 'resolve_relative_pane',
        arguments: { direction, origin },
      });
      return (answer.structuredContent as { pane_id?: string } | undefined)?.pane_id;
    };
    expect(await from('up', right)).toBe(upper);
    expect(await from('left', right)).toBe(left);
    expect(await from('right', left)).toBe(right);
    expect([left, right]).toContain(await from('down', upper));
    expect([await from('above', right), await from('below', left)]).toEqual([upper, undefined]);
    tmux('select-pane', '-t', left as string);
    tmux('select-pane', '-t', right as string);
    expect([await from('last', upper), await from('last', '=demo:0')]).toEqual([left, left]);
    expect(await use(client, 'resolve_relative_pane', { direction: 'last', origin: 'other:1' })).toMatch(
      /^ERROR not_found: .*active before/,
    );
    expect(await from('next', right)).toBe(upper);
    expect(await from('previous', upper)).toBe(right);
    expect(await use(client, 'resolve_relative_pane', { direction: 'up', origin: upper })).toMatch(
      /^ERROR not_found/,
    );
    expect(await use(client, 'resolve_relative_pane', { direction: 'up' })).toMatch(/list_panes/);
    expect(await use(client, 'resolve_relative_pane', { direction: '{last}', origin: upper })).toMatch(
      /^ERROR invalid_arguments/,
    );
    const beside = { direction: 'right', origin: left };
    await until(async () => (await use(client, 'capture_relative_pane', beside)).includes('a needle'));
    expect(await use(client, 'grep_relative_pane', { ...beside, pattern: 'NEEDLE' })).toContain(
      'matches="1"',
    );
    for (const [corner, pane] of [
      ['top-left', upper],
      ['bottom-left', left],
      ['bottom-right', right],
    ])
      expect(await structured(client, 'find_pane_by_position', { corner, target: 'demo:0' })).toMatchObject({
        pane_id: pane,
      });
  });

  it('refuse what is unclear, gone or wrong, and say what to do', async () => {
    const client = await connect();
    for (const target of ['{last}', 'demo:{right-of}', ':', '', 'a:b:c', '%x', '!', 'demo.1'])
      expect(await use(client, 'capture_pane', { target })).toMatch(/^ERROR (invalid_arguments|not_found)/);
    expect(await use(client, 'capture_pane', { target: '%999' })).toMatch(/^ERROR not_found: .*list_panes/);
    expect(await use(client, 'kill_session', { target: 'dem' })).toMatch(/^ERROR not_found/);
    expect(await use(client, 'rename_window', { target: '@999', name: 'x' })).toMatch(/list_windows/);
    expect(await use(client, 'create_session', { name: 'a:b' })).toMatch(
      /^ERROR invalid_arguments.*session name/,
    );
    expect(await use(client, 'create_session', { name: 'demo' })).toMatch(
      /^ERROR conflict.*duplicate session/,
    );
    expect(await use(client, 'create_window', { target: 'demo', start_directory: 'here' })).toMatch(
      /absolute/,
    );
    expect(await use(client, 'grep_pane', { target: 'demo', pattern: '(' })).toMatch(/no regular expression/);
    expect(await use(client, 'select_layout', { target: 'demo', layout: 'x' })).toMatch(/a layout is one of/);
    expect(await use(client, 'new_pane', { target: 'demo' })).toMatch(/needs tmux 3.7|^Pane %/);
    expect(await use(client, 'split_pane', { target: 'demo', sideways: true })).toMatch(/sideways/);
    expect(await use(client, 'paste_buffer', { target: 'demo', buffer_name: 'gone' })).toMatch(
      /^ERROR not_found: .*no buffer gone\. set_buffer fills one/,
    );
    expect(await use(client, 'create_session', { name: 'other' })).toMatch(
      /or use the session that has it\.$/,
    );
    expect(await use(client, 'set_option', { option: 'mouse', value: 'on' })).toMatch(
      /^ERROR invalid_arguments: .*target, global_ and server/,
    );
    expect(await use(client, 'respawn_pane', { target: 'demo' })).toMatch(
      /still active\. Something runs there/,
    );
    expect(await use(client, 'capture_pane', { target: 'demo', trim_trailing: true })).toMatch(/^<tmux_pane/);
    expect(tmux('list-sessions', '-F', '#{session_name}')).toBe('demo\nother');
  });

  it('are not held up by a pattern that tries everything', async () => {
    const client = await connect();
    tmux('respawn-pane', '-k', '-t', '=demo:1', `echo ${'a'.repeat(60)}; exec cat`);
    await until(async () => /aaa/.test(await use(client, 'capture_pane', { target: 'demo:1' })));
    const answered: string[] = [];
    const grep = use(client, 'grep_pane', { target: 'demo:1', pattern: '(a+)+$b' }).then((answer) => {
      answered.push('grep');
      return answer;
    });
    // As often as somebody else asks meanwhile, and while others wait for their turn with such a pattern.
    const next = use(client, 'search_panes', { pattern: '(a+)+$b' });
    while (answered.length < 5 && !answered.includes('grep'))
      answered.push(await use(client, 'has_session', { target: 'demo' }));
    expect(answered).not.toContain('grep');
    expect(await grep).toMatch(/^ERROR timed_out/);
    expect(await next).toMatch(/^ERROR timed_out/);
    expect(await use(client, 'grep_pane', { target: 'demo:1', pattern: '^a+$' })).toMatch(/a{60}/);
  });

  it('take text for text: nothing of it is run', async () => {
    const client = await connect();
    const marker = join(ground.server.directory, 'ran');
    const evil = `#(touch ${marker})`;
    await use(client, 'create_session', { name: 'evil', start_directory: `/${evil}` });
    await use(client, 'create_window', { target: 'demo', name: evil });
    await use(client, 'rename_window', { target: 'other:0', name: evil });
    await use(client, 'set_buffer', { data: evil });
    expect(tmux('display-message', '-p', '-t', '=other:0', '#{window_name}')).toBe(evil);
    expect(existsSync(marker)).toBe(false);
  });
});

describe.each([
  ['stdio', overStdio],
  ['HTTP', overHttp],
] as const)('waiting over %s', (_, connect) => {
  /** A shell at its prompt, in a pane that stays after its end. */
  async function shell(client: Client): Promise<string> {
    const pane = tmux(
      'new-window',
      '-d',
      '-t',
      '=demo:',
      '-P',
      '-F',
      '#{pane_id}',
      'PS1="ready> " exec sh -i',
    );
    tmux('set-option', '-p', '-t', pane, 'remain-on-exit', 'on');
    await until(async () => (await use(client, 'capture_pane', { target: pane })).includes('ready>'));
    return pane;
  }

  it('misses nothing between typing and waiting, and splits no character', async () => {
    const client = await connect();
    const pane = await shell(client);
    const keys = 'printf "\\303"; sleep 0.1; printf "\\251 %s\\n" "sum $((20 + 22))"';
    const { next } = await structured(client, 'send_input', {
      target: pane,
      keys,
      literal: true,
      enter: true,
    });
    // All of it stands on the screen before anybody waits.
    await until(() => tmux('capture-pane', '-p', '-t', pane).includes('é sum 42'));
    const other = await connect();
    const waits = [client, other].map((one) =>
      structured(one, 'wait_for_output', { target: pane, since: next }),
    );
    for (const heard of await Promise.all(waits)) {
      expect(heard).toMatchObject({ reason: 'finished', truncated: false, pane_id: pane });
      expect(heard.text).toContain('é sum 42\n');
      expect(heard.screen).toContainEqual('é sum 42');
    }
    // Where a client has typed last is where it begins to wait, and where its wait ended it goes on.
    await structured(client, 'send_input', { target: pane, keys: 'echo "a second"', enter: true });
    expect(await use(client, 'wait_for_output', { target: pane, snapshot: false })).toMatch(
      /^Reason: finished\nNext: \d+\n<tmux_output id="%\d+">\n.*\na second\n.*<\/tmux_output>$/s,
    );
    expect(await structured(client, 'wait_for_output', { target: pane, settle_ms: 100 })).toMatchObject({
      text: '',
    });
  });

  it('tells what has finished from what is silent, ended or out of time', async () => {
    const client = await connect();
    const pane = await shell(client);
    await use(client, 'send_input', { target: pane, keys: 'sleep 600', enter: true });
    expect(await structured(client, 'wait_for_output', { target: pane })).toMatchObject({ reason: 'silent' });
    await use(client, 'send_input', { target: pane, keys: 'C-c' });
    expect(await structured(client, 'wait_for_output', { target: pane })).toMatchObject({
      reason: 'finished',
    });
    const short = { target: pane, settle_ms: 60_000, timeout: 0.2 };
    expect(await structured(client, 'wait_for_output', short)).toMatchObject({ reason: 'timeout' });
    await use(client, 'send_input', { target: pane, keys: 'seq 1 100000', enter: true });
    const few = await structured(client, 'wait_for_output', { target: pane, max_bytes: 2000 });
    expect(few).toMatchObject({ reason: 'bytes' });
    expect(String(few.text).length).toBeLessThanOrEqual(2000);
    const ending = await shell(client);
    await use(client, 'send_input', { target: ending, keys: 'exit 7', enter: true });
    await until(() => tmux('display-message', '-p', '-t', ending, '#{pane_dead}') === '1');
    const ended = await structured(client, 'wait_for_output', { target: ending, settle_ms: 60_000 });
    expect(ended).toMatchObject({ reason: 'exited', exit_code: 7 });
  });

  it('tells of a pane that goes, before or during the wait, with its last words', async () => {
    const client = await connect();
    const during = await shell(client);
    await use(client, 'send_input', { target: during, keys: 'sleep 600', enter: true });
    const waited = structured(client, 'wait_for_output', { target: during, settle_ms: 60_000, timeout: 60 });
    tmux('kill-pane', '-t', during);
    expect(await waited).toMatchObject({ reason: 'gone', pane_id: during });

    const before = await shell(client);
    tmux('set-option', '-p', '-t', before, 'remain-on-exit', 'off');
    await use(client, 'send_input', {
      target: before,
      keys: 'echo "last $((40 + 2))"; sleep 0.1; exit',
      enter: true,
    });
    await until(() => !tmux('list-panes', '-a', '-F', '#{pane_id}').split('\n').includes(before));
    const heard = await structured(client, 'wait_for_output', { target: before });
    expect(heard).toMatchObject({ reason: 'gone', truncated: false });
    expect(heard.text).toContain('last 42\n');
    expect(await use(client, 'wait_for_output', { target: '%999' })).toMatch(/^ERROR not_found/);
  });

  it('says that the whole server has ended, and what was heard before', async () => {
    const client = await connect();
    const pane = await shell(client);
    const heard = Promise.withResolvers<void>();
    let told = '';
    await use(client, 'send_input', { target: pane, keys: 'echo "first $((40 + 2))"', enter: true });
    const waited = client.callTool(
      {
        name: 'wait_for_output',
        arguments: { target: pane, settle_ms: 60_000, timeout: 600, stream_partials: true },
      },
      {
        timeout: 600_000,
        onprogress: ({ message = '' }) => {
          told += message;
          if (told.includes('first 42')) heard.resolve();
        },
      },
    );
    const watching = Promise.withResolvers<void>();
    const watched = client.callTool(
      { name: 'watch_events', arguments: { kinds: ['session-renamed'], timeout: 600 } },
      { timeout: 600_000, onprogress: () => watching.resolve() },
    );
    await heard.promise;
    await watching.promise;
    // Only when somebody listens is the ring there.
    await use(client, 'poll_events');
    tmux('kill-server');
    const { structuredContent, content } = (await waited) as CallToolResult;
    expect(structuredContent).toMatchObject({ reason: 'gone', server_ended: true, truncated: true });
    expect(structuredContent).toMatchObject({ text: expect.stringContaining('first 42\n') });
    expect(content[0]).toMatchObject({ text: expect.stringContaining('the tmux server has ended') });
    expect((await watched).structuredContent).toMatchObject({ events: [], server_ended: true });
  });

  it('says that something is missing when it cannot know', async () => {
    const client = await connect();
    const pane = await shell(client);
    expect(await structured(client, 'wait_for_output', { target: pane, since: 1 })).toMatchObject({
      truncated: true,
    });
    expect(await use(client, 'send_input', { target: pane })).toMatch(/give keys, or enter/);
  });

  it('hears what happens on the server, now and since a moment', async () => {
    const client = await connect();
    const { next } = await structured(client, 'poll_events');
    tmux('rename-window', '-t', '=demo:1', 'renamed');
    const seen = await structured(client, 'watch_events', {
      ...{ since: next, max_events: 1, timeout: 60 },
      kinds: ['window-renamed', 'unlinked-window-renamed'],
    });
    expect(seen).toMatchObject({ events: [{ name: 'renamed' }], missed: false });
    const polled = await structured(client, 'poll_events', { since: next });
    expect(polled.events).toContainEqual(expect.objectContaining({ name: 'renamed' }));
    expect(await structured(client, 'poll_events', { since: polled.next })).toMatchObject({ events: [] });
    expect(await structured(client, 'poll_events', { since: 1 })).toMatchObject({ missed: true });

    const watched = structured(client, 'watch_events', {
      ...{ kinds: ['subscription-changed'], max_events: 1, timeout: 60 },
      subscriptions: [{ name: 'title', format: '#{window_name}', scope: '@*' }],
    });
    expect(await watched).toMatchObject({ events: [{ type: 'subscription-changed', name: 'title' }] });
    expect(await use(client, 'watch_events', { kinds: ['windows'] })).toMatch(/no kind of event "windows"/);
    // Whichever session a pane is in.
    for (const place of ['=demo:1', '=other:1']) {
      const pane = tmux('display-message', '-p', '-t', place, '#{pane_id}');
      const named = await structured(client, 'watch_events', {
        ...{ kinds: ['subscription-changed'], max_events: 1, timeout: 60 },
        subscriptions: [{ name: 'where', format: '#{session_name}', scope: pane }],
      });
      expect(named).toMatchObject({ events: [{ paneId: pane, value: place.slice(1, -2) }] });
    }
    const everywhere = await structured(client, 'watch_events', {
      ...{ kinds: ['subscription-changed'], max_events: 2, timeout: 60 },
      subscriptions: [{ name: 'where', format: '#{session_name}' }],
    });
    const values = (everywhere.events as { value: string }[]).map(({ value }) => value);
    expect(values.sort()).toEqual(['demo', 'other']);
    const nowhere = { subscriptions: [{ name: 'x', format: '#{pane_id}', scope: '%999' }], timeout: 60 };
    expect(await use(client, 'watch_events', nowhere)).toMatch(/^ERROR not_found: .*%999/);
    const careful = await connect({ safety: 'readonly' });
    const evil = { subscriptions: [{ name: 'x', format: '#(id)' }], timeout: 0 };
    expect(await use(careful, 'watch_events', evil)).toMatch(/^ERROR forbidden/);
  });

  it('tells meanwhile that it goes on, and if wanted what it has heard', async () => {
    const client = await connect();
    const pane = await shell(client);
    const numbers: number[] = [];
    const until42 = Promise.withResolvers<void>();
    let told = '';
    const given = { target: pane, settle_ms: 60_000, timeout: 600, stream_partials: true };
    const waited = client.callTool(
      { name: 'wait_for_output', arguments: given },
      {
        timeout: 600_000,
        onprogress: ({ progress, message = '' }) => {
          numbers.push(progress);
          if (message === 'waiting')
            void use(client, 'send_input', { target: pane, keys: 'echo é$((40 + 2))', enter: true });
          else told += message;
          if (told.includes('é42')) until42.resolve();
        },
      },
    );
    await until42.promise;
    tmux('kill-pane', '-t', pane);
    expect((await waited).structuredContent).toMatchObject({ reason: 'gone' });
    expect(numbers.length).toBeGreaterThan(1);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    const { next } = await structured(client, 'poll_events');
    const watched = client.callTool(
      {
        name: 'watch_events',
        arguments: { since: next, kinds: ['window-renamed'], max_events: 1, timeout: 600 },
      },
      { timeout: 600_000, onprogress: () => tmux('rename-window', '-t', '=demo:0', 'renamed') },
    );
    expect((await watched).structuredContent).toMatchObject({ events: [{ type: 'window-renamed' }] });
  });

  it('ends when nobody wants it any longer', async () => {
    const client = await connect();
    const pane = await shell(client);
    const left = new AbortController();
    const given = { target: pane, settle_ms: 60_000, timeout: 600 };
    const waited = client.callTool({ name: 'wait_for_output', arguments: given }, { signal: left.signal });
    left.abort();
    await expect(waited).rejects.toThrow();
    expect(await structured(client, 'has_session', { target: 'demo' })).toEqual({ exists: true });
  });
});

describe('how far a call goes', () => {
  const raised: readonly (readonly [string, Record<string, unknown>])[] = [
    ['create_session', { name: 'x', environment: { LD_PRELOAD: '/x' } }],
    ['respawn_pane', { target: 'demo:1', shell: 'id' }],
    ['respawn_pane', { target: 'demo:1', kill: true }],
    ['new_pane', { target: 'demo:1', shell_command: 'id' }],
    ...[
      ...[
        'default-command',
        'default-c',
        'update-env',
        'update-environment[3]',
        'command-alias[9]',
        'editor',
      ],
      ...[
        'after-new-window',
        'pane-died',
        'pane-di',
        'client-attached[0]',
        'session-created',
        'window-linked',
      ],
      ...['destroy-unattached', 'lock-command', 'copy-command', 'pane-command-finished', 'ed', 'def'],
      'default-client-command',
      'default-cl',
    ].map((option) => ['set_option', { option, value: 'on', global_: true }] as const),
    ['set_option', { option: 'status-left', value: '#(id)', global_: true }],
    ['set_option', { option: '@x', value: '#{E:@y}', global_: true }],
    ['display_message', { message: '#(id)' }],
    ['display_message', { message: '#{?1,#(id),}' }],
    ['display_message', { message: '##{pane_id}(id)' }],
  ];

  it('is told by what it is asked for: what runs something is refused below destructive, with who decides', async () => {
    const before = tmux('show-options', '-g');
    const client = await overHttp({ safety: 'mutating' });
    for (const [name, given] of raised)
      expect([name, given, await use(client, name, given)]).toEqual([
        name,
        given,
        expect.stringMatching(
          /^ERROR forbidden: .* the safety of this client is mutating\. Your user decides that, with poly mcp --safety destructive\./,
        ),
      ]);
    expect(tmux('show-options', '-g')).toBe(before);
  });

  it('is as the tool says otherwise', async () => {
    const client = await overHttp({ safety: 'mutating' });
    for (const [option, value] of [
      ...[
        ['status-left', '#{session_name} '],
        ['pane-border-style', 'fg=red'],
        ['window-style', 'fg=red'],
      ],
      ...[
        ['mouse', 'on'],
        ['@mine', 'x'],
        ['pane-border-lines', 'heavy'],
        ['window-status-style', 'fg=red'],
      ],
    ] as [string, string][]) {
      expect(await use(client, 'set_option', { option, value, global_: true })).toBe('Set.');
    }
    const all = await overHttp();
    expect(await use(all, 'display_message', { message: '#(echo)#{?#{pane_id},yes,no}' })).toBe('yes');
    const { tools } = await all.listTools();
    const reads = (name: string) => tools.find((tool) => tool.name === name)?.annotations?.readOnlyHint;
    expect([reads('display_message'), reads('capture_pane')]).toEqual([false, true]);
  });

  it('leaves a readonly client no way to change anything', async () => {
    const state = (): string =>
      tmux(
        'list-panes',
        '-a',
        '-F',
        '#{pane_id} #{pane_pid} #{window_name} #{window_layout} #{history_size}',
      ) +
      tmux('show-options', '-g') +
      tmux('list-buffers');
    const before = state();
    const every = await (await overHttp()).listTools();
    const client = await overHttp({ safety: 'readonly' });
    const { tools } = await client.listTools();
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
    const given = {
      target: 'demo:1',
      src: 'demo:1',
      dst: 'other',
      name: 'x',
      keys: 'x',
      args: ['kill-server'],
      message: '#(id)',
      subscriptions: [{ name: 'x', format: '#(id)' }],
    };
    for (const { name, annotations, inputSchema } of every.tools) {
      if (annotations?.readOnlyHint) continue;
      const wanted = Object.entries(given).filter(([key]) => key in (inputSchema.properties ?? {}));
      expect(await use(client, name, Object.fromEntries(wanted))).toMatch(
        /^ERROR forbidden: .* the safety of this client is readonly/,
      );
    }
    for (const message of ['#(id)', '#{E:#(id)}'])
      expect(await use(client, 'display_message', { message })).toMatch(/^ERROR forbidden/);
    expect(state()).toBe(before);
  });

  it('is what the documentation says', async () => {
    const { tools } = await (await overHttp()).listTools();
    const page = readFileSync(join(import.meta.dirname, '../../../docs/mcp-tmux.md'), 'utf8');
    const rows = [...page.matchAll(/^\| (`\w+`(?:, `\w+`)*) \|.*\| (\w+) \|$/gm)].flatMap(
      ([, names = '', does]) => [...names.matchAll(/\w+/g)].map(([name]) => `${name} ${does}`),
    );
    const effects = tools.map(({ name, annotations }) => {
      // With this safety they may be more than that.
      const looks = annotations?.readOnlyHint || ['display_message', 'watch_events'].includes(name);
      return `${name} ${looks ? 'looks' : annotations?.destructiveHint ? 'ends' : 'changes'}`;
    });
    expect(rows.sort()).toEqual(effects.sort());
  });

  it('keeps the toolset small', async () => {
    const { tools } = await (await overHttp()).listTools();
    expect(tools.length).toBe(44);
    expect(JSON.stringify(tools).length).toBeLessThan(20 * 1024);
  });

  it('is nothing for a program in a pane of the hub, which is told so', async () => {
    const POLY_TOKEN = await ground.hub.paneToken(`pane-${Math.random().toString(36).slice(2)}`);
    const client = await overStdio({ env: { POLY_TOKEN, POLY_SOCKET: ground.hub.socket } });
    expect((await client.listTools()).tools).toEqual([]);
    expect(await use(client, 'list_panes')).toMatch(
      /^ERROR forbidden: list_panes is not for programs in panes of the hub/,
    );
  });

  it('is written down, without what was typed', async () => {
    const client = await overHttp();
    await structured(client, 'send_input', { target: 'demo:1', keys: 'a-secret' });
    const audit = readFileSync(join(ground.hub.dir, 'logs', 'audit.log'), 'utf8');
    const line = audit.split('\n').find((one) => one.includes('send_input') && one.includes(socket()));
    expect(line).toMatch(/user:/);
    expect(audit).not.toContain('a-secret');
  });
});

describe('the caller', () => {
  /** Speaks MCP from a shell inside a pane, in which everything is as tmux made it. */
  async function askFromPane(pane: string, { clean = false } = {}): Promise<Record<string, unknown>> {
    const file = join(ground.server.directory, `answer-${pane.slice(1)}`);
    const line = (message: object): string => JSON.stringify({ jsonrpc: '2.0', ...message });
    const clientInfo = { name: 'in-pane', version: '1' };
    const lines = [
      line({
        id: 0,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
      }),
      line({ method: 'notifications/initialized' }),
      line({ id: 1, method: 'tools/call', params: { name: 'get_caller_context', arguments: {} } }),
      line({ id: 2, method: 'tools/call', params: { name: 'list_panes', arguments: {} } }),
    ];
    const variables = Object.entries(ground.hub.env).map(([name, value]) => `${name}='${value}'`);
    const start = `env ${clean ? '-i' : '-u NOTHING'} ${variables.join(' ')} '${process.execPath}' '${program}' mcp --toolsets tmux`;
    const script = `printf '%s\\n' ${lines.map((one) => `'${one}'`).join(' ')} | ${start} >'${file}.part'; mv '${file}.part' '${file}'; exec cat`;
    tmux('respawn-pane', '-k', '-t', pane, script);
    const answers = await until(() => existsSync(file) && readFileSync(file, 'utf8').trim().split('\n'));
    const results = answers.map((one) => JSON.parse(one)).filter(({ id }) => id === 1 || id === 2);
    const [context, panes] = results
      .sort((a, b) => a.id - b.id)
      .map(({ result }) => result.structuredContent);
    return { ...context, own: panes.panes.filter((row: { is_caller: boolean }) => row.is_caller) };
  }

  it.each([
    ['by its variables', false],
    ['by those of the processes above it', true],
  ])('is found in each of two panes %s', async (_, clean) => {
    const panes = tmux('list-panes', '-t', '=demo:0', '-F', '#{pane_id}').split('\n');
    const found = await Promise.all(panes.map((pane) => askFromPane(pane, { clean })));
    for (const [index, pane] of panes.entries()) {
      expect(found[index]).toMatchObject({
        in_tmux: true,
        is_own_server: true,
        pane_id: pane,
        session_name: 'demo',
        window_index: 0,
        acts_on: socket(),
        own: [{ pane_id: pane }],
      });
    }
  });

  it('is found by what its user has set', async () => {
    const { TMUX, TMUX_PANE } = inPane('=demo:1') as { TMUX: string; TMUX_PANE: string };
    const env = { POLY_MCP_CALLER_TMUX: TMUX, POLY_MCP_CALLER_PANE: TMUX_PANE };
    const client = await overStdio({ env, args: [] });
    expect(await structured(client, 'get_caller_context')).toMatchObject({
      pane_id: TMUX_PANE,
      acts_on: socket(),
    });
  });

  it('is known through a link to its socket, and never on another server', async () => {
    const link = join(ground.server.directory, 'link');
    symlinkSync(socket(), link);
    const { TMUX = '', TMUX_PANE = '' } = inPane('=demo:1');
    const client = await overStdio({ env: { TMUX: TMUX.replace(socket(), link), TMUX_PANE }, args: [] });
    expect(await structured(client, 'get_caller_context')).toMatchObject({
      is_own_server: true,
      acts_on: socket(),
    });
    await using another = await demoServer();
    const there = ['--socket-path', another.connection.socketPath ?? ''];
    const stranger = await overStdio({ env: { TMUX, TMUX_PANE }, args: there });
    expect(await structured(stranger, 'get_caller_context')).toMatchObject({ is_own_server: false });
    const { panes } = await structured(stranger, 'list_panes');
    expect((panes as { is_caller: boolean }[]).some((row) => row.is_caller)).toBe(false);
    expect(await structured(stranger, 'kill_pane', { target: TMUX_PANE })).toMatchObject({ ok: true });
    // A server that has another process than the one the caller was started by is not its own.
    const stale = await overStdio({ env: { TMUX: TMUX.replace(/,\d+,/, ',1,'), TMUX_PANE }, args: [] });
    expect(await structured(stale, 'get_caller_context')).toMatchObject({ is_own_server: false });
  });

  it.each(['legacy', 'auto'] as const)('is known over HTTP by the headers it sends (%s)', async (era) => {
    const { TMUX = '', TMUX_PANE = '' } = inPane('=demo:0.0');
    const client = await byHttp(ground.hub, {
      ...{ era, query: '?toolsets=tmux&safety=destructive' },
      headers: { 'x-poly-tmux': TMUX, 'x-poly-tmux-pane': TMUX_PANE },
    });
    expect(await structured(client, 'get_caller_context')).toMatchObject({
      ...{ is_own_server: true, pane_id: TMUX_PANE, acts_on: socket() },
    });
    expect(await use(client, 'kill_window', { target: 'demo:0' })).toMatch(
      /^ERROR forbidden: .*the pane you run in/,
    );
    expect(await structured(client, 'kill_window', { target: 'demo:1' })).toMatchObject({ ok: true });
    await client.close();
  });

  it('is told as an error what tmux itself refuses', async () => {
    const client = await overStdio({ env: inPane('=demo:1'), args: [] });
    for (const args of [['no-such-command'], ['select-window', '-t', '=nowhere:']])
      expect(await client.callTool({ name: 'run_tmux', arguments: { args } })).toMatchObject({
        isError: true,
        structuredContent: { ok: false },
      });
  });

  it('acts on the server of the hub when told not to act on its own', async () => {
    const client = await overStdio({ env: inPane('=demo:1'), args: ['--no-caller-socket'] });
    const { acts_on: actsOn } = await structured(client, 'get_caller_context');
    expect(actsOn).toContain(ground.hub.env.POLY_TMUX_SOCKET);
  });

  it('cannot end itself, in any way', async () => {
    const script = join(ground.server.directory, 'script');
    writeFileSync(script, 'kill-server\n');
    for (const [index, alias] of [
      'wipe=kill-server',
      'leave=killp',
      'odd=list-panes ; kill-server',
    ].entries())
      tmux('set-option', '-s', `command-alias[${80 + index}]`, alias);
    tmux('set-option', '-s', 'command-alias[83]', 'shown=list-panes -a');
    tmux('link-window', '-s', '=demo:0', '-t', '=other:5');
    const env = inPane('=demo:0.0');
    const own = env.TMUX_PANE ?? '';
    const window = tmux('display-message', '-p', '-t', own, '#{window_id}');
    const [sibling = ''] = tmux('list-panes', '-t', '=demo:0', '-F', '#{pane_id}').split('\n').slice(1);
    const client = await overStdio({ env, args: [] });
    const refused: readonly (readonly [string, Record<string, unknown>])[] = [
      ['kill_pane', { target: own }],
      ['kill_pane', { target: 'demo:0.0' }],
      ['kill_pane', { target: 'demo' }],
      ['kill_pane', { target: sibling, others: true }],
      ['kill_window', { target: 'demo:editor' }],
      ['kill_window', { target: 'other:5' }],
      ['kill_window', { target: 'demo:logs', others: true }],
      ['kill_window', { target: 'other:1', others: true }],
      ['kill_session', { target: 'demo' }],
      ['kill_session', { target: 'other' }],
      ['respawn_pane', { target: own, kill: true }],
      ['set_option', { option: 'exit-un', value: 'on', server: true }],
      ['set_option', { option: 'command-alias[91]', value: 'list-panes=kill-server', server: true }],
      ...[
        ['kill-server'],
        ['kill-ser'],
        ['kill-pane', '-t', own],
        ['killp', '-t', own],
        ['kill-p', `-t${own}`],
        ['kill-pane'],
        ['kill-pane', '-a', '-t', sibling],
        ['kill-window', '-t', 'demo:0'],
        ['killw', '-a', '-t', 'demo:1'],
        ['kill-session', '-t', 'demo'],
        ['kill-session', '-a', '-t', '$1'],
        ['respawn-pane', '-k', '-t', own],
        ['respawnw', '-k', '-t', window],
        ['unlink-window', '-k', '-t', '=demo:0'],
        ['move-window', '-k', '-s', '=demo:1', '-t', '=demo:0'],
        ['new-window', '-k', '-t', '=demo:0'],
        ['run-shell', 'tmux kill-server'],
        ['if-shell', '-F', '1', `kill-pane -t ${own}`],
        ['set-option', '-g', 'destroy-unattached', 'on'],
        ['set-option', '-g', 'destroy-un', 'on'],
        ['set-option', '-s', 'command-alias[90]', 'bye=kill-server'],
        ['set-option', '-s', 'command-alias[90]', 'bye=ki\\ll-server'],
        ['source-file', script],
        ['source', script],
        ['if-shell', '-F', '1', 'source-file /x'],
        ['if-shell', '-F', '1', 'ki\\ll-server'],
        ['if-shell', '-F', '1', '"k""ill-server"'],
        ['if-shell', '-F', '1', 'wipe'],
        ['bind-key', '-n', 'F5', 'killp'],
        ['set-hook', '-g', 'after-new-window', '$K'],
        ['run-shell', '-C', `killw -t ${own}`],
        ['run-shell', '-C', '#{@first}#{@second}'],
        ['if-shell', 'tmux #{@first}#{@second}', ''],
        ['if-shell', '-F', '#{pane_id}', 'run-shell -C #{@first}#{@second}'],
        ['set-option', '-gF', 'after-list-windows', '#{@first}#{@second}'],
        ['bind-key', '-n', 'F5', 'run', '-C', '#{@first}#{@second}'],
        ['display-menu', 'one', 'o', '#{@first}#{@second}'],
        ['wipe'],
        ['leave', '-t', own],
        ['odd'],
        ['kill-pane', '-at', sibling],
        ['choose-tree'],
        ['display-message', '#(tmux kill-server)'],
        ['rename-window', '-t', '=demo:1', '#(tmux kill-server)'],
        ['set-option', '-g', 'status-left', '#(tmux kill-server)'],
        ['send-keys', '-t', sibling, '-X', 'copy-pipe', 'tmux kill-server'],
        ['split-window', 'tmux kill-server'],
        ['findw', 'logs'],
        ['link-window', '-ks', '=demo:1', '-t', '=demo:0'],
        // What tmux completes, or finds by where it is.
        ...['dem:0', 'd*o:0', 'demo:^', 'demo: 0', '0'].flatMap((place) => [
          ['new-window', '-k', '-t', place],
          ['move-window', '-k', '-s', '=demo:1', '-t', place],
          ['link-window', '-k', '-s', '=demo:1', '-t', place],
        ]),
        // The name of an option is a format too.
        ['set-option', '-g', '#{l:after-display-message}', `kill-pane -t ${own}`],
        ['set-option', '-g', 'destroy-#{l:un}attached', 'on'],
        ['setw', '-g', '#{@first}', 'on'],
      ].map((args) => ['run_tmux', { args }] as const),
    ];
    for (const [name, given] of refused)
      expect([name, given, await use(client, name, given)]).toEqual([
        name,
        given,
        expect.stringMatching(/^ERROR forbidden: .*the pane you run in/),
      ]);
    expect(tmux('display-message', '-p', '-t', own, '#{pane_id} #{pane_pid}')).toMatch(/^%\d+ \d+/);
    expect(await structured(client, 'run_tmux', { args: ['kill-pane', '-t', sibling] })).toMatchObject({
      ok: true,
    });
    for (const args of [
      ['shown'],
      ['if-shell', '-F', '#{pane_id}', 'rename-window -t =demo:1 seen'],
      ['bind-key', '-n', 'F5', 'select-window', '-t', '=demo:1'],
      ['set-option', '-g', 'status-left', '#{session_name} "here"'],
      ['new-window', '-k', '-d', '-t', '=demo:9'],
      ['new-window', '-dkt', '=demo:9'],
      ['set-hook', '-g', 'after-rename-window', 'display-message #{window_name}'],
      ['run-shell', '-C', 'rename-window -t =demo:1 seen'],
    ])
      expect([args, await structured(client, 'run_tmux', { args })]).toMatchObject([args, { ok: true }]);
    expect(tmux('display-message', '-p', '-t', '=demo:1', '#{window_name}')).toBe('seen');
    // What is only a text ends nothing, whatever it says.
    for (const args of [
      ['rename-window', '-t', '=demo:1', 'kill bill'],
      ['set-buffer', 'kill-server'],
      ['send-keys', '-l', '-t', '=demo:1', 'how to kill -9'],
      ['set-option', '-g', '@note', 'respawned'],
      ['select-window', '-t', '=demo:kill bill'],
    ])
      expect([args, await structured(client, 'run_tmux', { args })]).toMatchObject([args, { ok: true }]);
    expect(tmux('display-message', '-p', '-t', '=demo:1', '#{window_name}')).toBe('kill bill');
    const unclear = await use(client, 'run_tmux', { args: ['split-window', 'echo kill'] });
    expect(unclear).toMatch(/forbidden: run_tmux split-window may end .*If another tool does what you want/);
    expect(unclear).not.toContain('kill_pane');
    expect(await structured(client, 'kill_window', { target: 'demo:1' })).toMatchObject({ ok: true });
  });

  it('of whom only a part is known counts as hit', async () => {
    const { TMUX = '', TMUX_PANE = '' } = inPane('=demo:1');
    const withoutPane = await overStdio({ env: { TMUX }, args: [] });
    expect(await use(withoutPane, 'kill_pane', { target: 'demo:0.1' })).toMatch(
      /^ERROR forbidden: .*not known/,
    );
    const withoutServer = await overStdio({ env: { TMUX_PANE } });
    expect(await use(withoutServer, 'kill_pane', { target: TMUX_PANE })).toMatch(/^ERROR forbidden/);
    expect(await structured(withoutServer, 'kill_pane', { target: 'demo:0.1' })).toMatchObject({ ok: true });
  });
});
