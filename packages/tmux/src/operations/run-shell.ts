import * as z from 'zod';
import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { anyTarget, choice, custom, flag, optional, path, required } from '../operation/param.ts';
import type { AnyTarget } from '../operation/target.ts';
import { atLeast } from '../operation/version.ts';

export interface RunShell {
  readonly commandLine: string;
  readonly target?: AnyTarget;
  readonly background?: boolean;
  readonly delay?: number;
  readonly startDirectory?: string;
  readonly output?: 'discard' | 'show';
}

const end = 'END_OF_COMMAND_LINE';
const commandLine = z
  .string()
  .min(1)
  .regex(/^[^\0]*$/, 'a tmux argument cannot hold a NUL byte')
  .refine((text) => !text.split('\n').includes(end), `it cannot hold the line ${end}`);

/**
 * Runs the line in a shell of its own that can neither print nor fail: tmux shows what a command prints, and that it
 * failed, by throwing the target pane into view mode, where it takes no more input. The line is handed over unquoted,
 * so that what tmux puts in for #{q:…} is read by a shell as it was meant to be.
 */
const silenced = (line: string): string =>
  `sh -c "$(cat <<'${end}'\n${line}\n${end}\n)" >/dev/null 2>&1 || :`;

export const runShell: Builder<RunShell, Ack> = defineOperation<RunShell, Ack>({
  kind: 'run_shell',
  scope: 'server',
  effect: 'write',
  summary:
    'Has the tmux server run a shell command, and waits for its end. It says neither what came of it nor what it printed.',
  params: {
    target: optional(
      anyTarget('what formats in the command line are about; with output "show", where it is shown'),
    ),
    background: flag('-b', 'do not wait'),
    delay: custom(z.number().min(0), '-d', 'seconds to wait before', (seconds) => ['-d', String(seconds)]),
    startDirectory: path('-c', 'working directory of the command', { since: '3.4', expanded: true }),
    output: choice({ discard: [], show: [] }, 'show: what tmux makes of it; discarded unless told'),
    commandLine: required(
      custom(
        commandLine,
        '',
        'run by sh; tmux expands formats in it first, #{…} as well as #(…)',
        (line, { output }) => [output === 'show' ? line : silenced(line)],
      ),
    ),
  },
  refuse: ({ output }, version) =>
    output === 'show' && version && atLeast(version, '3.3') && !atLeast(version, '3.5')
      ? `tmux ${version.text} shows output only by throwing a pane into view mode; discard it, or write it to a file`
      : undefined,
  result: ack,
  ownProcess: true,
  example: { commandLine: 'test -d /tmp' },
});
