import * as z from 'zod';
import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { argument, custom, flag, optional, required, target } from '../operation/param.ts';
import { exactlyOne } from '../operation/refusal.ts';
import type { Target } from '../operation/target.ts';

export interface SetEnvironment {
  readonly name: string;
  readonly value?: string;
  readonly target?: Target;
  readonly global?: boolean;
  readonly remove?: boolean;
  readonly unset?: boolean;
  readonly hidden?: boolean;
  readonly expandFormats?: boolean;
}

const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'not the name of a variable');

export const setEnvironment: Builder<SetEnvironment, Ack> = defineOperation<SetEnvironment, Ack>({
  kind: 'set_environment',
  scope: 'session',
  effect: 'write',
  summary: 'Sets a variable for processes started from now on.',
  params: {
    target: optional(target('the session')),
    global: flag('-g', 'for all sessions'),
    remove: flag('-r', 'start processes without the variable'),
    unset: flag('-u', 'forget what was set here'),
    hidden: flag('-h', 'only for formats, not for processes'),
    expandFormats: flag('-F', 'expand formats in the value'),
    name: required(custom(variable, '', 'its name', (name) => [name])),
    value: argument('what it is set to'),
  },
  refuse: (params) =>
    exactlyOne(params, 'target', 'global') ?? exactlyOne(params, 'value', 'remove', 'unset'),
  result: ack,
  example: { target: { session: 'demo' }, name: 'EDITOR', value: 'vi' },
});
