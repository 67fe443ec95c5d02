import { execFile, spawn } from 'node:child_process';
import { chmodSync, closeSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { commands } from '../src/edges/cli/commands.ts';
import { homeOf } from '../src/edges/cli/find-hub.ts';
import { placesOf } from '../src/platform/places.ts';
import { CliGround } from './cli-ground.ts';

const ground = new CliGround();
afterAll(() => ground[Symbol.asyncDispose]());

interface Answer {
  readonly status?: number;
  readonly body: unknown;
}

/** Something on a unix socket that answers like a hub, and remembers what it was asked. */
class StandIn {
  readonly asked: { readonly url: string; readonly token: string; readonly body: unknown }[] = [];
  readonly #server: Server;

  constructor(answers: Readonly<Record<string, Answer | ((body: unknown) => Answer)>>) {
    this.#server = createServer(async (request, response) => {
      const body = await bodyOf(request);
      const url = decodeURIComponent(request.url ?? '');
      this.asked.push({ url, token: request.headers.authorization ?? '', body });
      const answer = answers[url] ?? {
        status: 404,
        body: {
          error: { code: url.startsWith('/action/') ? 'unknown_action' : 'unknown_route', message: 'no.' },
        },
      };
      const { status = 200, body: value } = typeof answer === 'function' ? answer(body) : answer;
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    });
  }

  listen(socket: string): Promise<void> {
    return new Promise((resolve) => this.#server.listen(socket, resolve));
  }

  close(): Promise<void> {
    return new Promise((resolve) => void this.#server.close(() => resolve()));
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return text === '' ? undefined : JSON.parse(text);
}

const opened: StandIn[] = [];
afterEach(async () => {
  for (const hub of opened.splice(0)) await hub.close();
  rmSync(join(ground.home, '.poly'), { recursive: true, force: true });
});

/** A hub as clients find it: discovery file, token, and a socket in a private folder. */
async function standIn(answers: ConstructorParameters<typeof StandIn>[0], mode = 0o700): Promise<StandIn> {
  const home = join(ground.home, '.poly');
  const folder = join(home, 'run');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, mode);
  const socket = join(folder, 'hub.sock');
  writeFileSync(join(home, 'hub.json'), JSON.stringify({ socket, pid: 0, startTime: '', version: '0' }));
  writeFileSync(join(home, 'token'), 'users-token\n');
  const hub = new StandIn(answers);
  await hub.listen(socket);
  opened.push(hub);
  return hub;
}

const pane = (id: string, more: object = {}) => ({
  id,
  meta: {},
  backend: 'pty',
  title: 'sh',
  status: 'running',
  pid: 1,
  createdAt: new Date().toISOString(),
  ...more,
});

describe('the command line without a hub', () => {
  it('explains every command, with an example', async () => {
    for (const { name, examples, summary } of commands) {
      const { code, stdout } = await ground.run([...name.split(' '), '--help']);
      expect([name, code]).toEqual([name, 0]);
      expect(stdout).toContain(summary);
      expect(stdout).toContain(examples[0]);
    }
  }, 120_000);

  it('explains a noun, itself and a built-in action', async () => {
    expect(await ground.ok('server', '--help')).toContain('server restart');
    expect(await ground.ok('--help')).toContain('poly up');
    expect(await ground.ok('help', 'read')).toContain('--tail N');
    const help = await ground.ok('action', 'pane:new', '--help');
    for (const flag of ['--argv ITEM', '--cols N', '--env K=V', '--backend pty|tmux', '--persist'])
      expect(help).toContain(flag);
    const overview = await ground.ok('--help');
    for (const about of ['The hub', 'Panes', 'Agents', 'Upkeep'])
      expect(overview.split('\n')).toContain(about);
    const mail = await ground.ok('action', 'mail:send', '--help');
    expect(mail).toMatch(/^ {2}"body" TEXT +\(needed, only inside of --body '\{"body": …\}'\)$/m);
    expect(mail.match(/--body /g)).toHaveLength(4);
    expect(mail.trimEnd().split('\n').at(-1)).toBe(
      `  poly action mail:send --body '{"to_agent_name": …, "body": …}'`,
    );
  });

  it('knows its version', async () => {
    expect((await ground.ok('--version')).trim()).toMatch(/^\d+\.\d+\.\d+$/);
    expect(await ground.json('--version')).toHaveProperty('version');
    for (const said of ['version', '-v', '-V'])
      expect(await ground.ok(said)).toBe(await ground.ok('--version'));
    expect(JSON.parse(await ground.ok('version', '--json=true'))).toHaveProperty('version');
  });

  it('says in one line that no hub runs, and how to start one', async () => {
    const { code, stdout, stderr } = await ground.run(['ls']);
    expect({ code, stdout, stderr }).toEqual({
      code: 6,
      stdout: '',
      stderr: 'poly: no hub is running. Start one with: poly up\n',
    });
    const { stderr: json } = await ground.run(['ls', '--json']);
    expect(JSON.parse(json)).toEqual({
      error: { code: 'unreachable', message: 'no hub is running.', hint: 'Start one with: poly up' },
    });
  });

  it.each([
    [['sever', 'start'], 'there is no command "sever". Did you mean server?'],
    [['server', 'strat'], 'Did you mean server start?'],
    [['server', 'foo'], 'There is server start, stop, restart, status, logs. See poly server --help.'],
    [['run', 'ls', '-la'], 'there is no flag -l. To give it to the program: poly run -- ls -la'],
    [['run', '--name', '--', 'sh'], '--name needs a value: --name ID'],
    [['run', '--cols', '0'], '--cols must be 2 to 1000, not 0.'],
    [['up', '--port', '70000'], '--port must be 0 to 65535, not 70000.'],
    [['run', '--backend', 'foo', '--', 'sh'], '--backend must be pty or tmux, not "foo".'],
    [['run', '--backend', 'tmx'], '--backend must be pty or tmux, not "tmx"; did you mean tmux?'],
    [['agent', 'create', 'claude', '--permissions', 'all'], '--permissions must be ask or auto, not "all".'],
    [['action', 'pane:read', '--paneId', 'x', '--view', 'rwa'], 'not "rwa"; did you mean raw?'],
    [
      ['workspace', 'load', 'x', '--on-exists', 'reus'],
      'must be error, reuse or replace, not "reus"; did you',
    ],
    [
      ['workspace', 'import', 'x', '--from', 'zellij'],
      '--from must be tmuxinator or teamocil, not "zellij".',
    ],
    [
      ['wait', 'x', '--idle', '5x'],
      '--idle must be a number of milliseconds, or a time like 500ms, 5s or 2m, not',
    ],
    [['wait', 'x', '--idle', '0'], '--idle must be 1ms to 1h, not "0".'],
    [['wait', 'x', '--idle', '2h'], '--idle must be 1ms to 1h, not "2h".'],
    [
      ['wait', 'x', '--timeout', '-1'],
      '--timeout must be a number of seconds, or a time like 500ms, 5s or 2m, not',
    ],
    [['wait', 'x', '--timeout', '0s'], '--timeout must be 1ms or more, not "0s".'],
    [['kill'], 'kill needs <pane…>. poly ls shows them; --all ends every one.'],
    [['kill', '--all', 'x'], '--all is every pane: name none. To end some: poly kill x'],
    [['agent', 'create'], 'agent create needs an agent: claude, codex, gemini or opencode.'],
    [['attach', 'x', '--json'], 'attach shows a pane to a person and has no JSON.'],
    [['read', 'x', '--grep', '('], '--grep "(" is no regular expression: unterminated group.'],
    [['events', '--include', ''], '--include "" names no event.'],
    [['ls', 'extra'], 'ls takes no "extra".'],
    [['read'], 'read needs <pane>.'],
    [
      ['read', 'x', '-i'],
      '-i says how --grep matches, and there is no --grep. Say what to look for: poly read x',
    ],
    [['read', 'x', '--tial', '3'], 'Did you mean --tail?'],
    [['read', 'x', '--tail', '3', '--since', '4'], 'say either --tail or --since.'],
    [['action', 'pane:new', '--colls', '3'], 'Did you mean --cols?'],
    [['action', 'pane:new', '--cols', 'wide'], '--cols takes a whole number, not "wide".'],
    [['action', 'pane:new', '--argv', 'ls', '--body', '{}'], 'cannot stand beside it'],
    [['action', 'pane:new', '--body', '{'], '--body is not JSON'],
    [['emit', 'x', '--a', '1', '--body', '{}'], 'cannot stand beside it'],
    [['action'], 'action needs <name>.'],
    [['completion', 'tcsh'], 'there is no completion for "tcsh".'],
  ])('refuses %j with exit code 2', async (args, message) => {
    const { code, stderr } = await ground.run(args);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it.each([
    ['load', 'none.yaml', undefined, /^poly: There is no file .*none\.yaml\. Check the path; /],
    ['load', '.', undefined, /^poly: The folder .* holds none of .*\. Name the file itself\.\n$/],
    ['load', 'text.yaml', 'hello', /"hello" is no session\. It needs a session_name and windows: /],
    ['plan', 'empty.yaml', '', /empty\.yaml declares no session: it is empty\. It needs a session_name/],
    ['plan', 'half.yaml', 'windows: [', /^poly: half\.yaml:1:\d+: .* Correct that place of the file\.\n$/],
    [
      'plan',
      'typo.yaml',
      'session_name: x\nwindos: []',
      /windows: is missing; there is "windos"\. It needs a session_name/,
    ],
    ['import', 'none.yml', undefined, /^poly: there is no file none\.yml\. Check the path\.\n$/],
    ['import', '.', undefined, /^poly: \. is a folder\. Name a file in it\.\n$/],
    [
      'import',
      'ours.yml',
      'session_name: x\nwindows: [{ panes: [top] }]',
      /^poly: ours\.yml is in the format of tmuxp already\. Use it as it is: poly workspace load ours\.yml\n$/,
    ],
    ['import', 'text.yml', 'hello', /"hello" is no project\. Give a file of tmuxinator or teamocil; /],
  ])('says why it can do workspace %s with %s not, and what to do', async (verb, file, text, said) => {
    if (text !== undefined) writeFileSync(join(ground.home, file), text);
    const socket = verb === 'import' ? [] : ['--socket-path', join(ground.home, 'none.sock')];
    expect((await ground.run(['workspace', verb, file, ...socket])).stderr).toMatch(said);
  });

  it('refuses a name of a tmux server that is a path', async () => {
    const { code, stderr } = await ground.run(['workspace', 'freeze', '--socket-name', 'a/b']);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/a socket name is a name, not a path\.\n$/)]);
  });

  it('says of a folder that cannot be made that it cannot', async () => {
    const { code, stderr } = await ground.run(['ext', 'init', '/proc/nope']);
    expect([code, stderr]).toEqual([
      4,
      expect.stringMatching(/^poly: the folder \/proc\/nope cannot be made: .* Name another folder\.\n$/),
    ]);
  });

  it('says that a folder is not there before it asks anybody for it', async () => {
    const { code, stderr } = await ground.run(['ext', 'install', './nope']);
    expect([code, stderr.startsWith('poly: there is no folder ./nope. ')]).toEqual([3, true]);
  });

  it('looks at everything without a hub, and ends as every command without one', async () => {
    const { code, stdout } = await ground.run(['doctor']);
    expect(code).toBe(6);
    expect(stdout).toContain('hub: Start it with: poly up');
    expect(stdout).not.toContain('gauges');
    expect((await ground.run(['doctor', '--json'])).stdout).toContain('"gauges"');
  });

  it('keeps its files where the hub keeps them', () => {
    for (const env of [{ HOME: '/h' }, { POLY_HOME: 'x/y' }, { HOME: '/h', POLY_HOME: '/p' }, {}])
      expect(homeOf(env)).toBe(placesOf(env).home);
  });
});

