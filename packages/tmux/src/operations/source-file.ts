import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { absolutePath, anyTarget, custom, flag, optional, required } from '../operation/param.ts';

import type { AnyTarget } from '../operation/target.ts';

export interface SourceFile {
  readonly path: string;
  readonly target?: AnyTarget;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly parseOnly?: boolean;
}

/** tmux takes the path for a pattern that may match several files. */
const literalPattern = (path: string): string => path.replace(/[*?[\]\\]/g, '\\$&');

export const sourceFile: Builder<SourceFile, Ack> = defineOperation<SourceFile, Ack>({
  kind: 'source_file',
  scope: 'server',
  effect: 'write',
  summary: 'Runs the tmux commands in a file.',
  params: {
    target: { ...optional(anyTarget('the pane its commands are about')), since: '3.4' },
    quiet: flag('-q', 'no failure when there is no such file'),
    verbose: flag('-v', 'print the commands as they are read'),
    parseOnly: flag('-n', 'read it and run nothing'),
    path: required(custom(absolutePath, '', 'the file', (path) => [literalPattern(path)])),
  },
  result: ack,
  // On a shared connection tmux says "done" before it has run the file, and its errors come too late.
  ownProcess: true,
  example: { path: '/dev/null' },
});
