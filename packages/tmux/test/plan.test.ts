import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Ack,
  breakPane,
  chain,
  createEngine,
  createRegistry,
  defineOperation,
  displayMessage,
  type Engine,
  type EngineName,
  engineNames,
  execute,
  findSession,
  hasSession,
  killPane,
  newPane,
  newSession,
  newWindow,
  Plan,
  type PlannerName,
  type PlanResult,
  planFromJSON,
  planners,
  renameWindow,
  type SlotRef,
  selectPane,
  sendKeys,
  setOption,
  splitWindow,
} from '../src/index.ts';
import { ack } from '../src/operation/outcome.ts';
import { startTestServer, type TestServer, testBinaries } from '../src/testing/index.ts';

const plannerNames = Object.keys(planners) as PlannerName[];
const everyWay = engineNames.flatMap((engine) => plannerNames.map((planner) => [engine, planner] as const));

/** A fresh server for each call, so that the ids are the same whoever carries the plan. */
async function onFreshServer<T>(
  name: EngineName,
  work: (engine: Engine) => Promise<T>,
  tmux?: string,
): Promise<T> {
  if (name === 'memory') return work(createEngine('memory'));
  await using server = await startTestServer(tmux ? { tmux } : {});
  return await work(server.engine(name));
}

const noSuchCommand = defineOperation<object, Ack>({
  kind: 'no_such_command',
  scope: 'server',
  effect: 'write',
  summary: 'Nothing tmux knows.',
  params: {},
  result: ack,
  example: {},
});

const size = { width: 120, height: 40, shell: 'cat' } as const;

/** Everything a result says but the words that carry a random guard. */
function told(result: PlanResult): unknown {
  const { steps, bindings, ok, failure } = result;
  return {
    ok,
    bindings,
    failure: failure?.index,
    steps: steps.map((step) =>
      step.type === 'host'
        ? [step.status, step.value]
        : [
            step.status,
            step.result.argv,
            step.result.value,
            step.result.stderr,
            step.found,
            step.error?.message,
          ],
    ),
  };
}

function tour(): Plan {
  const plan = new Plan();
  const session = plan.ensure(findSession('work'), newSession({ name: 'work', windowName: 'one', ...size }));
  plan.add(setOption({ target: session.self, option: '@color', value: 'a;b #{x} ~ "c";' }));
  const logs = plan.add(newWindow({ target: session.self, name: 'two', shell: 'cat' }));
  const side = plan.add(splitWindow({ target: logs.pane, direction: 'right', shell: 'cat' }));
  plan.add(renameWindow({ target: logs.self, name: 'logs;' }));
  plan.add(selectPane({ target: side.self }));
  plan.host({ type: 'sleep', ms: 1 });
  plan.addChain(
    chain(
      sendKeys({ target: side.pane, keys: ['hello', ';'] }),
      renameWindow({ target: session.window, name: 'main' }),
    ),
  );
  plan.add(splitWindow({ target: session.pane, shell: 'cat' }));
  plan.add(splitWindow({ target: session.pane, shell: 'cat' }));
  plan.add(
    displayMessage({
      target: logs.pane,
      message: '#{session_name} #{window_name} #{window_panes} #{@color}',
    }),
  );
  plan.add(hasSession({ target: { session: 'wor' } }));
  const again = plan.ensure(findSession('work'), newSession({ name: 'work' }));
  plan.add(renameWindow({ target: again.window, name: 'renamed' }));
  return plan;
}

describe('a plan that succeeds', () => {
  let expected: unknown;
  beforeAll(async () => {
    expected = told(
      await onFreshServer('subprocess', (engine) => tour().execute(engine, { planner: 'sequential' })),
    );
  });

  it('creates each object once and binds its ids', () => {
    expect(expected).toMatchObject({
      ok: true,
      bindings: {
        '0:self': '$0', '0:window': '@0', '0:pane': '%0', '2:self': '@1', '2:window': '@1', '2:pane': '%1',
        '3:self': '%2', '3:pane': '%2', '9:self': '%3', '9:pane': '%3', '10:self': '%4', '10:pane': '%4',
        '13:self': '$0', '13:window': '@0', '13:pane': '%0',
      },
    }); // biome-ignore format: a table
  });

  it.each(everyWay)('gives the same results and bindings by %s, %s', async (name, planner) => {
    const result = await onFreshServer(name, (engine) => tour().execute(engine, { planner }));
    expect(told(result)).toEqual(expected);
  });
});

