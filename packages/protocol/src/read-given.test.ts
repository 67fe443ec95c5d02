import { expect, it } from 'vitest';
import * as z from 'zod';
import { PolyError } from './error.ts';
import { paneRead } from './index.ts';
import { paneNew } from './pane.ts';
import { readGiven } from './read-given.ts';

function refusal(schema: z.ZodType, given: unknown, secrets?: readonly string[]): string {
  try {
    readGiven(schema, given, { what: 'it', secrets });
  } catch (error) {
    if (error instanceof PolyError && error.code === 'invalid_arguments') return error.message;
    throw error;
  }
  throw new Error(`${JSON.stringify(given)} was taken.`);
}

const message = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('input'), data: z.string() }),
  z.strictObject({ type: z.literal('resize'), cols: z.int() }),
]);
const tables = z.strictObject({
  permission: z.strictObject({ spawn: z.record(z.string().min(1), z.enum(['allow', 'ask', 'deny'])) }),
});

it.each<[z.ZodType, unknown, string]>([
  [paneNew.params, { backend: 'foo' }, 'it: backend must be pty or tmux, not "foo".'],
  [paneNew.params, { backend: 'tmx' }, 'it: backend must be pty or tmux, not "tmx"; did you mean tmux?'],
  [paneNew.params, { backend: 7 }, 'it: backend must be pty or tmux, not 7.'],
  [paneNew.params, { argv: 'ls' }, 'it: argv must be a list, not "ls".'],
  [paneNew.params, { argv: [] }, 'it: argv must not be empty.'],
  [paneNew.params, { argv: ['ls', 7] }, 'it: argv.1 must be text, not 7.'],
  [paneNew.params, { cols: 'wide' }, 'it: cols must be a whole number, not "wide".'],
  [paneNew.params, { cols: 2.5 }, 'it: cols must be a whole number, not 2.5.'],
  [paneNew.params, { cols: 1 }, 'it: cols must be 2 to 1000, not 1.'],
  [paneNew.params, { persist: 'yes' }, 'it: persist must be true or false, not "yes".'],
  [paneNew.params, { title: 'x'.repeat(201) }, 'it: title must have at most 200 characters, not 201.'],
  [paneNew.params, { cwd: 'a\0\u202eb' }, 'it: cwd must not contain NUL (given: "a\\u0000\\u202eb").'],
  [paneNew.params, { meta: { a: [] } }, 'it: meta.a must be text, a number, true or false or null, not [].'],
  [paneNew.params, { env: { 'A=B': 'c' } }, 'it: env.A=B must be a name without "=".'],
  [paneNew.params, [], 'it: it must be an object, not [].'],
  [paneRead.params, {}, 'it: paneId is missing: it must be text.'],
  [paneRead.params, { paneId: 'x', since: -1 }, 'it: since must be 0 or more, not -1.'],
  [
    paneRead.params,
    { paneId: 'x', view: 7, tail: 'a' },
    'it: tail must be a whole number, not "a"; view must be plain or raw, not 7.',
  ],
  [paneRead.params, { paneId: 'x', since: 1, tail: 1 }, 'it: say only one of tail, since and fromLine.'],
  [
    paneRead.params,
    { paneId: 'x', tial: 1 },
    'it: "tial" is unknown: it takes paneId, tail, since, fromLine, limit and view; did you mean tail?',
  ],
  [z.strictObject({ kind: z.enum(['ws', 'ui']) }), {}, 'it: kind is missing: it must be ws or ui.'],
  [z.strictObject({}), { a: 1 }, 'it: "a" is unknown: it takes nothing.'],
  [message, { type: 'dance' }, 'it: type must be input or resize, not "dance".'],
  [
    message,
    { type: 'rezise', cols: 1 },
    'it: type must be input or resize, not "rezise"; did you mean resize?',
  ],
  [message, { type: 'resize', cols: '1' }, 'it: cols must be a whole number, not "1".'],
  [
    tables,
    { permission: { spwan: {}, spawn: {} } },
    'it: "spwan" is unknown: permission takes spawn; did you mean spawn?',
  ],
  [
    tables,
    { permission: { spawn: { x: 'never', y: 'alow' } } },
    'it: permission.spawn.x must be allow, ask or deny, not "never"; permission.spawn.y must be allow, ask or deny, not "alow"; did you mean allow?',
  ],
])('of %# says what must be there, what was, and what was probably meant', (schema, given, said) => {
  expect(refusal(schema, given)).toBe(said);
});

it('repeats no secret', () => {
  const schema = z.strictObject({ data: z.string().max(3), env: z.record(z.string(), z.string()) });
  const said = refusal(schema, { data: 'hunter2', env: { KEY: 4711 } }, ['data', 'env']);
  expect(said).toBe('it: data must have at most 3 characters, not 7; env.KEY must be text, not a number.');
});
