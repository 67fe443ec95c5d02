import * as z from 'zod';
import { custom, type Param } from './param.ts';

const schema = z
  .string()
  .regex(/^[^\s\p{Cc}]+$/u, 'a key table’s name here cannot hold spaces: tmux lists it without quotes');

/** A key table by its name. */
export function keyTable(doc: string): Param<string, false> {
  return custom(schema, '-T', doc, (table) => ['-T', table]);
}
