import { describe, expect, it } from 'vitest';
import type { AgentReason } from './agent.ts';
import { reasonText } from './agent-reason.ts';

const cases: readonly (readonly [reason: AgentReason, expected: string])[] = [
  [{ kind: 'menu' }, 'menu'],
  [
    { kind: 'permission', tool: 'Bash', input: '{"command":"rm -rf\\n build"}' },
    'permission: Bash rm -rf build',
  ],
  [{ kind: 'permission', tool: 'Odd', input: '{"x":1}' }, 'permission: Odd {"x":1}'],
  [{ kind: 'permission', tool: 'Cut', input: '{"command":"long…' }, 'permission: Cut {"command":"long…'],
  [{ kind: 'permission', tool: 'Null', input: 'null' }, 'permission: Null null'],
  [{ kind: 'rate limit', resetsAt: '2100-01-02T03:04:00' }, 'rate limit until 2100-01-02 03:04'],
  [
    { kind: 'rate limit', text: 'slow down', resetsAt: '2000-01-02T03:04:00' },
    'rate limit until 03:04: slow down',
  ],
  [{ kind: 'question', text: 'Which colour?' }, 'question: Which colour?'],
  [{ kind: 'rate limit', text: 'x'.repeat(500) }, `rate limit: ${'x'.repeat(187)}…`],
];

describe('reasonText', () => {
  it.each(cases)('%j', (reason, expected) => {
    expect(reasonText(reason)).toBe(expected);
  });
});
