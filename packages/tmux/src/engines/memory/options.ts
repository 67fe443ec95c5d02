import { CommandFailure } from './command.ts';
import type { Subject } from './fields.ts';
import { knownOption } from './option-table.ts';
import type { Values } from './server.ts';

/** Where the options of a subject are looked up, from the nearest out. */
function places({ server, session, window, pane }: Subject): readonly (Values | undefined)[] {
  return [
    pane?.options,
    window?.options,
    server.windowOptions,
    session?.options,
    server.sessionOptions,
    server.serverOptions,
  ];
}

/** What `#{option}` stands for. */
export function optionOf(name: string, subject: Subject): string | undefined {
  for (const values of places(subject)) {
    const value = values?.get(name);
    if (value !== undefined) return value;
  }
  return knownOption(name)?.fallback;
}

/** The value as tmux keeps it, or its words for why it cannot be one. */
export function checkOption(name: string, value: string): string {
  const fallback = knownOption(name)?.fallback ?? '';
  if (fallback === 'on' || fallback === 'off') {
    if (/^(on|yes|1)$/i.test(value)) return 'on';
    if (/^(off|no|0)$/i.test(value)) return 'off';
    throw new CommandFailure(`bad value: ${value}`);
  }
  if (/^\d+$/.test(fallback) && !/^-?\d+$/.test(value))
    throw new CommandFailure(`value is invalid: ${value}`);
  return value;
}

/** A value as `show-options` prints it, so that tmux could read it again. */
export function quoteOption(value: string): string {
  if (value === '') return "''";
  if (!/[\s"'$\\#;{}%~]/.test(value)) return value;
  const escaped = value
    .replace(/["$\\]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t');
  return /[\s'"#;{}%$]/.test(value) ? `"${escaped}"` : escaped;
}
