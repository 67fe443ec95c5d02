import { describe, expect, it } from 'vitest';
import { type Builder, defineOperation, type Operation } from '../operation/operation.ts';
import { type CreatedSession, createdSession, line, type Text } from '../operation/outcome.ts';
import { argument, named, required } from '../operation/param.ts';
import type { Reply } from '../operation/reply.ts';
import { Result } from '../operation/result.ts';
import { parseVersion } from '../operation/version.ts';
import { killPane } from '../operations/kill-pane.ts';
import { splitWindow } from '../operations/split-window.ts';
import type { Answer } from './answer.ts';
import { chain } from './chain.ts';
import { runPlan } from './core.ts';
import { Plan } from './plan.ts';
import type { PlanResult, StepResult } from './plan-result.ts';
import { dispatchesOf, type PlannerName, planners } from './planners.ts';
import { previewSteps } from './preview.ts';
import type { Request } from './request.ts';

interface Named {
  readonly name: string;
}
const open: Builder<Named, CreatedSession> = defineOperation<Named, CreatedSession>({
  kind: 'new_session',
  scope: 'server',
  effect: 'write',
  summary: 'Opens a session.',
  params: { name: required(named('-s', 'its name')) },
  result: createdSession,
  creates: 'session',
  example: { name: 'x' },
});
const ask: Builder<Named, Text> = defineOperation<Named, Text>({
  kind: 'display_message',
  scope: 'server',
  effect: 'read',
  summary: 'Says something.',
  params: { name: required(argument('what')) },
  result: line,
  example: { name: 'x' },
});

const version = parseVersion('3.4');

/** Answers every operation of a request the way tmux would: one Reply each, of which an Error is a lost connection. */
type Script = (request: Request) => readonly (Partial<Reply> | Error)[];

function play(
  plan: Plan,
  planner: PlannerName,
  script: Script,
  onError: (step: StepResult) => 'stop' | 'continue' = () => 'stop',
): { result: PlanResult; requests: Request[]; reported: number[] } {
  const bytes = previewSteps(plan.steps, version).map((shown) => shown.bytes);
  const core = runPlan(plan.steps, dispatchesOf(planners[planner], { steps: plan.steps, bytes }), {
    version,
    onError,
  });
  const requests: Request[] = [];
  const reported: number[] = [];
  let next = core.next();
  while (!next.done) {
    if (next.value.type === 'step') {
      reported.push(next.value.step.index);
      next = core.next([]);
    } else {
      requests.push(next.value);
      next = core.next(answersTo(next.value, script));
    }
  }
  return { result: next.value, requests, reported };
}

function answersTo(request: Request, script: Script): readonly Answer[] {
  return script(request).map((said, i): Answer => {
    if (said instanceof Error) return { error: said, sent: true };
    if (request.type === 'host') return { value: said };
    const operation = request.operations[i];
    if (!operation) throw new Error('The script answers more than was asked.');
    const reply: Reply = { status: 'complete', stdout: '', stderr: '', ...said };
    const read = { params: {}, guard: '' };
    return {
      result: new Result(
        operation,
        [],
        reply,
        reply.status === 'complete' ? operation.spec.result.read(reply, read) : null,
      ),
    };
  });
}

const done: Script = (request) =>
  request.type === 'host'
    ? [{}]
    : request.operations.map(({ spec }) => ({
        stdout: spec.creates === 'session' ? '$5 @6 %7\n' : spec.creates ? '%8\n' : '',
      }));

const statuses = (result: PlanResult): string[] => result.steps.map(({ status }) => status);

