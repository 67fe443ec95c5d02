import * as z from 'zod';
import { TmuxError } from '../errors.ts';
import { type Builder, defineOperation } from '../operation/operation.ts';
import type { Outcome } from '../operation/outcome.ts';
import { anyTarget, flag, nameArgument, optional } from '../operation/param.ts';
import { exactlyOne } from '../operation/refusal.ts';
import type { AnyTarget } from '../operation/target.ts';

export interface ShowEnvironment {
  readonly target?: AnyTarget;
  readonly global?: boolean;
  readonly hidden?: boolean;
  readonly name?: string;
}

export interface ShownEnvironment {
  /** Each variable that is set here; null when processes are started without it. */
  readonly variables: Readonly<Record<string, string | null>>;
}

/** In the form for shells every value is quoted, so that one with newlines stays whole. */
const statement = /unset ([^\n]*);\n|([^\n=]+)="((?:[^"\\]|\\.)*)"; export \2;\n/sy;

/** tmux 3.4 puts a backslash more before a variable; 3.4 and 3.5 write the bytes of control characters as octal. */
function unquote(quoted: string): string {
  return quoted.replace(/\\\\(?=\$)|((?:\\[0-7]{3})+)|\\(.)/gs, (_, octal?: string, mark = '') =>
    octal ? fromOctal(octal) : mark,
  );
}

function fromOctal(escapes: string): string {
  const [, ...bytes] = escapes.split('\\');
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 8))).toString();
}

function readStatements(text: string): ShownEnvironment {
  const variables: Record<string, string | null> = {};
  statement.lastIndex = 0;
  for (let at = 0; at < text.length; at = statement.lastIndex) {
    const found = statement.exec(text);
    if (!found)
      throw new TmuxError('protocol', `show_environment: cannot read ${JSON.stringify(text.slice(at))}.`, {
        text,
      });
    const [, removed, name, value] = found;
    if (removed !== undefined) variables[removed] = null;
    else if (name !== undefined) variables[name] = unquote(value ?? '');
  }
  return { variables };
}

const shownEnvironment: Outcome<ShownEnvironment> = {
  name: 'ShownEnvironment',
  schema: z.strictObject({ variables: z.record(z.string(), z.string().nullable()) }),
  read: (reply) => readStatements(reply.stdout.replace(/\n*$/, '\n').replace(/^\n$/, '')),
  answersFailure: (reply) => /^unknown variable:/.test(reply.stderr),
};

export const showEnvironment: Builder<ShowEnvironment, ShownEnvironment> = defineOperation<
  ShowEnvironment,
  ShownEnvironment
>({
  kind: 'show_environment',
  scope: 'session',
  effect: 'read',
  summary: 'Reads the variables that processes are started with, or one by its name.',
  params: {
    target: optional(anyTarget('the session')),
    global: flag('-g', 'those of all sessions'),
    hidden: flag('-h', 'those only formats see'),
    name: nameArgument('the one variable wanted; not answered when it is not set here'),
  },
  refuse: (params) => exactlyOne(params, 'target', 'global'),
  fixed: ['-s'],
  result: shownEnvironment,
  example: { target: { session: 'demo' } },
});