describe.each(testBinaries())('a plan on %s', (tmux) => {
  it.each(plannerNames)('leaves the pane alone that the user has marked, by %s', async (planner) => {
    await using server = await startTestServer({ tmux });
    const engine = server.engine();
    await execute(engine, newSession({ name: 'theirs', ...size }));
    (await execute(engine, selectPane({ target: '%0', mark: true }))).unwrap();
    (await tour().execute(engine, { planner })).raiseForStatus();
    const marked = await engine.run({ argv: ['list-panes', '-a', '-F', '#{pane_id} #{pane_marked}'] });
    expect(marked.stdout.match(/^%\d+ 1$/gm)).toEqual(['%0 1']);
  });
});

describe.each(testBinaries())('a plan that fails on %s', (tmux) => {
  function failing(): Plan {
    const plan = new Plan();
    const session = plan.add(newSession({ name: 'work', windowName: 'one', ...size }));
    plan.add(renameWindow({ target: session.window, name: 'first' }));
    plan.add(killPane({ target: '%99' }));
    plan.add(renameWindow({ target: session.window, name: 'third' }));
    plan.host({ type: 'sleep', ms: 1 });
    plan.add(renameWindow({ target: session.window, name: 'fourth' }));
    return plan;
  }
  const real = everyWay.filter(([name]) => name !== 'memory');
  const ways = tmux === 'tmux' ? everyWay : real;

  it.each(ways)('says exactly which step did, and what had happened, by %s, %s', async (name, planner) => {
    await onFreshServer(
      name,
      async (engine) => {
        const plan = failing();
        const result = await plan.execute(engine, { planner });
        const wentOn = planner === 'pipelined' && engine.ordered;
        expect(result.steps.map(({ status }) => status)).toEqual([
          'complete', 'complete', 'failed', wentOn ? 'complete' : 'skipped', 'skipped', 'skipped',
        ]); // biome-ignore format: a row
        expect(() => result.raiseForStatus()).toThrow(
          expect.objectContaining({
            code: 'command_failed',
            message: expect.stringContaining("can't find pane"),
          }),
        );
        const look = await execute(engine, displayMessage({ target: '@0', message: '#{window_name}' }));
        expect(look.unwrap().text).toBe(wentOn ? 'third' : 'first');
      },
      tmux,
    );
  });

  it.each(ways)('blames the one operation whose line does not parse, by %s, %s', async (name, planner) => {
    await onFreshServer(
      name,
      async (engine) => {
        const plan = new Plan();
        const session = plan.add(newSession({ name: 'work', windowName: 'one', ...size }));
        plan.add(renameWindow({ target: session.window, name: 'first' }));
        plan.add(noSuchCommand({}));
        plan.host({ type: 'sleep', ms: 0 });
        plan.add(renameWindow({ target: session.window, name: 'third' }));
        const result = await plan.execute(engine, { planner });
        expect(result.steps.map(({ status }) => status)).toEqual([
          'complete',
          'complete',
          'failed',
          'skipped',
          'skipped',
        ]);
        expect(() => result.raiseForStatus()).toThrow(/unknown command/);
        const look = await execute(engine, displayMessage({ target: '@0', message: '#{window_name}' }));
        expect(look.unwrap().text).toBe('first');
      },
      tmux,
    );
  });

  it.each(ways)(
    'goes on after a failure when onError says so, with the same outcome, by %s, %s',
    async (name, planner) => {
      await onFreshServer(
        name,
        async (engine) => {
          const failures: number[] = [];
          const onError = (failed: { index: number }): 'continue' => {
            failures.push(failed.index);
            return 'continue';
          };
          const result = await failing().execute(engine, { planner, onError });
          expect(result.steps.map(({ status }) => status)).toEqual([
            'complete',
            'complete',
            'failed',
            'complete',
            'complete',
            'complete',
          ]);
          expect(failures).toEqual([2]);
          const look = await execute(engine, displayMessage({ target: '@0', message: '#{window_name}' }));
          expect(look.unwrap().text).toBe('fourth');
        },
        tmux,
      );
    },
  );

  it.each(ways)('tells of a create that failed with tmux’s own text, by %s, %s', async (name, planner) => {
    await onFreshServer(
      name,
      async (engine) => {
        const plan = new Plan();
        const session = plan.add(newSession({ name: 'work', ...size }));
        const side = plan.add(splitWindow({ target: '%77' }));
        plan.add(sendKeys({ target: side.self, keys: ['x'] }));
        plan.add(sendKeys({ target: session.pane, keys: ['x'] }));
        const result = await plan.execute(engine, { planner });
        const failed = {
          code: 'failed_create',
          message: expect.stringContaining("can't find pane"),
          details: { slot: 1, result: { status: 'failed' } },
        };
        expect(result.steps.map(({ status }) => status)).toEqual([
          'complete',
          'failed',
          'skipped',
          'skipped',
        ]);
        expect(result.failure?.error).toMatchObject(failed);
        expect(result.steps[2]?.error).toMatchObject(failed);
        expect(() => result.raiseForStatus()).toThrow(expect.objectContaining({ code: 'failed_create' }));
        expect(() => result.id(side.pane)).toThrow(expect.objectContaining({ code: 'failed_create' }));
        expect(result.id(session.pane)).toBe('%0');
      },
      tmux,
    );
  });

  it.each(ways)(
    'blames the first step, and only it, when there is no server, by %s, %s',
    async (name, planner) => {
      await onFreshServer(
        name,
        async (engine) => {
          const plan = new Plan();
          for (const target of ['@0', '@1'] as const) plan.add(renameWindow({ target, name: 'x' }));
          const result = await plan.execute(engine, { planner, onError: () => 'stop' });
          if (planner === 'pipelined' && engine.ordered) return expect(result.failure?.index).toBe(0);
          return expect(result.steps.map(({ status }) => status)).toEqual(['failed', 'skipped']);
        },
        tmux,
      );
    },
  );
});

