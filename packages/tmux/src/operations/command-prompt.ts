import * as z from 'zod';
import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { argument, choice, client, custom, flag, type Param } from '../operation/param.ts';
import { type PromptType, promptType } from '../operation/prompt-type.ts';
import type { ClientTarget } from '../operation/target.ts';

export interface CommandPrompt {
  readonly target: ClientTarget;
  readonly prompts?: readonly string[];
  readonly inputs?: readonly string[];
  readonly type?: PromptType;
  readonly accept?: 'character' | 'key' | 'number';
  readonly onEachChange?: boolean;
  readonly expand?: boolean;
  readonly background?: boolean;
  readonly template?: string;
}

const texts = z
  .array(z.string().regex(/^[^,\0]*$/, 'a comma would start the next prompt'))
  .min(1)
  .readonly();
const list = (letter: string, doc: string): Param<readonly string[], false> =>
  custom(texts, letter, doc, (values) => [letter, values.join(',')]);

export const commandPrompt: Builder<CommandPrompt, Ack> = defineOperation<CommandPrompt, Ack>({
  kind: 'command_prompt',
  scope: 'client',
  effect: 'write',
  summary:
    'Asks the person at a client for text, and runs a tmux command with it; waits for the answer since tmux 3.3.',
  params: {
    target: client(),
    prompts: list('-p', 'what to ask, one after the other; each a format'),
    inputs: list('-I', 'what stands in each prompt at first; each a format'),
    type: promptType('what is completed, and whose history is used'),
    accept: choice(
      { character: ['-1'], key: ['-k'], number: ['-N'] },
      'only one character, the name of one key, or a number',
    ),
    onEachChange: flag('-i', 'run the command at each change, not at the end'),
    expand: flag('-F', 'the template is a format', { since: '3.3' }),
    background: flag('-b', 'do not wait for the answer', { since: '3.3' }),
    template: argument(
      'tmux command; %% or %1 is the first answer, %2 the second; the answer itself unless told',
    ),
  },
  result: ack,
  ownProcess: true,
  example: {
    target: { client: '/dev/pts/0' },
    prompts: ['Name of the window'],
    template: 'rename-window -t =demo:0 -- "%%"',
    background: true,
  },
});
