import { describe, expect, it } from 'vitest';
import { displayMessage } from '../operations/display-message.ts';
import { killPane } from '../operations/kill-pane.ts';
import { newSession } from '../operations/new-session.ts';
import { splitWindow } from '../operations/split-window.ts';
import { createRegistry, type Registry } from '../registry.ts';
import { chain, chainFromJSON } from './chain.ts';
import { bindingsFromJSON, planFromJSON } from './json.ts';
import { Plan } from './plan.ts';
import { findSession } from './probe.ts';

const registry: Registry = createRegistry([newSession, splitWindow, killPane, displayMessage] as never);

function sample(): Plan {
  const plan = new Plan();
  const session = plan.ensure(findSession('work'), newSession({ name: 'work' }));
  const side = plan.add(splitWindow({ target: session.pane }));
  plan.host({ type: 'script', command: 'true', env: { A: '1' } });
  plan.host({ type: 'wait_pane', target: side.self, timeoutMs: 10 });
  plan.addChain(chain(killPane({ target: side.self }), killPane({ target: '%9' })));
  plan.addChain(chain(killPane({ target: side.self })));
  plan.add(killPane({ target: session.pane }));
  return plan;
}

describe('a plan as JSON', () => {
  it('comes back as the same plan', () => {
    const text = JSON.stringify(sample());
    const back = planFromJSON(JSON.parse(text), registry);
    expect(JSON.stringify(back)).toBe(text);
    expect(back.preview('3.4')).toEqual(sample().preview('3.4'));
    for (const planner of ['sequential', 'folding', 'pipelined'] as const) {
      expect(back.explain('3.4', planner)).toEqual(sample().explain('3.4', planner));
    }
  });

  it('is refused when it holds a function, by the name of that step', () => {
    const plan = new Plan();
    plan.host({ type: 'call', name: 'notify', run: () => undefined });
    expect(() => JSON.stringify(plan)).toThrow(/"notify" is a function/);
  });

  it.each([
    [{ steps: [{ operation: { kind: 'reboot', params: {} } }] }, 'unknown_operation'],
    [
      { steps: [{ operation: { kind: 'kill_pane', params: { target: { slot: 3, part: 'pane' } } } }] },
      'forward_reference',
    ],
    [
      { steps: [{ operation: { kind: 'kill_pane', params: { target: { slot: 0, part: 'pane' } } } }] },
      'forward_reference',
    ],
    [{ steps: [{ host: { type: 'sleep', ms: -1 } }] }, 'invalid_parameters'],
    [{ steps: [{ host: { type: 'call', name: 'x' } }] }, 'invalid_parameters'],
    [
      { steps: [{ operation: { kind: 'kill_pane', params: { target: '%1' } }, sameLine: true }] },
      'invalid_parameters',
    ],
    [{ steps: [{ surprise: true }] }, 'invalid_parameters'],
    [{ steps: [], more: 1 }, 'invalid_parameters'],
    [null, 'invalid_parameters'],
  ])('is refused when it is not one: %j', (json, code) => {
    expect(() => planFromJSON(json, registry)).toThrow(expect.objectContaining({ code }));
  });

  it('has bindings named "slot:part" that hold ids only', () => {
    expect(bindingsFromJSON({ '0:self': '$1', '12:pane': '%3' })).toEqual({
      '0:self': '$1',
      '12:pane': '%3',
    });
    for (const wrong of [{ zero: '$1' }, { '0:self': 'work' }, [], 'x']) {
      expect(() => bindingsFromJSON(wrong)).toThrow(expect.objectContaining({ code: 'invalid_parameters' }));
    }
  });
});

describe('a chain', () => {
  it('comes back from JSON as the same chain', () => {
    const line = chain(killPane({ target: '%1' }), killPane({ target: '%2', others: true }));
    const back = chainFromJSON(JSON.parse(JSON.stringify(line)), registry);
    expect(JSON.stringify(back)).toBe(JSON.stringify(line));
  });

  it('refuses what cannot share a line, and nothing at all', () => {
    expect(() => chain(killPane({ target: '%1' }), splitWindow({ target: '%1' }))).toThrow(
      /split_window cannot share a line/,
    );
    expect(() => chain()).toThrow(/at least one/);
    expect(() => chainFromJSON({ operations: [] }, registry)).toThrow(/A chain is/);
  });

  it('cannot be awaited by accident', () => {
    expect('then' in chain(killPane({ target: '%1' }))).toBe(false);
  });
});
