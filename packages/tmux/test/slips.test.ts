import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  chain,
  createEngine,
  exact,
  execute,
  killPane,
  killSession,
  killWindow,
  LazyServer,
  listSessions,
  newSession,
  operations,
  Plan,
  planFromJSON,
  refreshClient,
  renameWindow,
  resizePane,
  Server,
  sendKeys,
  setOption,
  splitWindow,
  TmuxError,
} from '../src/index.ts';
import { demoServer, startTestServer } from '../src/testing/index.ts';
import {
  freezeWorkspace,
  importTeamocil,
  importTmuxinator,
  loadWorkspace,
  parseWorkspace,
} from '../src/workspace/index.ts';

/** Slips of the pen that must never reach somebody's server. */
test.each(['work', 'work:1', '=work', '', '%-1', '%1x'])(
  'the target %j is refused with what to give instead',
  (target) => {
    expect(() => killPane({ target } as never)).toThrow(
      `kill_pane: target: ${JSON.stringify(target)} is no target: give an id`,
    );
  },
);

test.each(['0%', '101%', '-5%', '5'])('the size %j is refused', (size) => {
  expect(() => splitWindow({ target: '%0', size } as never)).toThrow(
    expect.objectContaining({ code: 'invalid_parameters' }),
  );
});

test('a misspelt connection option is refused, and never means the default server', () => {
  expect(() => createEngine('control', { socket: 'x' } as never)).toThrow(/no connection options: .*socket/);
  expect(() => Server.connect('work' as never)).toThrow(/no connection options/);
  expect(() => resizePane({ target: '%0', widht: 1 } as never)).toThrow(/widht/);
});

test('a server in memory never listens to a real one', async () => {
  await expect(Server.connect({}, 'memory').events()).rejects.toMatchObject({ code: 'invalid_parameters' });
});

test('a file that stands where the socket is said to be survives', async () => {
  await using server = await startTestServer();
  const file = join(server.directory, 'precious');
  await writeFile(file, 'kept');
  for (const name of ['control', 'subprocess', 'imsg'] as const) {
    const engine = createEngine(name, { ...server.connection, socketPath: file });
    await expect(engine.run({ argv: ['new-session', '-d'] })).rejects.toMatchObject({
      code: 'invalid_parameters',
    });
    await engine.close();
  }
  expect(await readFile(file, 'utf8')).toBe('kept');
});

test('a socket where nothing can be is a refusal of tmux, in its words', async () => {
  await using server = await startTestServer();
  const file = join(server.directory, 'file');
  await writeFile(file, '');
  for (const name of ['control', 'subprocess', 'imsg'] as const) {
    const engine = createEngine(name, { ...server.connection, socketPath: join(file, 'socket') });
    expect(await engine.run({ argv: ['list-sessions'] }), name).toMatchObject({
      status: 'failed',
      stderr: expect.stringContaining('Not a directory'),
    });
    await engine.close();
  }
});

test('a tmux that is too old is refused with its version, and asked for nothing but that', async () => {
  await using server = await startTestServer();
  const old = join(server.directory, 'old-tmux');
  const asked = join(server.directory, 'asked');
  const answer = `case " $* " in
    *" -V "*) echo tmux 3.1c;;
    *" list-sessions "*) echo '$0 off 0 3.1c';;
    *) echo 3.1c;;
  esac`;
  await writeFile(old, `#!/bin/sh\necho "$*" >> ${asked}\n${answer}\n`, { mode: 0o755 });
  const refused = {
    code: 'version_unsupported',
    message: expect.stringMatching(/^(Every operation|A connection) needs tmux 3\.2; .* 3\.1c\.$/),
    hint: 'Use a newer tmux, or do without.',
  };
  for (const name of ['control', 'subprocess', 'imsg'] as const) {
    const server = Server.connect({ ...demo.connection, socketPath: `${old}-socket`, tmux: old }, name);
    await expect(server.newSession({ name: 'never' }), name).rejects.toMatchObject(refused);
    await expect(server.snapshot(), name).rejects.toMatchObject(refused);
    await expect(server.events(), name).rejects.toMatchObject(refused);
    await server.close();
  }
  expect(await readFile(asked, 'utf8')).not.toMatch(/new-session|attach-session|list-panes/);
});

