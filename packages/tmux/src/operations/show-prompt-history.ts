import * as z from 'zod';
import { type Builder, defineOperation } from '../operation/operation.ts';
import type { Outcome } from '../operation/outcome.ts';
import { type PromptType, promptType } from '../operation/prompt-type.ts';
import { linesOf } from '../operation/reply.ts';

export interface ShowPromptHistory {
  readonly type?: PromptType;
}

export interface PromptHistory {
  readonly type: string;
  /** The oldest first. */
  readonly entries: readonly string[];
}

const promptHistory: z.ZodType<PromptHistory> = z.strictObject({
  type: z.string(),
  entries: z.array(z.string()).readonly(),
});

function readHistories(lines: readonly string[]): readonly PromptHistory[] {
  const histories: { type: string; entries: string[] }[] = [];
  for (const line of lines) {
    const [, type] = /^History for (.+):$/.exec(line) ?? [];
    const [, entry] = /^\d+: (.*)$/.exec(line) ?? [];
    if (type !== undefined) histories.push({ type, entries: [] });
    else if (entry !== undefined) histories.at(-1)?.entries.push(entry);
  }
  return histories;
}

const promptHistories: Outcome<readonly PromptHistory[]> = {
  name: 'PromptHistories',
  schema: z.array(promptHistory).readonly(),
  read: (reply) => readHistories(linesOf(reply.stdout)),
};

export const showPromptHistory: Builder<ShowPromptHistory, readonly PromptHistory[]> = defineOperation<
  ShowPromptHistory,
  readonly PromptHistory[]
>({
  kind: 'show_prompt_history',
  scope: 'server',
  effect: 'read',
  summary: 'Reads what was typed at the prompts of tmux.',
  since: '3.3',
  params: { type: promptType('only prompts of this type') },
  result: promptHistories,
  example: {},
});
