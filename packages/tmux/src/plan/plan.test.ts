import { describe, expect, expectTypeOf, it } from 'vitest';
import type { PaneId, SessionId, WindowId } from '../operation/target.ts';
import { killPane } from '../operations/kill-pane.ts';
import { newSession } from '../operations/new-session.ts';
import { newWindow } from '../operations/new-window.ts';
import { sendKeys } from '../operations/send-keys.ts';
import { splitWindow } from '../operations/split-window.ts';
import { chain } from './chain.ts';
import { Plan } from './plan.ts';
import { findSession } from './probe.ts';
import type { Ref, Slot } from './slot.ts';

describe('a plan', () => {
  it('gives each slot the parts of what its operation creates, in types and in values', () => {
    const plan = new Plan();
    const session = plan.add(newSession({ name: 'a' }));
    const window = plan.add(newWindow({ target: session.self }));
    const pane = plan.add(splitWindow({ target: window.pane }));
    const ack = plan.add(killPane({ target: pane.self }));
    const found = plan.ensure(findSession('b'), newSession({ name: 'b' }));
    expectTypeOf(session.self).toEqualTypeOf<Ref<SessionId>>();
    expectTypeOf(window.self).toEqualTypeOf<Ref<WindowId>>();
    expectTypeOf(window.pane).toEqualTypeOf<Ref<PaneId>>();
    expectTypeOf(pane.self).toEqualTypeOf<Ref<PaneId>>();
    expectTypeOf(pane).not.toHaveProperty('window');
    expectTypeOf(ack).toEqualTypeOf<Slot>();
    expectTypeOf(found.window).toEqualTypeOf<Ref<WindowId>>();
    expect(session).toEqual({
      index: 0, self: { slot: 0, part: 'self' }, window: { slot: 0, part: 'window' }, pane: { slot: 0, part: 'pane' },
    }); // biome-ignore format: a table
    expect(pane).toEqual({ index: 2, self: { slot: 2, part: 'self' }, pane: { slot: 2, part: 'pane' } });
    expect(ack).toEqual({ index: 3 });
  });

  it('refuses an operation that names a slot no earlier operation fills', () => {
    const plan = new Plan();
    const pane = plan.add(splitWindow({ target: '%0' }));
    plan.add(killPane({ target: pane.self }));
    const refused = (build: () => unknown): void =>
      expect(build).toThrow(expect.objectContaining({ code: 'forward_reference' }));
    refused(() => plan.add(killPane({ target: { slot: 2, part: 'self' } })));
    refused(() => plan.add(killPane({ target: { slot: 1, part: 'self' } })));
    refused(() => plan.add(killPane({ target: { slot: 0, part: 'window' } })));
    refused(() => plan.host({ type: 'wait_pane', target: { slot: 9, part: 'pane' }, timeoutMs: 1 }));
    refused(() =>
      plan.addChain(chain(killPane({ target: '%1' }), killPane({ target: { slot: 0, part: 'window' } }))),
    );
    refused(() =>
      plan.addChain(chain(killPane({ target: '%1' }), killPane({ target: { slot: 2, part: 'self' } }))),
    );
    expect(plan.steps).toHaveLength(2);
  });

  it('does not take a variable for a slot', () => {
    const plan = new Plan();
    plan.add(newSession({ environment: { slot: 'a', part: 'self' } }));
    expect(plan.preview('3.4')[0]?.argv).toContain('slot=a');
  });

  it('refuses a find-or-create step that could not find or not create', () => {
    const plan = new Plan();
    expect(() => plan.ensure(findSession('a'), killPane({ target: '%1' }))).toThrow(/creates nothing/);
    expect(() => plan.ensure(killPane({ target: '%1' }) as never, newSession())).toThrow(/is no probe/);
  });

  it('shows every step before it runs: words where they are known, slots where they are not', () => {
    const plan = new Plan();
    const session = plan.ensure(findSession('work'), newSession({ name: 'work' }));
    const side = plan.add(splitWindow({ target: session.pane, shell: "echo 'hi'" }));
    plan.host({ type: 'wait_pane', target: side.self, timeoutMs: 100 });
    plan.host({ type: 'sleep', ms: 20 });
    plan.host({ type: 'script', command: 'make' });
    plan.host({ type: 'call', name: 'notify', run: () => undefined });
    plan.add(sendKeys({ target: '%7', keys: ['q'] }));
    const lines = plan.preview('3.4');
    expect(lines.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^display-message .*=work:.* \|\| new-session .*-s work/),
      expect.stringMatching(/^split-window .*-t \{slot 0 pane\} .*-- 'echo '\\''hi'\\'''$/),
      '# wait up to 100 ms for {slot 1 self}',
      '# sleep 20 ms',
      '# script "make"',
      '# call notify',
      "send-keys -t '%7' -- q",
    ]);
    expect(lines.map(({ argv }) => argv !== null)).toEqual([true, false, false, false, false, false, true]);
    expect(lines[6]?.argv).toEqual(['send-keys', '-t', '%7', '--', 'q']);
  });
});
