import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { type PromptType, promptType } from '../operation/prompt-type.ts';

export interface ClearPromptHistory {
  readonly type?: PromptType;
}

export const clearPromptHistory: Builder<ClearPromptHistory, Ack> = defineOperation<ClearPromptHistory, Ack>({
  kind: 'clear_prompt_history',
  scope: 'server',
  effect: 'destructive',
  summary: 'Forgets what was typed at the prompts of tmux.',
  since: '3.3',
  params: { type: promptType('only prompts of this type') },
  result: ack,
  example: { type: 'search' },
});