describe('a running plan', () => {
  let server: TestServer;
  let engine: Engine;
  beforeAll(async () => {
    server = await startTestServer();
    engine = server.engine();
    (await execute(engine, newSession({ name: 'home', ...size }))).unwrap();
  });
  afterAll(() => server.stop());

  async function windowName(): Promise<string> {
    return (await execute(engine, displayMessage({ target: '@0', message: '#{window_name}' }))).unwrap().text;
  }

  it('refuses before it sends anything what this tmux does not know', async () => {
    const old = {
      ...boundTo(engine),
      version: async () => ({ text: '3.3a', major: 3, minor: 3, patch: 'a' }),
    };
    const plan = new Plan();
    plan.add(renameWindow({ target: '@0', name: 'never' }));
    plan.add(newPane({ target: '%0' }));
    await expect(plan.execute(old)).rejects.toMatchObject({ code: 'version_unsupported' });
    expect(await windowName()).not.toBe('never');
  });

  it('streams every step and then the result, and stops when nobody listens any more', async () => {
    const plan = new Plan();
    for (const name of ['a', 'b', 'c']) {
      plan.add(renameWindow({ target: '@0', name }));
      plan.host({ type: 'sleep', ms: 0 });
    }
    const seen: string[] = [];
    for await (const event of plan.stream(engine))
      seen.push(event.type === 'step' ? `step ${event.step.index}` : `done ${event.result.ok}`);
    expect(seen).toEqual(['step 0', 'step 1', 'step 2', 'step 3', 'step 4', 'step 5', 'done true']);
    for await (const event of plan.stream(engine)) if (event.type === 'step' && event.step.index === 1) break;
    expect(await windowName()).toBe('a');
  });

  it('tells onStep of each step with the ids known by then, and stops at what it throws', async () => {
    const plan = new Plan();
    const side = plan.add(splitWindow({ target: '%0', shell: 'cat' }));
    plan.add(killPane({ target: side.self }));
    plan.add(renameWindow({ target: '@0', name: 'unreached' }));
    const ids: unknown[] = [];
    await expect(
      plan.execute(engine, {
        planner: 'sequential',
        onStep: (step, bindings) => {
          ids.push(bindings['0:self']);
          if (step.index === 1) throw new Error('enough');
        },
      }),
    ).rejects.toThrow('enough');
    expect(ids).toEqual([expect.stringMatching(/^%\d+$/), ids[0]]);
    expect(await windowName()).not.toBe('unreached');
  });

  it('sends nothing more once it is aborted, and says where that was', async () => {
    const plan = new Plan();
    const stop = new AbortController();
    plan.add(renameWindow({ target: '@0', name: 'before' }));
    plan.host({ type: 'call', name: 'stop', run: () => stop.abort() });
    plan.add(renameWindow({ target: '@0', name: 'after' }));
    plan.add(renameWindow({ target: '@0', name: 'after that' }));
    const result = await plan.execute(engine, { signal: stop.signal });
    expect(result.steps.map(({ status }) => status)).toEqual(['complete', 'complete', 'failed', 'skipped']);
    expect(() => result.raiseForStatus()).toThrow(expect.objectContaining({ code: 'aborted' }));
    expect(await windowName()).toBe('before');
  });

  it('can be run again, and from its JSON', async () => {
    const plan = new Plan();
    const side = plan.add(splitWindow({ target: '%0', shell: 'cat' }));
    plan.add(breakPane({ source: side.self, target: '$0', name: 'out' }));
    plan.add(killPane({ target: side.self }));
    const first = (await plan.execute(engine)).raiseForStatus();
    const registry = createRegistry([splitWindow, breakPane, killPane] as never);
    const second = (
      await planFromJSON(JSON.parse(JSON.stringify(plan)), registry).execute(engine)
    ).raiseForStatus();
    expect(first.id(side.self)).not.toBe(second.id(side.self));
  });

  it('does what the example says', async () => {
    const plan = new Plan();
    const work = plan.add(newSession({ name: 'work' }));
    const side = plan.add(splitWindow({ target: work.pane, direction: 'right' }));
    plan.add(sendKeys({ target: side.pane, keys: ['top', 'Enter'] }));
    const result = (await plan.execute(engine)).raiseForStatus();
    expect(result.id(side.pane)).toMatch(/^%\d+$/);
  });
});