describe('the command line and its hub', () => {
  it('gives a program the environment of the command, but nothing of its terminal', async () => {
    const hub = await standIn({
      '/action/pane:new': { body: pane('x') },
      '/action/agent:create': { body: pane('y') },
    });
    const env = {
      API_KEY: 'k',
      VIRTUAL_ENV: '/venv',
      TERM: 'vt52',
      TERM_PROGRAM: 'x',
      COLORTERM: 'truecolor',
      COLUMNS: '7',
      TMUX: '/s,1,0',
      TMUX_PANE: '%0',
      POLY_PANE: 'p',
      SSH_TTY: '/dev/pts/9',
    };
    await ground.run(['run', '--env', 'VIRTUAL_ENV=/other', '--', 'sh'], { env });
    await ground.run(['agent', 'create', 'claude'], { env });
    const [run, agent] = hub.asked.map(({ body }) => (body as { env: Record<string, string> }).env);
    expect(run).toMatchObject({ API_KEY: 'k', VIRTUAL_ENV: '/other', PATH: ground.env.PATH });
    expect(agent).toMatchObject({ API_KEY: 'k', VIRTUAL_ENV: '/venv' });
    expect(
      Object.keys(run ?? {}).filter((name) => /^(POLY_|TMUX|TERM|COLORTERM|COLUMNS|SSH_TTY|PWD)/.test(name)),
    ).toEqual([]);
  });

  it('says what is wrong in the words that were typed', async () => {
    const refuse = (code: string, more: object) => ({ status: 400, body: { error: { code, ...more } } });
    await standIn({
      '/action/pane:new': (body) =>
        (body as { id?: string }).id === undefined
          ? refuse('spawn_failed', { message: 'There is no program "echo hi; ls".' })
          : refuse('invalid_arguments', {
              message: 'pane:new: id: must be 1-64 letters',
              hint: 'poly action pane:new --help shows what it takes.',
              details: [{ path: ['id'], code: 'x', message: 'must be 1-64 letters' }],
            }),
      '/action/pane:keys': refuse('invalid_arguments', {
        message: '"hello" is no key.',
        hint: 'One character. Text is typed with pane:write.',
      }),
    });
    const said = async (...args: string[]) => (await ground.run(args)).stderr;
    expect(await said('run', '--name', 'a b', '--', 'sh')).toBe('poly: --name must be 1-64 letters.\n');
    expect(await said('run', 'echo hi; ls')).toBe(
      `poly: There is no program "echo hi; ls". For a shell line: poly run -- sh -c '…'\n`,
    );
    expect(await said('keys', 'x', 'hello')).toBe(
      'poly: "hello" is no key. One character. Type text with: poly send\n',
    );
  });

  it('pastes several lines at once where pastes are known, and presses Enter apart', async () => {
    let bracketedPaste: boolean | undefined = true;
    const hub = await standIn({
      '/action/pane:screen': () => ({ body: { lines: [], bracketedPaste } }),
      '/action/pane:write': { body: { bytes: 1 } },
    });
    const written = async (args: readonly string[], input?: string) => {
      hub.asked.length = 0;
      await ground.run(['send', 'x', ...args], input === undefined ? {} : { input });
      return hub.asked
        .filter(({ url }) => url === '/action/pane:write')
        .map(({ body }) => body as { data: string; enter: boolean })
        .map(({ data, enter }) => [data, enter]);
    };
    const paste = '\x1b[200~one\rtwo\x1b[201~';
    expect(await written(['one\ntwo'])).toEqual([
      [paste, false],
      ['', true],
    ]);
    expect(await written(['-', '--no-enter'], 'o\x1b[201~ne\ntwo\n')).toEqual([[paste, false]]);
    // Taking one mark out must not join the halves of another, and its 8-bit form is one too.
    expect(await written(['-', '--no-enter'], 'o\x1b[20\x1b[201~1~ne\ntw\u009b201~o\n')).toEqual([
      [paste, false],
    ]);
    expect(await written(['one'])).toEqual([['one', true]]);
    bracketedPaste = undefined;
    expect(await written(['one\ntwo'])).toEqual([['one\ntwo', true]]);
  });

  it('lists agents, those that wait for somebody first, also of a hub that has no list of them', async () => {
    const agents = [
      { id: 'a', vendor: 'codex', status: 'idle', title: 'one' },
      { id: 'd', vendor: 'gemini', status: 'done', title: 'three' },
      {
        ...{ id: 'b', vendor: 'claude', status: 'blocked', title: 'two', evidence: 'Proceed?' },
        since: new Date(Date.now() - 7_500_000).toISOString(),
        reason: { kind: 'permission', tool: 'Bash', input: '{"command":"rm -rf build"}' },
      },
    ];
    const hub = await standIn({ '/action/agent:list': { body: agents } });
    const rows = async () =>
      (await ground.ok('agent', 'list')).split('\n').map((line) => line.replace(/ +/g, ' '));
    expect(await rows()).toEqual([
      'b blocked 2h claude permission: Bash rm -rf build',
      'd done gemini three',
      'a idle codex one',
      '',
    ]);
    await hub.close();
    opened.splice(0);
    const meta = { 'agent.status': 'running', 'agent.runtime': 'gemini' };
    await standIn({ '/action/pane:list': { body: [pane('p'), pane('c', { meta })] } });
    expect(await rows()).toEqual(['c running gemini sh', '']);
  });

  it('says how far a message got, and what to do about it', async () => {
    let delivery: object = {};
    const hub = await standIn({
      '/action/agent:message': () => ({ body: { door: 'terminal', ...delivery } }),
    });
    const told = async (given: object) => {
      delivery = given;
      const { code, stdout } = await ground.run(['agent', 'message', 'x', '-'], { input: 'two\nlines' });
      return [code, stdout.trim()];
    };
    expect(await told({ state: 'written', reason: 'it works' })).toEqual([0, 'Typed into x; it works']);
    expect(await told({ state: 'failed', reason: 'it shows no place for text: blank' })).toEqual([
      1,
      'Not sent: x shows no input line now. Look: poly attach x',
    ]);
    expect(await told({ state: 'failed', reason: 'it waits for an answer (trust): Trust it?' })).toEqual([
      1,
      'Not sent: x asks something first ("Trust it?"). Answer it: poly attach x',
    ]);
    expect(hub.asked.at(-1)?.body).toEqual({ paneId: 'x', text: 'two\nlines' });
    expect(await told({ state: 'failed', reason: 'zsh would run the message as a command' })).toEqual([
      1,
      'Not sent: x runs zsh, no agent, which would run it as a command. If that is wanted: poly send x …',
    ]);
    await ground.run(['agent', 'message', 'x', 'hi', '--timeout', '2m']);
    expect(hub.asked.at(-1)?.body).toEqual({ paneId: 'x', text: 'hi', timeoutMs: 120_000 });
  });

  it('says of a pane that was silent all the time that it has said nothing either', async () => {
    await standIn({ '/action/pane:wait': { body: { reason: 'timeout', next: 0 } } });
    const { code, stderr } = await ground.run(['wait', 'x', '--idle', '500', '--timeout', '10ms']);
    expect([code, stderr]).toEqual([
      5,
      'poly: 10ms have passed, and x has not printed something and then been silent for 500ms.\n',
    ]);
  });

  it('waits for as long as is said, in the unit that is said', async () => {
    const hub = await standIn({ '/action/pane:wait': { body: { reason: 'idle', next: 0 } } });
    for (const [idle, timeout] of [
      ['500', '60'],
      ['500ms', '1m'],
    ]) {
      await ground.ok('wait', 'x', '--idle', idle ?? '', '--timeout', timeout ?? '');
      expect(hub.asked.at(-1)?.body).toMatchObject({
        idleMs: 500,
        timeoutMs: expect.toSatisfy((ms: number) => ms > 30_000 && ms <= 60_000),
      });
    }
    const help = await ground.ok('wait', '--help');
    expect(help).toMatch(/--idle MS .* In milliseconds, or as 500ms, 5s, 2m\./);
    expect(help).toMatch(/--timeout S .* In seconds, or as 500ms, 5s, 2m\./);
  });

  it('prints every match that is kept, in its order, and answers as grep does', async () => {
    const lines = Array.from({ length: 2500 }, (_, index) => ({ n: index + 1, text: `hit ${index + 1}` }));
    let complete = true;
    await standIn({
      '/action/pane:read': { body: { lines: [{ n: 2498, text: 'x' }] } },
      '/action/pane:search': (body) => {
        const { pattern, limit, before = 2501 } = body as { pattern: string; limit: number; before?: number };
        const older = pattern === 'hit' ? lines.slice(0, before - 1).reverse() : [];
        return { body: { matches: older.slice(0, limit), more: older.length > limit, complete } };
      },
    });
    expect((await ground.ok('read', 'x', '--grep', 'hit')).trimEnd().split('\n')).toEqual(
      lines.map(({ text }) => text),
    );
    expect(await ground.ok('read', 'x', '--grep', 'hit', '--tail', '2')).toBe('hit 2499\nhit 2500\n');
    expect(await ground.ok('read', 'x', '--grep', 'hit', '-n', '2')).toBe('hit 2499\nhit 2500\n');
    expect(await ground.ok('read', 'x', '--grep', 'hit', '--since', '9')).toBe(
      'hit 2498\nhit 2499\nhit 2500\n',
    );
    expect(await ground.json('read', 'x', '--grep', 'hit', '--tail', '1')).toEqual({
      matches: [{ n: 2500, text: 'hit 2500' }],
      complete: true,
    });
    expect(await ground.run(['read', 'x', '--grep', 'miss'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: '',
    });
    expect(await ground.run(['read', 'x', '--grep', 'hit', '--tail', '0'])).toMatchObject({
      code: 1,
      stdout: '',
    });
    complete = false;
    const cut = await ground.run(['read', 'x', '--grep', 'hit', '--tail', '1']);
    expect(cut).toMatchObject({ code: 5, stdout: 'hit 2500\n' });
    expect(cut.stderr).toContain('took too long');
  });

  // A device of Linux, where CI runs it.
  it.skipIf(process.platform !== 'linux')('says why its output is lost', async () => {
    await standIn({ '/action/pane:list': { body: [pane('pty_1')] } });
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [ground.program, 'ls'], {
      env: ground.env,
      stdio: ['ignore', full, 'pipe'],
    });
    closeSync(full);
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk));
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(1);
    expect(said).toMatch(/^poly: the output cannot be written: .*ENOSPC.*\n$/);
  });

  it('backs up onto no file that is there, unless told to', async () => {
    const hub = await standIn({ '/action/server:backup': { body: { file: 'f', bytes: 1 } } });
    const file = join(ground.home, 'there.db');
    writeFileSync(file, '');
    const { code, stderr } = await ground.run(['backup', file]);
    expect([code, stderr]).toEqual([4, `poly: ${file} is there already. Say --force to replace it.\n`]);
    const said = async (...args: string[]) => (await ground.run(['backup', ...args])).stderr;
    expect(await said(ground.home, '--force')).toBe(`poly: ${ground.home} is a folder. Name a file in it.\n`);
    expect(await said('no/such.db')).toBe('poly: there is no folder no. Make it first: mkdir -p no\n');
    expect(await said('there.db/x.db')).toBe('poly: there.db/x.db: there.db is no folder. Check the path.\n');
    expect(hub.asked).toHaveLength(0);
    await ground.ok('backup', file, '--force');
    expect(hub.asked).toHaveLength(1);
  });

  it('loads nothing but Node for the daily commands', async () => {
    await standIn({ '/action/pane:list': { body: [] } });
    const hook = join(ground.home, 'hook.cjs');
    writeFileSync(
      hook,
      `const M = require('node:module'); const load = M._load;
       M._load = function (name, ...rest) { process.stderr.write('load ' + name + '\\n'); return load.call(this, name, ...rest); };`,
    );
    const { stderr } = await ground.run(['ls'], { env: { NODE_OPTIONS: `--require ${hook}` } });
    const loaded = [...stderr.matchAll(/^load (.*)$/gm)]
      .map(([, name]) => name)
      .filter((name) => !name?.endsWith('.cjs'));
    expect([...new Set(loaded)].sort()).toEqual(
      ['fs', 'module', 'net', 'os', 'path', 'util'].map((name) => `node:${name}`),
    );
  });

  it('shows its token to no socket in a folder that others can enter', async () => {
    const hub = await standIn({ '/action/pane:list': { body: [] } }, 0o755);
    const { code, stderr } = await ground.run(['ls']);
    expect(code).toBe(4);
    expect(stderr).toContain('is not yours alone');
    expect(stderr).toContain('chmod 700');
    expect(hub.asked).toEqual([]);
  });

  it('uses the token and the socket of the pane it runs in', async () => {
    const hub = await standIn({ '/action/pane:list': { body: [] } });
    const socket = join(ground.home, '.poly', 'run', 'hub.sock');
    await ground.run(['ls'], {
      env: { POLY_HOME: '/nowhere', POLY_TOKEN: 'panes-token', POLY_SOCKET: socket },
    });
    expect(hub.asked.map(({ token }) => token)).toEqual(['Bearer panes-token']);
  });

  it("finds the hub again when the pane's socket is gone, and stays that pane", async () => {
    const hub = await standIn({ '/action/pane:list': { body: [] } });
    const gone = join(ground.home, '.poly', 'run', 'gone.sock');
    const { code } = await ground.run(['ls', '--json'], {
      env: { POLY_TOKEN: 'panes-token', POLY_SOCKET: gone },
    });
    expect(code).toBe(0);
    expect(hub.asked.map(({ token }) => token)).toEqual(['Bearer panes-token']);
  });

  it('refuses a token that would break out of its header', async () => {
    const hub = await standIn({ '/action/pane:list': { body: [] } });
    const { code } = await ground.run(['ls'], { env: { POLY_TOKEN: 'x\r\nx-poly-pane: y' } });
    expect(code).toBe(4);
    expect(hub.asked).toEqual([]);
  });

  it('ends with the exit code of the error the hub answers', async () => {
    const cases = [
      ['invalid_arguments', 400, 2],
      ['not_found', 404, 3],
      ['forbidden', 403, 4],
      ['timed_out', 408, 5],
      ['stopping', 503, 6],
      ['action_failed', 500, 1],
    ] as const;
    for (const [code, status, exit] of cases) {
      const hub = await standIn({
        '/action/session:stop': { status, body: { error: { code, message: 'why.', hint: 'do.' } } },
      });
      const { code: ended, stderr } = await ground.run(['session', 'stop', '--json']);
      expect([code, ended]).toEqual([code, exit]);
      expect(JSON.parse(stderr)).toEqual({ error: { code, message: 'why.', hint: 'do.' } });
      await hub.close();
      opened.splice(0);
    }
  });

  it('takes the beginning of an id, and names the candidates when there are several', async () => {
    const panes = [pane('pty_aa11'), pane('pty_aa22'), pane('pty_b')];
    const hub = await standIn({
      '/action/pane:list': { body: panes },
      '/action/pane:screen': (body) =>
        panes.some(({ id }) => id === (body as { paneId: string }).paneId)
          ? { body: { lines: ['here'], rows: 1, cols: 4 } }
          : { status: 404, body: { error: { code: 'not_found', message: 'there is no such pane.' } } },
    });
    expect(await ground.ok('screen', 'pty_b')).toBe('here\n');
    expect(hub.asked).toHaveLength(1);
    expect(await ground.ok('screen', 'pty_aa1')).toBe('here\n');
    const { code, stderr } = await ground.run(['screen', 'pty_aa']);
    expect([code, stderr]).toEqual([
      2,
      'poly: "pty_aa" may be any of pty_aa11, pty_aa22. Say more of the id.\n',
    ]);
    expect((await ground.run(['screen', 'zzz'])).code).toBe(3);
  });

  it('knows the flags of an action of an extension from the hub that runs', async () => {
    const params = {
      type: 'object',
      properties: { count: { type: 'integer', description: 'How many.' }, loud: { type: 'boolean' } },
      required: ['count'],
    };
    const hub = await standIn({
      '/actions': {
        body: [{ name: 'demo:hello', summary: 'Greets.', scope: 'extensions:run', effect: 'read', params }],
      },
      '/action/demo:hello': { body: { said: 'hi' } },
    });
    expect(await ground.json('action', 'demo:hello', '--count', '3', '--loud')).toEqual({ said: 'hi' });
    expect(hub.asked.at(-1)?.body).toEqual({ count: 3, loud: true });
    expect(await ground.ok('action', 'demo:hello', '--help')).toContain('--count N  How many. (needed)');
    const { code, stderr } = await ground.run(['action', 'demo:helo']);
    expect([code, stderr]).toEqual([3, 'poly: there is no action "demo:helo". Did you mean demo:hello?\n']);
  });

  it('prints a table for people, without what a program put into its title', async () => {
    await standIn({
      '/action/pane:list': {
        body: [
          pane('pty_1', { title: '\x1b]0;x\x07evil\x1b[2J' }),
          pane('work', { title: '漢字', status: 'exited', exitCode: 3, exitSignal: null }),
          pane('well', { status: 'exited', exitCode: 0, exitSignal: null }),
          pane('pty_3', { status: 'exited', exitCode: null, exitSignal: 'SIGKILL' }),
        ],
      },
    });
    const table = await ground.ok('ls');
    expect(table).not.toContain('\x1b');
    expect(table.split('\n').map((line) => line.replace(/ +/g, ' ').replace(/\d+s$/, 'Ns'))).toEqual([
      'pty_1 ● running pty ]0;x evil [2J Ns',
      'work ✕ exited 3 pty 漢字 Ns',
      'well ✓ exited 0 pty sh Ns',
      'pty_3 ✕ exited SIGKILL pty sh Ns',
      '',
    ]);
  });

  it('paints only where colours are wanted', async () => {
    await standIn({ '/action/pane:list': { body: [pane('pty_1')] } });
    const printed = async (env: Record<string, string>) =>
      (await ground.run(['ls'], { env })).stdout.includes('\x1b[');
    expect(await printed({})).toBe(false);
    expect(await printed({ FORCE_COLOR: '1' })).toBe(true);
    expect(await printed({ FORCE_COLOR: '0' })).toBe(false);
    expect(await printed({ NO_COLOR: '1' })).toBe(false);
  });

  it('says so when the hub ends in the middle of an answer', async () => {
    const home = join(ground.home, '.poly');
    mkdirSync(home, { recursive: true, mode: 0o700 });
    const socket = join(home, 'hub.sock');
    writeFileSync(join(home, 'hub.json'), JSON.stringify({ socket }));
    writeFileSync(join(home, 'token'), 'users-token\n');
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('[', () => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    const { code, stderr } = await ground.run(['ls']);
    expect(code).toBe(6);
    expect(stderr).toContain('the hub ended before it had answered');
    server.close();
  });

  it('completes commands, flags, choices, actions and panes', async () => {
    await standIn({ '/action/pane:list': { body: [pane('pty_1'), pane('work')] }, '/actions': { body: [] } });
    const offered = async (...words: string[]) =>
      (await ground.ok('__complete', ...words)).split('\n').filter(Boolean);
    expect(await offered('se')).toEqual(['send', 'server', 'session']);
    expect(await offered('server', 'st')).toEqual(['start', 'status', 'stop']);
    expect(await offered('read', '')).toEqual(['pty_1', 'work']);
    expect(await offered('read', 'w')).toEqual(['work']);
    expect(await offered('read', 'work', '--t')).toEqual(['--tail']);
    expect(await offered('run', '--backend', '')).toEqual(['pty', 'tmux']);
    expect(await offered('completion', '')).toEqual(['bash', 'fish', 'zsh']);
  });

  it('completes a word with a colon in bash', async () => {
    const line = 'poly action pane:set';
    const script = `
      poly() { '${process.execPath}' '${ground.program}' "$@"; }
      eval "$(poly completion bash)"
      COMP_LINE='${line}' COMP_POINT=${line.length} COMP_WORDBREAKS=$' \\t\\n":'
      _poly
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await promisify(execFile)('bash', ['-c', script], { env: ground.env });
    expect(stdout.split('\n').filter(Boolean)).toEqual(['set-meta']);
  });
});
