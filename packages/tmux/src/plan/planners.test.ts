import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SlotRef } from '../operation/target.ts';
import { displayMessage } from '../operations/display-message.ts';
import { killServer } from '../operations/kill-server.ts';
import { newSession } from '../operations/new-session.ts';
import { newWindow } from '../operations/new-window.ts';
import { pasteBuffer } from '../operations/paste-buffer.ts';
import { renameWindow } from '../operations/rename-window.ts';
import { sendKeys } from '../operations/send-keys.ts';
import { waitFor } from '../operations/wait-for.ts';
import { chain } from './chain.ts';
import { Plan } from './plan.ts';
import type { PlannerName } from './planners.ts';
import { findSession } from './probe.ts';
import { refsOf } from './slot.ts';
import { creatorOf } from './step.ts';

function shape(plan: Plan, planner: PlannerName): string[] {
  return plan
    .explain('3.4', planner)
    .map(({ type, steps, reason }) => `${type} ${steps.join(',')} ${reason}`);
}

function sample(): Plan {
  const plan = new Plan();
  const session = plan.ensure(findSession('work'), newSession({ name: 'work' }));
  const window = plan.add(newWindow({ target: session.self }));
  plan.add(renameWindow({ target: window.self, name: 'logs' }));
  plan.add(sendKeys({ target: window.pane, keys: ['ls'] }));
  plan.host({ type: 'sleep', ms: 10 });
  plan.add(sendKeys({ target: window.pane, keys: ['Enter'] }));
  plan.add(displayMessage({ target: window.pane, message: '#{pane_id}' }));
  plan.add(sendKeys({ target: window.pane, keys: ['q'] }));
  return plan;
}

describe('planners', () => {
  it('send one step at a time when sequential', () => {
    expect(shape(sample(), 'sequential')).toEqual([
      'ensure 0 find-or-create',
      'single 1 created-id',
      'single 2 single',
      'single 3 single',
      'host 4 host-step',
      'single 5 single',
      'single 6 capture',
      'single 7 single',
    ]);
  });

  it('fold what only says done, never across a host step or a capture', () => {
    expect(shape(sample(), 'folding')).toEqual([
      'ensure 0 find-or-create',
      'single 1 created-id',
      'chain 2,3 folded',
      'host 4 host-step',
      'single 5 single',
      'single 6 capture',
      'single 7 single',
    ]);
  });

  it('pipeline what needs nothing that the same batch creates', () => {
    expect(shape(sample(), 'pipelined')).toEqual([
      'ensure 0 find-or-create',
      'single 1 created-id',
      'batch 2,3 pipelined',
      'host 4 host-step',
      'batch 5,6,7 pipelined',
    ]);
  });

  it('never send anything together with what waits in a process of its own, or with the end of the server', () => {
    const plan = new Plan();
    plan.add(sendKeys({ target: '%0', keys: ['a'] }));
    plan.add(waitFor({ channel: 'c' }));
    plan.add(sendKeys({ target: '%0', keys: ['b'] }));
    plan.add(killServer());
    for (const planner of ['folding', 'pipelined'] as const) {
      expect(shape(plan, planner)).toEqual([
        'single 0 single',
        'single 1 own-process',
        'single 2 single',
        'single 3 single',
      ]);
    }
  });

  it('give a paste its own line, which an older tmux would not stop at when the pane is dead', () => {
    const plan = new Plan();
    plan.add(sendKeys({ target: '%0', keys: ['a'] }));
    plan.add(pasteBuffer({ target: '%0' }));
    plan.add(sendKeys({ target: '%0', keys: ['b'] }));
    expect(shape(plan, 'folding')).toEqual(['single 0 single', 'single 1 single', 'single 2 single']);
  });

  it('keep a folded line short enough for a tmux process', () => {
    const plan = new Plan();
    for (let i = 0; i < 40; i++) plan.add(sendKeys({ target: '%0', keys: ['é'.repeat(500)] }));
    const lines = plan.explain('3.4', 'folding');
    expect(lines.length).toBeGreaterThan(2);
    for (const { lines: texts } of lines) {
      expect(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)).toBeLessThan(12 * 1024);
    }
    expect(lines.flatMap(({ steps }) => steps)).toEqual([...Array(40).keys()]);
  });

  it('put every step in exactly one dispatch, in order, and nothing beside what it needs', () => {
    const kinds = fc.constantFrom('window', 'rename', 'keys', 'long', 'ask', 'wait', 'sleep', 'find', 'line');
    fc.assert(
      fc.property(fc.array(fc.tuple(kinds, fc.nat()), { maxLength: 60 }), (list) => {
        const plan = new Plan();
        const windows = [plan.add(newSession({ name: 'a' }))] as { window: SlotRef; pane: SlotRef }[];
        for (const [kind, at] of list) {
          const { window, pane } = windows[at % windows.length] as (typeof windows)[0];
          if (kind === 'window') windows.push(plan.add(newWindow({ target: '$0' })));
          if (kind === 'rename') plan.add(renameWindow({ target: window, name: 'x' }));
          if (kind === 'keys') plan.add(sendKeys({ target: pane, keys: ['x'] }));
          if (kind === 'long') plan.add(sendKeys({ target: pane, keys: ['x'.repeat(at % 9000)] }));
          if (kind === 'ask') plan.add(displayMessage({ target: pane, message: 'x' }));
          if (kind === 'wait') plan.add(waitFor({ channel: 'x' }));
          if (kind === 'sleep') plan.host({ type: 'sleep', ms: 1 });
          if (kind === 'find') windows.push(plan.ensure(findSession('a'), newSession()));
          if (kind === 'line')
            plan.addChain(chain(killServer(), renameWindow({ target: window, name: 'x' })));
        }
        const bytes = plan.preview('3.4').map((line) => line.bytes);
        for (const planner of ['sequential', 'folding', 'pipelined'] as const) {
          const dispatches = plan.explain('3.4', planner);
          expect(dispatches.flatMap(({ steps }) => steps)).toEqual([...plan.steps.keys()]);
          for (const { type, steps } of dispatches.filter((dispatch) => dispatch.steps.length > 1)) {
            const operations = steps.map((index) => plan.steps[index]).map((step) => step && creatorOf(step));
            expect(
              operations
                .flatMap((operation) => refsOf(operation?.params))
                .every(({ slot }) => slot < (steps[0] ?? 0)),
            ).toBe(true);
            if (type === 'chain') {
              expect(operations.every((operation) => operation?.chainable)).toBe(true);
              expect(steps.reduce((sum, index) => sum + (bytes[index] ?? 0), 0)).toBeLessThan(12 * 1024);
            }
          }
        }
      }),
    );
  });

  it('are refused by a name that does not exist, with the names that do', () => {
    expect(() => new Plan().explain('3.4', 'marked' as PlannerName)).toThrow(
      /"marked".*sequential, folding, pipelined/,
    );
  });
});