function boundTo(engine: Engine): Engine {
  return {
    name: engine.name,
    ordered: engine.ordered,
    version: () => engine.version(),
    run: (command, options) => engine.run(command, options),
    runChain: (commands, options) => engine.runChain(commands, options),
    close: () => engine.close(),
  };
}

describe('random plans', () => {
  type Move = {
    readonly make: 'window' | 'pane' | 'rename' | 'keys' | 'kill' | 'find' | 'missing' | 'sleep';
    readonly at: number;
  };
  const moves = fc.array(
    fc.record({
      make: fc.constantFrom<Move['make']>(
        'window',
        'pane',
        'rename',
        'rename',
        'keys',
        'keys',
        'kill',
        'find',
        'missing',
        'sleep',
      ),
      at: fc.nat(),
    }),
    { maxLength: 20 },
  );

  /** Objects come from any earlier slot; a killed pane may be named again, which then fails everywhere alike. */
  function planOf(list: readonly Move[]): Plan {
    const plan = new Plan();
    plan.add(newSession({ name: 'kept', ...size })); // Without any session the server would end, at a moment nobody can tell.
    const base = plan.add(newSession({ name: 'base', width: 400, height: 200, shell: 'cat' }));
    const panes: SlotRef[] = [base.pane];
    const windows: SlotRef[] = [base.window];
    for (const [i, { make, at }] of list.entries()) {
      const pane = panes[at % panes.length] ?? base.pane;
      const window = windows[at % windows.length] ?? base.window;
      if (make === 'window') windows.push(plan.add(newWindow({ target: base.self, shell: 'cat' })).self);
      if (make === 'pane') panes.push(plan.add(splitWindow({ target: pane, shell: 'cat' })).self);
      if (make === 'rename') plan.add(renameWindow({ target: window, name: `w${i}` }));
      if (make === 'keys') plan.add(sendKeys({ target: pane, keys: ['x'] }));
      if (make === 'kill') plan.add(killPane({ target: pane }));
      if (make === 'find')
        windows.push(
          plan.ensure(findSession(at % 2 ? 'base' : `s${i}`), newSession({ name: `s${i}`, shell: 'cat' }))
            .window,
        );
      if (make === 'missing') plan.add(killPane({ target: '%9999' }));
      if (make === 'sleep') plan.host({ type: 'sleep', ms: 0 });
    }
    return plan;
  }

  async function ran(
    list: readonly Move[],
    name: EngineName,
    planner: PlannerName,
    go: 'stop' | 'continue',
  ): Promise<unknown> {
    return told(
      await onFreshServer(name, (engine) => planOf(list).execute(engine, { planner, onError: () => go })),
    );
  }

  it('give equal results whichever planner groups them', async () => {
    await fc.assert(
      fc.asyncProperty(moves, async (list) => {
        const one = await ran(list, 'memory', 'sequential', 'continue');
        expect(await ran(list, 'memory', 'folding', 'continue')).toEqual(one);
        expect(await ran(list, 'memory', 'pipelined', 'continue')).toEqual(one);
        expect(await ran(list, 'memory', 'folding', 'stop')).toEqual(
          await ran(list, 'memory', 'sequential', 'stop'),
        );
      }),
      { numRuns: 150 },
    );
  });

  it('give equal results on a real server, whoever carries them', { timeout: 180_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(moves, fc.constantFrom(...everyWay), async (list, [name, planner]) => {
        expect(await ran(list, name, planner, 'continue')).toEqual(
          await ran(list, 'control', 'sequential', 'continue'),
        );
      }),
      { numRuns: 15 },
    );
  });
});