test('a tmux by another name is tmux, and another program is not', async () => {
  await using server = await startTestServer();
  const program = async (name: string, said: string): Promise<string> => {
    const path = join(server.directory, name);
    await writeFile(path, `#!/bin/sh\necho '${said}'\n`, { mode: 0o755 });
    return path;
  };
  for (const [name, said, version] of [
    ['tmux-2.9', 'tmux-2.9 3.3a', '3.3a'], // tmux 3.3a names itself by its file.
    ['own', 'own next-3.4', '3.4'],
    ['tmux', 'tmux master', 'master'],
  ] as const) {
    const engine = createEngine('subprocess', { ...server.connection, tmux: await program(name, said) });
    expect((await engine.version()).text, said).toBe(version);
  }
  for (const [name, said] of [
    ['curl', 'curl 7.88.1 (x86_64-pc-linux-gnu) libcurl/7.88.1'],
    ['python3', 'Python 3.11'],
  ] as const) {
    const engine = createEngine('subprocess', { ...server.connection, tmux: await program(name, said) });
    await expect(engine.version(), said).rejects.toMatchObject({ code: 'missing_binary' });
  }
});

test('an unknown wish for an existing session touches nothing', async () => {
  await using server = await demoServer();
  const engine = server.engine();
  const before = await engine.run({ argv: ['list-sessions', '-F', '#{session_id} #{session_name}'] });
  const workspace = { session_name: 'demo', windows: [{ panes: ['true'] }] };
  await expect(loadWorkspace(engine, workspace, { onExists: 'attach' as never })).rejects.toThrow(
    /error, replace, reuse/,
  );
  await expect(loadWorkspace(engine, undefined as never)).rejects.toMatchObject({
    code: 'invalid_workspace',
  });
  expect(await engine.run({ argv: ['list-sessions', '-F', '#{session_id} #{session_name}'] })).toEqual(
    before,
  );
});

let demo: Awaited<ReturnType<typeof demoServer>>;
let server: Server;
beforeAll(async () => {
  demo = await demoServer();
  server = new Server(demo.engine(), demo.connection);
});
afterAll(() => demo[Symbol.asyncDispose]());

// biome-ignore lint/suspicious/noExplicitAny: what a caller without types may give
type Anything = any;
const pane = async (): Promise<Anything> => (await (await server.sessions())[0]?.newWindow())?.pane();
const slot = (): Anything => new Plan().add(newSession());
const untyped: Anything = { server: () => server, chain, importTmuxinator, parseWorkspace };
const workspace = { session_name: 'slip', windows: [{ panes: ['true'] }] };