describe('the core of a plan', () => {
  it('puts the ids of what was created where later operations named their slots', () => {
    const plan = new Plan();
    const session = plan.add(open({ name: 'a' }));
    const pane = plan.add(splitWindow({ target: session.pane }));
    plan.add(killPane({ target: pane.self }));
    const { result, requests } = play(plan, 'sequential', done);
    expect(requests.map((request) => 'operations' in request && request.operations[0]?.params)).toEqual([
      { name: 'a' },
      { target: '%7' },
      { target: '%8' },
    ]);
    expect(result.bindings).toEqual({
      '0:self': '$5', '0:window': '@6', '0:pane': '%7', '1:self': '%8', '1:pane': '%8',
    }); // biome-ignore format: a table
    expect(result.id(session.window)).toBe('@6');
    expect(result.ok).toBe(true);
  });

  it.each(['sequential', 'folding', 'pipelined'] as const)(
    'reports the steps in order, once each, when %s',
    (planner) => {
      const plan = new Plan();
      const session = plan.add(open({ name: 'a' }));
      plan.host({ type: 'sleep', ms: 1 });
      for (let i = 0; i < 4; i++) plan.add(killPane({ target: session.pane }));
      const { reported } = play(plan, planner, done);
      expect(reported).toEqual([0, 1, 2, 3, 4, 5]);
    },
  );

  it('skips the rest after a failure, and says of what needed the failed object why it was skipped', () => {
    const plan = new Plan();
    const session = plan.add(open({ name: 'a' }));
    const pane = plan.add(splitWindow({ target: session.pane }));
    plan.add(killPane({ target: pane.self }));
    plan.add(killPane({ target: session.pane }));
    const { result } = play(plan, 'sequential', (request) =>
      'operations' in request && request.operations[0]?.kind === 'split_window'
        ? [{ status: 'failed', stderr: 'no space for new pane\n' }]
        : done(request),
    );
    expect(statuses(result)).toEqual(['complete', 'failed', 'skipped', 'skipped']);
    const failedCreate = { code: 'failed_create', message: expect.stringContaining('no space for new pane') };
    expect(() => result.raiseForStatus()).toThrow(expect.objectContaining(failedCreate));
    expect(() => result.id(pane.self)).toThrow(expect.objectContaining(failedCreate));
    expect(result.steps[2]?.error).toMatchObject({
      ...failedCreate,
      details: { slot: 1, result: { status: 'failed' } },
    });
    expect(result.steps[3]?.error).toBeUndefined();
  });

  it('goes on after a failure when told to, without what needed the failed object', () => {
    const plan = new Plan();
    const lost = plan.add(splitWindow({ target: '%0' }));
    const lostToo = plan.add(splitWindow({ target: lost.pane }));
    plan.add(killPane({ target: lostToo.pane }));
    plan.add(killPane({ target: '%1' }));
    plan.host({ type: 'wait_pane', target: lost.pane, timeoutMs: 1 });
    const refuse: Script = (request) =>
      'operations' in request && request.operations[0]?.kind === 'split_window'
        ? [{ status: 'failed', stderr: 'no' }]
        : done(request);
    const expected = ['failed', 'skipped', 'skipped', 'complete', 'skipped'];
    for (const planner of ['sequential', 'folding', 'pipelined'] as const) {
      expect(statuses(play(plan, planner, refuse, () => 'continue').result)).toEqual(expected);
    }
  });

  it('sends what a failure on its line held back once more when it goes on', () => {
    const plan = new Plan();
    for (const target of ['%1', '%2', '%3'] as const) plan.add(killPane({ target }));
    const script: Script = (request) =>
      'operations' in request && request.operations.length === 3
        ? [{}, { status: 'failed', stderr: 'gone' }, { status: 'skipped' }]
        : done(request);
    expect(statuses(play(plan, 'folding', script).result)).toEqual(['complete', 'failed', 'skipped']);
    const { result, requests } = play(plan, 'folding', script, () => 'continue');
    expect(statuses(result)).toEqual(['complete', 'failed', 'complete']);
    expect(requests.map((request) => ('operations' in request ? request.operations.length : 0))).toEqual([
      3, 1,
    ]);
  });

  it('asks one by one when nothing of a line ran, to learn which operation was the reason', () => {
    const plan = new Plan();
    for (const target of ['%1', '%2', '%3'] as const) plan.add(killPane({ target }));
    const { result, requests } = play(plan, 'folding', (request) => {
      if (!('operations' in request)) return [];
      if (request.operations.length > 1)
        return request.operations.map(() => ({ status: 'failed', stderr: 'bad line' }));
      return [
        (request.operations[0] as Operation<{ target: string }>).params.target === '%2'
          ? { status: 'failed', stderr: 'bad' }
          : {},
      ];
    });
    expect(statuses(result)).toEqual(['complete', 'failed', 'skipped']);
    expect(requests).toHaveLength(3);
  });

  it('reports what really happened to operations that were sent together', () => {
    const plan = new Plan();
    for (const target of ['%1', '%2', '%3'] as const) plan.add(killPane({ target }));
    plan.host({ type: 'sleep', ms: 1 });
    const { result } = play(plan, 'pipelined', (request) =>
      'operations' in request ? [{}, { status: 'failed', stderr: 'gone' }, {}] : [{}],
    );
    expect(statuses(result)).toEqual(['complete', 'failed', 'complete', 'skipped']);
    expect(result.failure?.index).toBe(1);
  });

  it('calls an outcome unknown when the connection ended before the answer, and throws that error when forced', () => {
    const plan = new Plan();
    for (const target of ['%1', '%2'] as const) plan.add(killPane({ target }));
    plan.add(splitWindow({ target: '%3' }));
    const { result } = play(plan, 'folding', () => [new Error('lost'), new Error('lost')]);
    expect(statuses(result)).toEqual(['unknown', 'unknown', 'skipped']);
    expect(() => result.raiseForStatus()).toThrow('lost');
  });

  it('binds a find-or-create slot to what the probe found, and creates only what it did not', () => {
    const plan = new Plan();
    const session = plan.ensure(ask({ name: 'ids?' }), open({ name: 'a' }));
    plan.add(killPane({ target: session.pane }));
    const probing =
      (said: Partial<Reply> | Error): Script =>
      (request) =>
        request.type === 'probe' ? [said] : done(request);
    const found = play(plan, 'folding', probing({ stdout: '$1 @2 %3\n' }));
    expect(found.requests.map(({ type }) => type)).toEqual(['probe', 'single']);
    expect(found.result.bindings).toEqual({ '0:self': '$1', '0:window': '@2', '0:pane': '%3' });
    expect(found.result.steps[0]).toMatchObject({ status: 'complete', found: true });
    for (const absent of [
      { status: 'failed', stderr: 'no server' },
      { stdout: '  \n' },
      { stdout: '$1\n' },
    ] as const) {
      const made = play(plan, 'folding', probing(absent));
      expect(made.result.bindings).toMatchObject({ '0:self': '$5', '0:pane': '%7' });
      expect(made.result.steps[0]).toMatchObject({ status: 'complete', found: false });
    }
    const lost = play(plan, 'folding', probing(new Error('lost')));
    expect(statuses(lost.result)).toEqual(['unknown', 'skipped']);
    expect(lost.requests).toHaveLength(1);
  });

  it('keeps an added chain on one line with every planner', () => {
    const plan = new Plan();
    plan.add(killPane({ target: '%9' }));
    plan.addChain(chain(killPane({ target: '%1' }), killPane({ target: '%2' })));
    plan.add(splitWindow({ target: '%0' }));
    const shape = (planner: PlannerName): unknown =>
      play(plan, planner, done).requests.map((request) => [
        request.type,
        'operations' in request && request.operations.length,
      ]);
    expect(shape('sequential')).toEqual([['single', 1], ['chain', 2], ['single', 1]]); // biome-ignore format: a row
    expect(shape('pipelined')).toEqual([['single', 1], ['chain', 2], ['single', 1]]); // biome-ignore format: a row
    expect(shape('folding')).toEqual([['chain', 3], ['single', 1]]); // biome-ignore format: a row
  });
});
