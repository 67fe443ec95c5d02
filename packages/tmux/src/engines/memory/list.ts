import type { Arguments } from './command.ts';
import type { Subject } from './fields.ts';
import { expand, isTrue } from './format.ts';

/** The rows a list command prints: `-F` of each subject for which `-f` holds. */
export function listRows(args: Arguments, format: string, subjects: readonly Subject[]): string {
  const wanted = subjects.filter((subject) => isTrue(args.get('f'), subject));
  return lines(wanted.map((subject) => expand(args.get('F') ?? format, subject)));
}

export function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('');
}

/** What `-P` prints of something new, where it is asked for. */
export function printed(args: Arguments, format: string, subject: Subject): string | undefined {
  return args.has('P') ? `${expand(args.get('F') ?? format, subject)}\n` : undefined;
}