/** What somebody does on the first day, and what the error must say. */
const slips: readonly [slip: string, make: () => unknown, said: RegExp][] = [
  ['a handle as a target', async () => killPane({ target: await pane() }), /Pane .* is no target: give its \.id/],
  ['an { id } as a target', () => killPane({ target: { id: '%1' } as never }), /give its \.id/],
  ['a whole slot as a target', () => killPane({ target: slot() }), /give its \.pane or \.window or \.self/],
  ['a recorded pane as a target', () => killPane({ target: new LazyServer().newSession().pane as never }), /give its \.ref/],
  ['an answer as a target', () => killPane({ target: { paneId: '%1' } as never }), /give its \.paneId/],
  ['a promise as a target', () => killPane({ target: Promise.resolve('%1') as never }), /await it first/],
  ['half a target', () => killPane({ target: { window: '@1' } as never }), /is no target: give its \.window/],
  ['an empty target', () => killPane({ target: {} as never }), /{} is no target: give an id/],
  ['a misspelt key of a target', () => killPane({ target: { session: 'a', windw: 1 } as never }), /windw; did you mean window\?/],
  ['a wrong name in a target', () => killPane({ target: { session: 'a:b' } }), /target: session: .* cannot hold ":"/],
  ['a target instead of parameters', () => killPane('%1' as never), /give an object of target, others, not "%1"/],
  ['a text instead of parameters', () => newSession('foo' as never), /give an object of name, .*, not "foo"/],
  ['a text that a method spreads', () => server.newSession('foo' as never), /give an object of name, .*, not "foo"/],
  ['a shortened parameter', () => newSession({ dir: '/' } as never), /unknown parameter dir; did you mean startDirectory\? Parameters: name, /],
  ['a misspelt parameter', () => resizePane({ target: '%0', widht: 1 } as never), /widht; did you mean width\?/],
  ['a parameter nothing is like', () => newSession({ qqq: 1 } as never), /unknown parameter qqq\. Parameters: name, /],
  ['a wrong choice', () => splitWindow({ target: '%0', direction: 'horizontal' as never }), /must be one of right, left, below, above, not "horizontal"/],
  ['one key instead of a list', () => sendKeys({ target: '%0', keys: 'ls' as never }), /keys: must be a list: \["ls"\]/],
  ['a variable of no name', () => newSession({ environment: { 'A=B': '1' } }), /environment\.A=B: not the name of a variable/],
  ['output of no pane', () => refreshClient({ target: { client: 'c' }, output: { work: 'on' } as never }), /output\.work: a pane id is % and a number/],
  ['a relative folder', () => newSession({ startDirectory: 'src' }), /absolute path, not "src"/],
  ['a size of no kind', () => splitWindow({ target: '%0', size: true as never }), /a share from '1%' to '100%', not true/],
  ['an empty session name', () => newSession({ name: '' }), /name: a session name cannot be empty\.$/],
  ['an empty window name', () => renameWindow({ target: '@0', name: '' }), /name: cannot be empty\.$/],
  ['an empty name in a target', () => exact(''), /a session name cannot be empty/],
  ['no name at all', () => server.session(undefined as never), /is missing/],
  ['an operation by its function name', () => operations.get('killPane'), /"killPane"\. Did you mean kill_pane\?/],
  ['a builder instead of an operation', () => server.run(listSessions as never), /call it, listSessions\(/],
  ['a builder in a plan', () => new Plan().add(newSession as never), /call it, newSession\(/],
  ['a list instead of operations', () => untyped.chain([killPane({ target: '%1' })]), /is no operation: give/],
  ['a server instead of an engine', () => new Plan().execute(server as never), /Server .* is no engine: give its \.engine/],
  ['no engine', () => new Plan().execute(undefined as never), /is no engine: make one/],
  ['a text instead of a plan', () => planFromJSON('{"steps":[]}'), /not a plan: give an object of steps, not "/],
  ['waiting for nothing', async () => (await pane()).waitFor(), /waitFor: give an object of send, source, pattern, .*, not undefined/],
  ['waiting for a bare pattern', async () => (await pane()).waitFor(/x/), /waitFor: give an object .*, not \/x\//],
  ['waiting with a misspelt limit', async () => (await pane()).waitFor({ timeout: 9 }), /timeout; did you mean timeoutMs\?/],
  ['waiting for a text', async () => (await pane()).waitFor({ pattern: 'x' }), /pattern: must be a regular expression .*, not "x"/],
  ['waiting for a time in words', async () => (await pane()).waitFor({ timeoutMs: '9' }), /timeoutMs: must be a number, 0 or more, not "9"/],
  ['running nothing', () => untyped.server().runAndWait(), /runAndWait: the command: is missing/],
  ['running nowhere', () => untyped.server().runAndWait('ls'), /runAndWait: give an object of .*target.*, not undefined/],
  ['running with a misspelt option', () => untyped.server().runAndWait('ls', { target: '$0', timeout: 1 }), /did you mean timeoutMs/],
  ['an unknown event', async () => subscribe({ types: ['window-added'] }), /must be one of .*, not "window-added"; did you mean window-add\?/],
  ['a misspelt subscription', async () => subscribe({ type: ['output'] }), /type; did you mean types\?/],
  ['events of a session by its name', () => server.events({ session: 'demo' as never }), /a session id is \$ and a number, not "demo"/],
  ['events of a handle', async () => server.events({ session: (await server.sessions())[0] as never }), /give its \.id/],
  ['a server instead of an engine to load with', () => loadWorkspace(server as never, workspace), /is no engine: give its \.engine/],
  ['a server instead of an engine to freeze', () => freezeWorkspace(server as never), /is no engine: give its \.engine/],
  ['a server instead of an engine to run on', () => execute(server as never, listSessions()), /is no engine: give its \.engine/],
  ['one name instead of a list', () => freezeWorkspace(demo.engine(), 'demo' as never), /must be a list: \["demo"\]/],
  ['a text instead of a file', () => loadWorkspace(demo.engine(), 'session_name: a\nwindows: []'), /text of a workspace, not its path/],
  ['a shortened connection option', () => Server.connect({ socket: 'x' } as never), /socket; did you mean socketPath\?/],
  ['a program that is not tmux', () => Server.connect({ tmux: '/bin/true', socketName: 'slips' }).sessions(), /"\/bin\/true": it is not tmux/],
  ['a workspace before its engine', () => loadWorkspace(workspace as never, demo.engine()), /give the engine first/],
  ['a path instead of a project', () => importTmuxinator('~/.tmuxinator/web.yml'), /"~\/.tmuxinator\/web.yml" is no project: give the text/],
  ['a path instead of a layout', () => importTeamocil('web.yml'), /"web.yml" is no project: give the text/],
  ['no project', () => untyped.importTmuxinator(), /give the text of the file, or the value it holds, not undefined/],
  ['a value instead of a text', () => untyped.parseWorkspace(workspace), /give the text of a file, or a value to parseWorkspaceValue/],
]; // biome-ignore format: a table

test.each(slips)('%s is refused with what to do instead', async (_, make, said) => {
  const error = await Promise.resolve().then(make).then(
    (value) => expect.unreachable(`it was accepted: ${String(value)}`),
    (cause: unknown) => cause,
  ); // biome-ignore format: both ends of one promise
  expect(error).toBeInstanceOf(TmuxError);
  expect((error as TmuxError).message).toMatch(said);
});

async function subscribe(options: Anything): Promise<void> {
  await using events = await server.events();
  events.subscribe(options);
}

/** tmux's own refusals, each with its own advice. */
const refusals: readonly [refusal: string, make: () => Promise<unknown>, hint: RegExp][] = [
  ['a pane that is gone', () => server.run(killPane({ target: '%999' })), /listPanes/],
  ['a window that is gone', () => server.run(killWindow({ target: '@999' })), /listWindows/],
  ['a session that is gone', () => server.run(killSession({ target: '$999' })), /listSessions/],
  ['events of a session that is gone', () => server.events({ session: '$999' }), /listSessions/],
  ['a session that exists', () => server.newSession({ name: 'demo' }), /another name/],
  ['an unknown option', () => server.run(setOption({ global: true, option: 'nope', value: '1' })), /showOptions/],
  ['a pane too small to split', async () => split(await server.newSession({ width: 20, height: 3 })), /resizeWindow/],
  ['what memory cannot do', () => inMemory(), /memory engine has only a part of tmux: use control/],
]; // biome-ignore format: a table

test.each(refusals)('%s is a failed command with a hint of its own', async (_, make, hint) => {
  await expect(make()).rejects.toMatchObject({ code: 'command_failed', hint: expect.stringMatching(hint) });
});

test('a refusal nobody has advice for has no hint', () => {
  expect(new TmuxError('command_failed', 'something new').hint).toBe('');
});

async function split(session: { newWindow(): Promise<{ split(): Promise<unknown> }> }): Promise<never> {
  for (const window = await session.newWindow(); ; ) await window.split();
}

async function inMemory(): Promise<void> {
  const memory = Server.connect({}, 'memory');
  await memory.newSession();
  const ifShell = operations.get('if_shell');
  await memory.run(ifShell(ifShell.spec.example));
}

test('a plan is read back with the operations of this library unless told', () => {
  const plan = new Plan();
  plan.add(killPane({ target: '%1' }));
  expect(planFromJSON(JSON.parse(JSON.stringify(plan))).toJSON()).toEqual(plan.toJSON());
});
