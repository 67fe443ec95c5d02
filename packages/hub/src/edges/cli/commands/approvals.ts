import { type Approval, type Client, type Decision, PolyError } from '@polyphony/protocol';
import { type Call, type Command, command } from '../command.ts';
import type { Env } from '../env.ts';
import type { Output } from '../output.ts';
import { revealed, revealedWords } from '../revealed.ts';
import { uniqueId } from '../unique-id.ts';

export const approvalCommands: readonly Command[] = [
  command({
    name: 'approvals ls',
    summary: 'Lists the calls that wait for you, with all they would do.',
    examples: ['poly approvals ls', "poly approvals ls --json | jq -r '.[].id'"],
    async run({ hub, out, json }) {
      const { approvals } = await hub.call('approval:list', {});
      if (json) return out.json(approvals);
      if (approvals.length === 0) return out.note('Nothing waits for you.');
      for (const approval of approvals) show(approval, out);
    },
  }),
  command({
    name: 'approvals allow',
    summary: 'Lets one call go on that waits for you; the next one asks again.',
    args: ['<id>'],
    completes: 'approval',
    examples: ['poly approvals allow apr_1f3c22aa', 'poly approvals allow apr_1f3'],
    run: (call) => resolve(call, 'allow'),
  }),
  command({
    name: 'approvals deny',
    summary: 'Refuses a call that waits for you.',
    args: ['<id>'],
    completes: 'approval',
    examples: ['poly approvals deny apr_1f3c22aa'],
    run: (call) => resolve(call, 'deny'),
  }),
];

/** How many calls wait; none for a pane, which is not to see them, and none at a hub that knows no approvals. */
export async function countWaiting(hub: Client, { POLY_TOKEN }: Env): Promise<number> {
  if (POLY_TOKEN) return 0;
  try {
    return (await hub.call('approval:list', {})).approvals.length;
  } catch (error) {
    if (error instanceof PolyError && error.code === 'unknown_action') return 0;
    throw error;
  }
}

export function waitingNote(count: number): string {
  return count === 1
    ? '1 call waits for you. See it with: poly approvals ls'
    : `${count} calls wait for you. See them with: poly approvals ls`;
}

async function resolve({ args: [start = ''], hub, out, json }: Call, decision: Decision): Promise<void> {
  if (decision === 'allow' && !/^apr_.{3}/.test(start))
    throw new PolyError('invalid_arguments', `"${start}" may be another call by the time it is allowed.`, {
      hint: 'Say the id as poly approvals ls shows it, apr_ and at least three digits.',
    });
  const ids = (await hub.call('approval:list', {})).approvals.map(({ id }) => id);
  const result = await hub.call('approval:resolve', { id: uniqueId(start, ids), decision });
  if (json) out.json(result);
  else out.line(`${result.id} is ${decision === 'allow' ? 'allowed' : 'denied'}.`);
}

/** Each on lines of its own: nothing is cut off. */
function show(approval: Approval, out: Output): void {
  const { id, kind, action, by, pane = by, paneId, command, cwd, env, text, reason, expiresAt } = approval;
  const left = Math.max(0, Math.ceil((Date.parse(expiresAt) - Date.now()) / 1000));
  out.line(`${out.paint('cyan', id)}  ${kind}  ${out.paint('dim', `${left}s left`)}`);
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['asks', `${pane} (${action})`],
    ['pane', paneId],
    ['command', command && revealedWords(command)],
    ['folder', cwd === undefined ? undefined : revealedWords([cwd])],
    ['variables', env && revealedWords(env)],
    ['text', text === undefined ? undefined : revealed(text)],
    ['because', reason],
  ];
  for (const [name, value] of rows)
    if (value !== undefined) out.line(`  ${out.paint('dim', name.padEnd(9))}  ${value}`);
}
