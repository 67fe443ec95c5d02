import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Inbox } from '../src/agents/inbox.ts';
import { until } from './test-hub.ts';

const hooks = join(import.meta.dirname, '..', 'hooks');
const payload = (event: string, more = {}): string =>
  JSON.stringify({ session_id: 's', cwd: '/', hook_event_name: event, ...more });

interface Told {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Hook {
  readonly pid: number | undefined;
  kill(signal?: NodeJS.Signals): void;
  /** What it said, when it has ended. */
  readonly told: Promise<Told>;
}

function hookOf(child: ChildProcess, input: string | Buffer): Hook {
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input);
  return { pid: child.pid, kill: (signal) => child.kill(signal), told: ended(child) };
}

async function ended(hook: ChildProcess): Promise<Told> {
  const said = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  for (const name of ['stdout', 'stderr'] as const)
    hook[name]?.on('data', (chunk: Buffer) => said[name].push(chunk));
  const [code] = await once(hook, 'close');
  const text = (name: 'stdout' | 'stderr'): string => Buffer.concat(said[name]).toString();
  return { code, stdout: text('stdout'), stderr: text('stderr') };
}

describe.each(['dash', 'bash'])('the delivery hooks in %s', (shell) => {
  let home: string;
  let inbox: string;
  let env: Record<string, string>;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'poly-inbox-'));
    inbox = join(home, 'inbox', 'pane_1');
    env = {
      ...{ PATH: process.env.PATH ?? '', POLY_HOME: home, POLY_PANE: 'pane_1' },
      CLAUDE_CODE_ENTRYPOINT: 'cli',
    };
  });
  afterEach(() => rmSync(home, { recursive: true }));

  /** Makes the folders, where there are none. */
  const made = (): Inbox => new Inbox(join(home, 'inbox'), 'pane_1');
  const put = (name: string, text: string | Buffer): void => made().put(name, text);
  const folder = (name: string): readonly string[] => readdirSync(join(inbox, name)).sort();

  function start(script: string, args: readonly string[], input: string | Buffer, more = {}): Hook {
    return hookOf(spawn(shell, [join(hooks, script), ...args], { env: { ...env, ...more } }), input);
  }
  const context = (agent = 'claude', input = payload('UserPromptSubmit'), more = {}): Promise<Told> =>
    start('context.sh', [agent], input, more).told;
  const said = ({ stdout }: Told): string => JSON.parse(stdout).hookSpecificOutput.additionalContext;
  const nothing = { code: 0, stdout: '', stderr: '' };

  describe('context.sh', () => {
    it.each([
      ['claude', 'SessionStart'],
      ['claude', 'UserPromptSubmit'],
      ['claude', 'PreToolUse'],
      ['claude', 'PostToolUse'],
      ['claude', 'PostToolBatch'],
      ['codex', 'SessionStart'],
      ['codex', 'UserPromptSubmit'],
      ['codex', 'PreToolUse'],
      ['codex', 'PostToolUse'],
      ['gemini', 'SessionStart'],
      ['gemini', 'BeforeAgent'],
      ['gemini', 'AfterTool'],
    ])('tells %s at %s what waits, in its order and once', async (agent, event) => {
      put('2', 'second');
      put('1', 'first\nof two\n');
      const told = await context(agent, payload(event));
      expect(JSON.parse(told.stdout)).toEqual({
        hookSpecificOutput: { hookEventName: event, additionalContext: 'first\nof two\n\n\nsecond' },
      });
      expect([told.code, told.stderr]).toEqual([0, '']);
      expect([folder('new'), folder('taken')]).toEqual([[], ['1', '2']]);
      expect(await context(agent, payload(event))).toEqual(nothing);
    });

    it.each([
      ['claude', payload('Stop')],
      ['claude', payload('Notification', { tool_input: { hook_event_name: 'PreToolUse' } })],
      ['claude', payload('PostToolUse', { agent_id: 'of a subagent' })],
      ['codex', payload('PreModelRequest')],
      ['gemini', payload('BeforeModel')],
      ['cursor', payload('UserPromptSubmit')],
      ['claude', 'no JSON'],
      ['claude', ''],
    ])('leaves everything for later where %s would not pass it on: %s', async (agent, input) => {
      put('1', 'kept');
      expect(await context(agent, input)).toEqual(nothing);
      expect([folder('new'), folder('taken')]).toEqual([['1'], []]);
    });

    // What Claude Code 2.1.325, Codex 0.166, Gemini 0.61 and OpenCode 1.18.33 set for their tools, as hooks have it.
    const inClaude = { CLAUDECODE: '1', CLAUDE_CODE_ENTRYPOINT: 'cli', CLAUDE_PID: '1' };
    const inCodex = { CODEX_THREAD_ID: '01a1', CODEX_SESSION_ID: '01a1', CODEX_CI: '1' };
    it.each([
      ['claude', 'Claude Code', { ...inClaude, CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' }],
      ['claude', 'Codex', { ...inClaude, ...inCodex, CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' }],
      ['codex', 'Claude Code', inClaude],
      ['codex', 'Codex', inCodex],
      ['codex', 'Gemini', { GEMINI_CLI: '1' }],
      ['codex', 'OpenCode', { OPENCODE: '1' }],
      ['gemini', 'Claude Code', inClaude],
      ['gemini', 'Codex', inCodex],
      ['gemini', 'Gemini', { GEMINI_CLI: '1' }],
    ])(
      'leaves everything for the agent of the pane where a %s runs as a tool of %s',
      async (agent, _, tool) => {
        put('1', 'kept');
        const event = agent === 'gemini' ? 'BeforeAgent' : 'UserPromptSubmit';
        expect(await context(agent, payload(event), { CLAUDE_CODE_ENTRYPOINT: '', ...tool })).toEqual(
          nothing,
        );
        expect(folder('new')).toEqual(['1']);
        const own = agent === 'claude' ? inClaude : { CLAUDE_CODE_ENTRYPOINT: '' };
        expect(said(await context(agent, payload(event), own))).toBe('kept');
      },
    );

    it('knows the event from any payload, also of 5 MB, with spaces, or with lies in it', async () => {
      for (const input of [
        payload('PostToolUse', { tool_response: 'x'.repeat(5 * 1024 * 1024) }),
        '{"session_id": "s", "hook_event_name" : "PostToolUse"}',
        payload('PostToolUse', { tool_input: { text: '"hook_event_name":"Stop"', hook_event_name: 'Stop' } }),
        `{"prompt":${JSON.stringify('"hook_event_name":"Stop"')},"hook_event_name":"PostToolUse"}`,
      ]) {
        put('1', 'x');
        expect(said(await context('claude', input))).toBe('x');
      }
    });

    it('escapes whatever a message holds', async () => {
      const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
      const texts: readonly (string | Buffer)[] = [
        `"quotes" 'and' \\backslashes\\ \\n \\u0041 %s %n $HOME \`id\` $(id) & ; | < >`,
        'lines\nof\r\nall\rkinds\n\n\tand tabs',
        Array.from({ length: 31 }, (_, code) => String.fromCharCode(code + 1)).join(''),
        'é ß 漢字 \u{1f600} \u{10ffff} \uffff \ue000 \u2028 \u202e \u200d',
        '-n',
        '-e \\c',
        '  blanks  ',
        every,
        Buffer.from([0xc3]),
        Buffer.from([0xe2, 0x82, 0x41]),
        Buffer.from([0xf0, 0x9f, 0x98]),
        Buffer.from([0xc0, 0xaf]),
        Buffer.from([0xed, 0xa0, 0x80]),
        Buffer.from([0xf4, 0x90, 0x80, 0x80]),
        Buffer.concat([Buffer.from('漢'.repeat(30_000)), every]),
        'x'.repeat(64 * 1024),
      ];
      for (const text of texts) {
        put('1', text);
        const told = await context();
        expect(told.stdout).toMatch(/^[\x20-\x7e]*\n$/);
        expect(said(told)).toBe(new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.from(text)));
      }
    });

    it('says nothing where an empty message was', async () => {
      put('1', '');
      expect(await context()).toEqual(nothing);
      expect(folder('taken')).toEqual(['1']);
    });

    it('tells some 64 KiB at a time, and one message always', async () => {
      for (const name of ['1', '2', '3', '4']) put(name, name.repeat(40 * 1024));
      put('5', '5'.repeat(200 * 1024));
      const lengths = [];
      while (folder('new').length > 0) lengths.push(said(await context()).length);
      expect(lengths).toEqual([80 * 1024 + 2, 80 * 1024 + 2, 200 * 1024]);
    });

    it('gives each message to one of several hooks at the same time', async () => {
      const names = Array.from({ length: 40 }, (_, index) => `${index + 10}`);
      for (const name of names) put(name, `<${name}>`);
      const told = await Promise.all(Array.from({ length: 8 }, () => context()));
      const all = told.filter(({ stdout }) => stdout !== '').map(said);
      expect(all.flatMap((text) => text.match(/<\d+>/g)).sort()).toEqual(names.map((name) => `<${name}>`));
      expect(new Set(told.map(({ code, stderr }) => `${code}${stderr}`))).toEqual(new Set(['0']));
      expect([folder('new'), folder('taken')]).toEqual([[], names]);
    });

    it.each([
      ['no pane', { POLY_PANE: '' }],
      ['a pane that is no name', { POLY_PANE: '..' }],
      ['a pane in another folder', { POLY_PANE: '../inbox/pane_1' }],
      ['no inbox', { POLY_PANE: 'other' }],
      ['no home', { POLY_HOME: '/none' }],
      ['nothing that says where home is', { POLY_HOME: '', HOME: '' }],
    ])('does nothing where there is %s', async (_, more) => {
      put('1', 'kept');
      expect(await context('claude', payload('UserPromptSubmit'), more)).toEqual(nothing);
      expect(folder('new')).toEqual(['1']);
      expect(readdirSync(join(home, 'inbox'))).toEqual(['pane_1']);
    });

    it('goes by the home of its user where no other is named', async () => {
      put('1', 'x');
      renameSync(home, join(dirname(home), 'moved'));
      try {
        mkdirSync(home);
        renameSync(join(dirname(home), 'moved'), join(home, '.poly'));
        expect(said(await context('claude', undefined, { POLY_HOME: '', HOME: home }))).toBe('x');
      } finally {
        rmSync(join(dirname(home), 'moved'), { recursive: true, force: true });
      }
    });

    it('passes over what is no message', async () => {
      put('2', 'x');
      mkdirSync(join(inbox, 'new', '1'));
      symlinkSync('/etc/passwd', join(inbox, 'new', '3'));
      await promisify(execFile)('mkfifo', [join(inbox, 'new', '4')]);
      writeFileSync(join(inbox, 'new', '.draft'), 'not yet');
      // The first is none, and nothing waits behind it.
      expect(said(await context())).toBe('x');
      expect(folder('taken')).toEqual(['2']);
    });

    it('makes the folder of what was taken, for nobody else to read', async () => {
      put('1', 'x');
      rmSync(join(inbox, 'taken'), { recursive: true });
      expect(said(await context())).toBe('x');
      expect(statSync(join(inbox, 'taken')).mode & 0o777).toBe(0o700);
    });

    it('puts everything back where its answer could not be written', async () => {
      put('1', 'x');
      put('2', 'y');
      const hook = spawn('sh', ['-c', `${shell} ${hooks}/context.sh claude >/dev/full`], { env });
      expect(await hookOf(hook, payload('UserPromptSubmit')).told).toEqual(nothing);
      expect([folder('new'), folder('taken')]).toEqual([['1', '2'], []]);
      expect(said(await context())).toBe('x\n\ny');
    });

    it('tells nothing that it cannot take', async () => {
      put('1', 'x');
      rmSync(join(inbox, 'taken'), { recursive: true });
      writeFileSync(join(inbox, 'taken'), 'a file');
      expect(await context()).toEqual(nothing);
      expect(folder('new')).toEqual(['1']);
    });

    it('does as ever on a disk that is full', async () => {
      const small = join(home, 'small');
      mkdirSync(small);
      put('1', 'x'.repeat(5000));
      const run = `printf '%s' '${payload('Stop')}' | ${shell} ${hooks}/wake.sh claude 1 2>&1; echo $?`;
      const within = `mount -t tmpfs -o size=64k tmpfs ${small} && cp -a ${home}/inbox ${small}/ && export POLY_HOME=${small} &&
        cat /dev/zero >${small}/full 2>/dev/null
        printf '%s' '${payload('Stop')}' | ${shell} ${hooks}/context.sh claude
        printf '%s' '${payload('SessionStart')}' | ${shell} ${hooks}/context.sh claude; echo $?; ls ${small}/inbox/pane_1/*
        ${run}`;
      const { stdout, stderr } = await promisify(execFile)('unshare', ['-rm', 'sh', '-c', within], { env });
      const [answer = '', ...rest] = stdout.split('\n');
      expect(JSON.parse(answer).hookSpecificOutput.additionalContext).toBe('x'.repeat(5000));
      expect(rest.join(' ')).toMatch(/^0 .*\/taken: 1 .*\/tmp: {1,2}0 $/);
      expect(stderr).toBe('');
    });
  });

  describe('wake.sh', () => {
    const wake = (more = {}, ...args: readonly string[]): Hook =>
      start('wake.sh', ['claude', ...args], payload('Stop'), more);
    const waits = (hook: Hook): Promise<boolean> =>
      until(
        () =>
          existsSync(join(inbox, 'waiting')) &&
          readFileSync(join(inbox, 'waiting'), 'utf8') === `${hook.pid}\n`,
      );

    it('ends with 2 and what has come, as it is, and takes it', async () => {
      const text = 'a "message"\nof \\n two lines é \u001b[31m $HOME';
      const hook = wake();
      await waits(hook);
      put('1', text);
      expect(await hook.told).toEqual({ code: 2, stdout: '', stderr: text });
      expect([folder('new'), folder('woken')]).toEqual([[], ['1']]);
    });

    it('ends at once where something waits already, with all of it', async () => {
      put('2', 'y'.repeat(20_000));
      put('1', 'x');
      expect(await wake().told).toEqual({ code: 2, stdout: '', stderr: `x\n\n${'y'.repeat(20_000)}` });
    });

    it('waits alone: whoever came before leaves without a word', async () => {
      const first = wake();
      await waits(first);
      const second = wake();
      await waits(second);
      const third = wake();
      await waits(third);
      expect(await Promise.all([first.told, second.told])).toEqual([nothing, nothing]);
      put('1', 'x');
      expect(await third.told).toEqual({ code: 2, stdout: '', stderr: 'x' });
    });

    /** In the place of `timeout`, so that no time passes: runs this script with the words behind the seconds. */
    function shim(text: string): { readonly PATH: string } {
      mkdirSync(join(home, 'bin'), { recursive: true });
      writeFileSync(join(home, 'bin', 'timeout'), `#!/bin/sh\nshift\n${text}\n`, { mode: 0o700 });
      return { PATH: `${join(home, 'bin')}:${env.PATH}` };
    }
    /** So that what is looked at now and then is looked at often. */
    const hasty = () => shim(`PATH='${env.PATH}' exec timeout 0.2 "$@"`);
    const bells = (): readonly string[] => readdirSync(inbox).filter((name) => name.startsWith('bell.'));

    it('looks only when somebody rings', async () => {
      const hook = wake(shim('echo >>"$POLY_HOME/waits"; exec "$@"'));
      await until(() => existsSync(join(home, 'waits')));
      put('1', 'x');
      expect(await hook.told).toEqual({ code: 2, stdout: '', stderr: 'x' });
      expect(readFileSync(join(home, 'waits'), 'utf8')).toBe('\n');
    });

    it('hears a ring that comes after its look and before its wait', async () => {
      made();
      const put = `printf x >"$POLY_HOME/inbox/pane_1/new/1"; for bell in "$POLY_HOME"/inbox/pane_1/bell.*; do echo 1<>"$bell"; done`;
      const hook = wake(shim(`${put}; exec "$@"`));
      expect(await hook.told).toEqual({ code: 2, stdout: '', stderr: 'x' });
    });

    it('finds by itself what came without a ring', async () => {
      const hook = wake(shim('printf x >"$POLY_HOME/inbox/pane_1/new/1"; exit 124'));
      expect(await hook.told).toEqual({ code: 2, stdout: '', stderr: 'x' });
    });

    it('tells the one before it to leave at once', async () => {
      const endless = shim('exec "$@"');
      const first = wake(endless);
      await waits(first);
      const second = wake(endless);
      expect(await first.told).toEqual(nothing);
      put('1', 'x');
      expect(await second.told).toEqual({ code: 2, stdout: '', stderr: 'x' });
    });

    it('takes away what others have left behind, and leaves nothing itself', async () => {
      made();
      const gone = spawn('true');
      await once(gone, 'close');
      await promisify(execFile)('mkfifo', [join(inbox, `bell.${gone.pid}`), join(inbox, 'bell.x')]);
      writeFileSync(join(inbox, 'bell.y'), '');
      const hook = wake();
      await until(() => bells().join() === `bell.${hook.pid}`);
      put('1', 'x');
      expect(await hook.told).toMatchObject({ code: 2, stderr: 'x' });
      expect(bells()).toEqual([]);
      const ended = wake();
      await waits(ended);
      ended.kill('SIGTERM');
      expect(await ended.told).toEqual(nothing);
      expect(bells()).toEqual([]);
    });

    it('is rung without anybody waiting: also where nobody hears it, or it is full', async () => {
      made();
      await promisify(execFile)('mkfifo', [join(inbox, 'bell.1'), join(inbox, 'bell.2')]);
      symlinkSync('/dev/zero', join(inbox, 'bell.3'));
      mkdirSync(join(inbox, 'bell.4'));
      const held = openSync(join(inbox, 'bell.2'), constants.O_RDWR | constants.O_NONBLOCK);
      try {
        const full = Buffer.alloc(1024);
        expect(() => {
          for (;;) writeSync(held, full);
        }).toThrow('EAGAIN');
        put('1', 'x');
        expect(folder('new')).toEqual(['1']);
      } finally {
        closeSync(held);
      }
    });

    it('waits as well where there is no timeout', async () => {
      const hook = wake(shim('exit 127'));
      await waits(hook);
      put('1', 'x');
      expect(await hook.told).toMatchObject({ code: 2, stderr: 'x' });
    });

    it('waits although one before it was killed', async () => {
      const killed = wake();
      await waits(killed);
      killed.kill('SIGKILL');
      await killed.told;
      const hook = wake();
      await waits(hook);
      put('1', 'x');
      expect(await hook.told).toMatchObject({ code: 2, stderr: 'x' });
    });

    it('goes on waiting where another hook was faster', async () => {
      const hook = wake();
      await waits(hook);
      hook.kill('SIGSTOP');
      put('1', 'for the other');
      expect(said(await context())).toBe('for the other');
      hook.kill('SIGCONT');
      put('2', 'x');
      expect(await hook.told).toMatchObject({ code: 2, stderr: 'x' });
    });

    it('leaves when its agent has gone', async () => {
      const agent = spawn('sleep', ['1000']);
      const hook = wake({ ...hasty(), CLAUDE_PID: `${agent.pid}` });
      await waits(hook);
      agent.kill('SIGKILL');
      expect(await hook.told).toEqual(nothing);
    });

    it('leaves after its time, without a word', async () => {
      expect(await wake({}, '2').told).toEqual(nothing);
    });

    it('leaves when its inbox is taken away', async () => {
      const hook = wake(hasty());
      await waits(hook);
      rmSync(inbox, { recursive: true });
      expect(await hook.told).toEqual(nothing);
    });

    it.each([
      ['no pane', { POLY_PANE: '' }],
      ['a pane in another folder', { POLY_PANE: '../x' }],
      ['no terminal, as with claude -p', { CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' }],
      ['an agent whose tool it is', { CODEX_THREAD_ID: '01a1' }],
      ['no word of a terminal', { CLAUDE_CODE_ENTRYPOINT: '' }],
      ['nothing that says where home is', { POLY_HOME: '', HOME: '' }],
      ['a home that cannot be made', { POLY_HOME: '/proc/none' }],
    ])('leaves at once where there is %s', async (_, more) => {
      expect(await wake(more).told).toEqual(nothing);
      expect(readdirSync(home)).toEqual([]);
    });

    it('makes an inbox for its user alone where there is none', async () => {
      const hook = wake();
      await waits(hook);
      for (const path of [inbox, join(inbox, 'new'), join(inbox, 'taken')])
        expect(statSync(path).mode & 0o777).toBe(0o700);
      hook.kill();
      await hook.told;
    });

    it('never blocks an agent with a half installation', async () => {
      const alone = join(home, 'wake.sh');
      cpSync(join(hooks, 'wake.sh'), alone);
      chmodSync(alone, 0o700);
      put('1', 'kept');
      const hook = spawn(alone, ['claude', '2'], { env });
      expect(await hookOf(hook, payload('Stop')).told).toEqual(nothing);
      expect(folder('new')).toEqual(['1']);
    });
  });
});
