import { describe, expect, test } from 'vitest';
import {
  detachClient,
  type Engine,
  exact,
  listClients,
  OutputTape,
  pipePane,
  Server,
  setOption,
  TmuxError,
} from '../src/index.ts';
import { demoServer, type TestServer, testBinaries } from '../src/testing/index.ts';
import { pipeWriter } from './pipe-writer.ts';

const demo = exact('demo');

describe.each(testBinaries())('waiting on %s', (binary) => {
  async function started(): Promise<{ server: TestServer; tmux: Server } & AsyncDisposable> {
    const server = await demoServer({ tmux: binary });
    return {
      server,
      tmux: new Server(server.engine(), server.connection),
      [Symbol.asyncDispose]: () => server.stop(),
    };
  }
  async function shellPane(
    tmux: Server,
  ): ReturnType<NonNullable<Awaited<ReturnType<Server['session']>>>['pane']> {
    const session = await tmux.session('demo');
    const window = await session?.newWindow({ shell: 'PS1="ready> " exec sh -i' });
    const pane = await window?.pane();
    if (!pane) throw new Error('no pane');
    await pane.waitFor({ send: () => pane.sendKeys({ keys: ['Enter'] }), pattern: /ready> / });
    return pane;
  }

  test('what is printed between sending and waiting is on the tape, for every reader, characters whole', async () => {
    await using given = await started();
    const pane = await shellPane(given.tmux);
    const session = await given.tmux.session('demo');
    await using tape = await OutputTape.open(given.tmux, session?.id ?? '$0');
    const cursor = tape.cursor(pane.id);
    await pane.sendText('printf "%s " é🎉日本; printf "\\303"; sleep 0.1; printf "\\251 done\\n"', {
      enter: true,
    });
    // It has been printed, and nobody has listened yet but the tape.
    for (;;) if ((await pane.capture()).some((line) => /^é🎉日本 é done/.test(line))) break;
    const waits = [1, 2].map(() => pane.waitFor({ source: tape.read(pane.id, cursor), settleMs: 100 }));
    for (const { reason, text, truncated } of await Promise.all(waits)) {
      expect({ reason, truncated }).toEqual({ reason: 'finished', truncated: false });
      expect(text).toContain('é🎉日本 é done\n');
    }
    const late = tape.read(pane.id);
    const next = pane.waitFor({
      source: late,
      send: () => pane.sendText('sleep 60', { enter: true }),
      settleMs: 300,
    });
    expect(await next).toMatchObject({ reason: 'silent' });
    expect(late.position).toBe(tape.cursor(pane.id));
  });

  test('a tape says when what was asked for is no longer on it', async () => {
    await using given = await started();
    const pane = await shellPane(given.tmux);
    const session = await given.tmux.session('demo');
    await using tape = await OutputTape.open(given.tmux, session?.id ?? '$0', { keepBytes: 2000 });
    const cursor = tape.cursor(pane.id);
    await pane.waitFor({
      source: tape.read(pane.id),
      send: () => pane.sendText('seq 1 2000; echo the-"end"', { enter: true }),
      pattern: /the-end/,
    });
    const wait = await pane.waitFor({ source: tape.read(pane.id, cursor), settleMs: 100 });
    expect(wait.truncated).toBe(true);
    expect(wait.text).toContain('the-end');
    expect(wait.text).not.toContain('\n7\n');
    await session?.kill();
    await tape.ended;
    expect(await pane.waitFor({ source: tape.read(pane.id) })).toMatchObject({ reason: 'gone' });
  });

  test('a command that ends at once is heard whole, with its exit status', async () => {
    await using given = await started();
    for (let i = 0; i < 5; i++) {
      const result = await given.tmux.runAndWait(`echo quick-${i}; exit 7`, { target: demo });
      expect(result).toMatchObject({ reason: 'exited', exit: { status: 7, signal: null } });
      expect(result.text).toContain(`quick-${i}\n`);
    }
  });

  test('a command that is killed reports the signal', async () => {
    await using given = await started();
    const result = await given.tmux.runAndWait('kill -9 $$', { target: demo });
    expect(result).toMatchObject({ reason: 'exited', exit: { signal: 9 } });
  });

  test('the window of a finished command is closed, or kept when asked', async () => {
    await using given = await started();
    const before = (await given.tmux.snapshot()).sessions.flatMap((session) => session.windows).length;
    await given.tmux.runAndWait('true', { target: demo });
    await given.tmux.runAndWait('true', { target: demo, keep: true });
    expect((await given.tmux.snapshot()).sessions.flatMap((session) => session.windows)).toHaveLength(
      before + 1,
    );
  });

  test('ends on a pattern printed after the wait began', async () => {
    await using given = await started();
    const pane = await shellPane(given.tmux);
    const result = await pane.waitFor({
      send: () => pane.sendText('echo "<$((20 + 22))>"', { enter: true }),
      pattern: /<(\d+)>/,
    });
    expect(result.reason).toBe('pattern');
    expect(result.match?.[1]).toBe('42');
  });

  test('tells a command that is silent from one that has finished', async () => {
    await using given = await started();
    const pane = await shellPane(given.tmux);
    const silent = await pane.waitFor({
      send: () => pane.sendText('sleep 600', { enter: true }),
      settleMs: 300,
    });
    expect(silent.reason).toBe('silent');
    await pane.waitFor({ send: () => pane.sendKeys({ keys: ['C-c'] }), pattern: /ready> / });
    const finished = await pane.waitFor({
      send: () => pane.sendText('sleep 1; echo late', { enter: true }),
      settleMs: 600,
      whileRunning: true,
    });
    expect(finished.reason).toBe('finished');
    expect(finished.text).toMatch(/^late$/m);
  });

  test('has finished only when what was printed last is heard too, though it comes late', async () => {
    await using given = await started();
    const pane = await shellPane(given.tmux);
    const pipe = await pane.pipe();
    async function* late(): AsyncGenerator<Buffer> {
      for await (const chunk of pipe) {
        await new Promise((resolve) => setTimeout(resolve, 200));
        yield chunk;
      }
    }
    const result = await pane.waitFor({
      source: Object.assign(late(), {
        finish: (signal: AbortSignal) => pipe.finish(signal),
        [Symbol.asyncDispose]: () => pipe.close(),
      }),
      send: () => pane.sendText('sleep 2; echo late', { enter: true }),
      settleMs: 1_000,
      whileRunning: true,
    });
    expect(result.reason).toBe('finished');
    expect(result.text).toMatch(/^late$/m);
  });

  test('ends when the pane is killed, when aborted, at the byte limit and at the timeout', async () => {
    await using given = await started();
    const pane = await shellPane(given.tmux);
    const timeout = await pane.waitFor({ pattern: /never/, timeoutMs: 60 });
    expect(timeout.reason).toBe('timeout');
    const bytes = await pane.waitFor({ send: () => pane.sendText('yes', { enter: true }), maxBytes: 10_000 });
    expect(bytes.reason).toBe('bytes');
    await pane.sendKeys({ keys: ['C-c'] });
    const aborting = new AbortController();
    const aborted = pane.waitFor({
      send: async () => aborting.abort(),
      pattern: /never/,
      signal: aborting.signal,
    });
    expect((await aborted).reason).toBe('aborted');
    expect((await pane.waitFor({ send: () => pane.kill(), pattern: /never/ })).reason).toBe('gone');
  });

  test('is not prolonged by a neighbour that keeps printing', async () => {
    await using given = await started();
    const pane = await shellPane(given.tmux);
    const neighbour = await pane.split({ shell: 'while :; do echo noise; sleep 0.05; done' });
    const result = await pane.waitFor({
      send: () => pane.sendText('echo mine', { enter: true }),
      settleMs: 400,
    });
    expect(result.reason).toBe('finished');
    expect(result.text).not.toContain('noise');
    await neighbour.kill();
  });

  test('hears a pane that somebody else has piped', async () => {
    await using given = await started();
    const pane = await shellPane(given.tmux);
    await using theirs = await pane.pipe();
    const result = await pane.waitFor({
      send: () => pane.sendText('echo "<$((20 + 22))>"', { enter: true }),
      pattern: /<42>/,
    });
    expect(result.reason).toBe('pattern');
    expect(theirs.paneId).toBe(pane.id);
  });

  test('says that something may be missing when its connection was lost meanwhile', async () => {
    await using given = await started();
    const tmux = new Server(given.server.engine('subprocess'), given.server.connection);
    const pane = await shellPane(tmux);
    await using theirs = await pane.pipe();
    const listening = async (): Promise<readonly string[]> =>
      (await tmux.run(listClients())).filter((client) => client.controlMode).map(({ name }) => name);
    const result = await pane.waitFor({
      send: async () => {
        const [first = ''] = await listening();
        await tmux.run(detachClient({ target: { client: first } }));
        await expect.poll(async () => (await listening()).some((name) => name !== first)).toBe(true);
        await pane.sendText('echo "<$((20 + 22))>"', { enter: true });
      },
      pattern: /<42>/,
    });
    expect(result).toMatchObject({ reason: 'pattern', truncated: true });
    expect(theirs.paneId).toBe(pane.id);
  });

  test('says that a pane which lives can no longer be followed, where somebody else ended its pipe', async () => {
    await using given = await started();
    const pane = await shellPane(given.tmux);
    const send = (): Promise<unknown> => given.tmux.run(pipePane({ target: pane.id }));
    expect(await pane.waitFor({ send })).toMatchObject({ reason: 'lost', exit: null });
  });

  test('of a pane that is dead or gone is answered at once, and nothing is sent', async () => {
    await using given = await started();
    const pane = await shellPane(given.tmux);
    await given.tmux.run(setOption({ target: pane.id, pane: true, option: 'remain-on-exit', value: 'on' }));
    await pane.waitFor({ send: () => pane.respawn({ kill: true, shell: 'exit 3' }) });
    let sent = 0;
    const send = async (): Promise<void> => void sent++;
    expect(await pane.waitFor({ send })).toMatchObject({
      reason: 'exited',
      text: '',
      exit: { status: 3, signal: null },
    });
    await pane.kill();
    expect(await pane.waitFor({ send })).toMatchObject({ reason: 'gone', exit: null });
    expect(sent).toBe(0);
  });

  test('is an error when the server is gone, and not only the pane', async () => {
    for (const engine of ['control', 'subprocess', 'imsg'] as const) {
      await using given = await started();
      const tmux = new Server(given.server.engine(engine), given.server.connection);
      const pane = await shellPane(tmux);
      const killed = given.server.engine('subprocess');
      const waiting = pane.waitFor({ send: () => killed.run({ argv: ['kill-server'] }), pattern: /never/ });
      await expect(waiting, engine).rejects.toMatchObject({ code: 'no_server' });
      await expect(pane.waitFor({ pattern: /never/ }), engine).rejects.toMatchObject({ code: 'no_server' });
      const command = tmux.runAndWait('true', { target: demo });
      await expect(command, engine).rejects.toMatchObject({ code: 'no_server' });
    }
  });

  test('does not outlast its time when the last words of a dead pane never come', async () => {
    await using given = await started();
    const pane = await shellPane(given.tmux);
    await given.tmux.run(setOption({ target: pane.id, pane: true, option: 'remain-on-exit', value: 'on' }));
    // A shell might draw its prompt anew.
    await pane.respawn({ kill: true, shell: 'exec sleep 600' });
    const result = await pane.waitFor({
      send: async () => {
        process.kill(await pipeWriter(given.server), 'SIGSTOP');
        await pane.respawn({ kill: true, shell: 'echo unheard; exit 3' });
      },
      timeoutMs: 1_500,
    });
    expect(result).toMatchObject({ reason: 'timeout', text: '' });
  });

  test('keeps the answer of a command, or the error of its wait, when its window cannot be closed', async () => {
    await using given = await started();
    const engine = given.server.engine();
    const failing: Engine = {
      name: engine.name,
      ordered: engine.ordered,
      version: () => engine.version(),
      runChain: (commands, options) => engine.runChain(commands, options),
      close: () => engine.close(),
      run: (command, options) =>
        command.argv[0] === 'kill-pane'
          ? Promise.reject(new TmuxError('connection_lost', 'lost on the way'))
          : command.argv.some((word) => word.includes('refuse-me'))
            ? Promise.reject(new TmuxError('timed_out', 'the first error'))
            : engine.run(command, options),
    };
    const tmux = new Server(failing, given.server.connection);
    expect(await tmux.runAndWait('exit 7', { target: demo })).toMatchObject({ exit: { status: 7 } });
    await expect(tmux.runAndWait('refuse-me', { target: demo })).rejects.toMatchObject({ code: 'timed_out' });
  });
});
