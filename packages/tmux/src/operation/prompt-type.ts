import { oneOf, type Param } from './param.ts';

/** The prompts of tmux that keep a history each; since 3.8 there are only the first two. */
export type PromptType = 'command' | 'search' | 'target' | 'window-target';

export function promptType(doc: string): Param<PromptType, false> {
  return oneOf('-T', ['command', 'search', 'target', 'window-target'], doc, { since: '3.3' });
}
