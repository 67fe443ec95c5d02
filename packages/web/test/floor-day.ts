import type { TestHub } from '../../hub/test/test-hub.ts';

/** An event as a hook of Claude Code tells it, so many minutes before now. */
type Told = readonly [minutesAgo: number, event: string, payload?: object];

interface Work {
  readonly project: string;
  readonly agent: string;
  readonly label: string;
  readonly vendor: string;
  /** The title of the pane it runs in. */
  readonly pane?: string;
  /** Spans of work, in hours before now: from, until, and how busy. */
  readonly spans: readonly (readonly [from: number, until: number, busy: number])[];
  readonly told?: readonly Told[];
}

const minuteMs = 60_000;
const bash = (command: string, call: string) => ({
  ...{ tool_name: 'Bash', tool_input: { command }, tool_use_id: call },
});
const edit = (file_path: string, call: string) => ({
  ...{ tool_name: 'Edit', tool_input: { file_path, old_string: 'a', new_string: 'b' }, tool_use_id: call },
});
const read = (file_path: string, call: string) => ({
  ...{ tool_name: 'Read', tool_input: { file_path }, tool_use_id: call },
});
const gave = (tool: object, stdout: string) => ({ ...tool, tool_response: { stdout, stderr: '' } });

/** How the session of the picture goes. */
const refunds: readonly Told[] = [
  [
    34,
    'UserPromptSubmit',
    {
      prompt:
        'A customer was refunded twice for order 8841. Find out how that could happen, and make it impossible.',
    },
  ],
  [33.6, 'PreToolUse', bash('rg -n "refund\\(" src test', 'r1')],
  [
    33.5,
    'PostToolUse',
    gave(
      bash('rg -n "refund\\(" src test', 'r1'),
      'src/refunds.ts:18:export async function refund(id: string)\nsrc/orders.ts:74:  await refund(order.id);\ntest/refunds.test.ts:39:  await order.refund({ items: [shirt] });',
    ),
  ],
  [33.2, 'PreToolUse', read('src/refunds.ts', 'r2')],
  [33.1, 'PostToolUse', gave(read('src/refunds.ts', 'r2'), '88 lines')],
  [
    31,
    'Stop',
    {
      last_assistant_message:
        'Two calls that come at once both find the order open, because its status is written only after the payment has answered.\n\nI would take a lock on the order before it is read, and answer 409 to the second call.',
    },
  ],
  [
    27,
    'UserPromptSubmit',
    { prompt: 'Yes, with the lock. And the second call gets the refund that exists.' },
  ],
  [26.4, 'PreToolUse', edit('src/refunds.ts', 'r3')],
  [26.3, 'PostToolUse', gave(edit('src/refunds.ts', 'r3'), 'The file has been updated.')],
  [25.8, 'PreToolUse', edit('test/refunds.test.ts', 'r4')],
  [25.7, 'PostToolUse', gave(edit('test/refunds.test.ts', 'r4'), 'The file has been updated.')],
  [25, 'PreToolUse', bash('npm test -- refunds', 'r5')],
  [24.9, 'PermissionRequest', { tool_name: 'Bash', tool_input: { command: 'npm test -- refunds' } }],
  [23.5, 'PostToolUse', gave(bash('npm test -- refunds', 'r5'), ' ✓ test/refunds.test.ts (10 tests) 412ms')],
  [22.9, 'PreToolUse', bash('git commit -am "refunds: lock the order before it is read"', 'r6')],
  [
    22.8,
    'PostToolUse',
    gave(
      bash('git commit -am "refunds: lock the order before it is read"', 'r6'),
      '[refund-once 9f3c1a2] refunds: lock the order before it is read\n 2 files changed, 31 insertions(+), 4 deletions(-)',
    ),
  ],
  [
    22,
    'Stop',
    {
      last_assistant_message:
        'Done: the order is locked before it is read, and a second refund of the same items is answered with 409 and the refund that exists.\n\nThe new test pays twice at once, forty times over, and sees one refund.',
    },
  ],
  [6, 'UserPromptSubmit', { prompt: 'Does support’s own refund page go through this, too?' }],
  [5.6, 'PreToolUse', bash('rg -n "payments.refund" ../support/src', 'r7')],
  [
    5.5,
    'PostToolUse',
    gave(
      bash('rg -n "payments.refund" ../support/src', 'r7'),
      '../support/src/refund-page.tsx:52:    await payments.refund(order)',
    ),
  ],
  [5, 'PreToolUse', bash('npm test -- support', 'r8')],
  [4.9, 'PermissionRequest', { tool_name: 'Bash', tool_input: { command: 'npm test -- support' } }],
];

const day: readonly Work[] = [
  {
    ...{ project: 'infra', agent: 'eli', vendor: 'codex', label: 'Move the backups to the new host' },
    spans: [
      [21, 18.5, 4],
      [9, 8, 2],
    ],
  },
  {
    ...{ project: 'docs', agent: 'dora', vendor: 'gemini', label: 'Describe the API of orders' },
    spans: [
      [12, 9, 3],
      [3.5, 2.6, 5],
    ],
  },
  {
    ...{ project: 'shop', agent: 'chi', vendor: 'opencode', label: 'Checkout keeps the cart: flaky' },
    spans: [[15, 11, 5]],
  },
  {
    ...{ project: 'shop', agent: 'bruno', vendor: 'codex', label: 'Receipts by e-mail', pane: 'web server' },
    spans: [
      [8, 5, 6],
      [4, 1.2, 9],
      [0.6, 0.1, 4],
    ],
  },
  {
    ...{
      project: 'shop',
      agent: 'ada',
      vendor: 'claude',
      label: 'Refunds are paid twice',
      pane: 'review agent',
    },
    spans: [
      [7, 5.5, 3],
      [2.5, 1, 7],
    ],
    told: refunds,
  },
];

/** A day of people and agents on the floor. */
export async function spendDay(hub: TestHub): Promise<void> {
  const { client } = hub;
  await client.call('project:create', { name: 'docs', tags: ['writing'] });
  await client.call('project:create', { name: 'infra' });
  const now = Date.now();
  const panes = await client.call('pane:list', {});
  for (const { project, agent, vendor, label, pane, spans, told = [] } of day) {
    const feed = pane
      ? { pane: panes.find(({ title }) => title === pane)?.id ?? '' }
      : { vendor, conversation: `of-${agent}` };
    const { session } = await client.call('floor:join', { project, agent, label, ...feed });
    const { session_id } = session;
    if (!pane) {
      await client.call('floor:leave', feed);
      await client.call('floor:handoff', { session: session_id });
      if (agent === 'chi') await client.call('floor:claim', { session: session_id });
    }
    const record = ([minutesAgo, event, payload = {}]: Told) =>
      client.call('floor:record', {
        ...{ session: session_id, vendor: 'claude' },
        at: new Date(now - minutesAgo * minuteMs).toISOString(),
        payload: { session_id: `of-${agent}`, hook_event_name: event, cwd: '/shop', ...payload },
      });
    for (const [from, until, busy] of spans)
      for (let at = from * 60, turn = 0; at > until * 60; at -= 60 / busy, turn++) {
        if (turn % 4 === 0) await record([at, 'UserPromptSubmit', { prompt: `Go on with ${label}.` }]);
        for (let use = 0; use <= (turn * 7) % 5; use++)
          await record([at - use, 'PreToolUse', read(`src/part-${turn}-${use}.ts`, `${agent}-${at}-${use}`)]);
      }
    for (const one of told) await record(one);
  }
  // Mail may have named it before.
  await client.call('project:tag', { project: 'shop', add: ['web', 'payments'] });
}
