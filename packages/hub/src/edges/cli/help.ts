import type { ActionInfo } from './action-info.ts';
import type { Command } from './command.ts';
import type { Flags } from './flag.ts';
import type { Output } from './output.ts';
import { globalFlags } from './parse.ts';

const exitCodes =
  '0 done, 1 failed, 2 wrong usage, 3 not found, 4 refused or conflict, 5 timed out, 6 no hub answers';

export function asksForHelp(words: readonly string[]): boolean {
  return beforeDashes(words).some((word) => word === '--help' || word === '-h');
}

/** The words that are ours; what stands behind is somebody else’s. */
export function beforeDashes(words: readonly string[]): readonly string[] {
  const end = words.indexOf('--');
  return end < 0 ? words : words.slice(0, end);
}

/** Everything there is, by what it is about. */
export function showOverview(
  out: Output,
  groups: readonly (readonly [about: string, commands: readonly Command[]])[],
): void {
  out.line(`${out.paint('bold', 'poly')}: terminals and coding agents, in one place.`);
  out.line();
  out.line(`Usage: poly <command> [flags]`);
  out.line();
  for (const [about, commands] of groups) {
    heading(out, about);
    showCommands(out, commands);
    out.line();
  }
  heading(out, 'To begin');
  for (const example of ['poly up', 'poly run -- top', 'poly ls', 'poly attach <pane>'])
    out.line(`  ${example}`);
  out.line();
  out.line(`poly <command> --help tells more and shows examples. Exit codes: ${exitCodes}.`);
}

function showCommands(out: Output, commands: readonly Command[]): void {
  out.table(commands.map((command) => [`  ${out.paint('cyan', synopsis(command))}`, command.summary]));
}

export function showGroup(out: Output, noun: string, commands: readonly Command[]): void {
  const [{ about } = {}] = commands;
  if (about !== undefined) {
    out.line(about);
    out.line();
  }
  out.line(`Usage: poly ${noun} <command> [flags]`);
  out.line();
  showCommands(out, commands);
  out.line();
  showExamples(
    out,
    commands.flatMap(({ examples }) => examples.slice(0, 1)),
  );
}

/** A command, and those that begin with its name, as `poly mcp install` does with `poly mcp`. */
export function showCommand(out: Output, command: Command, verbs: readonly Command[] = []): void {
  out.line(command.summary);
  for (const line of command.teaches ?? []) out.line(line);
  out.line();
  out.line(`Usage: poly ${synopsis(command)}`);
  out.line();
  heading(out, 'Flags');
  showFlags(out, { ...command.flags, ...globalFlags });
  out.line();
  if (verbs.length > 0) {
    heading(out, 'Commands');
    showCommands(out, verbs);
    out.line();
  }
  showExamples(out, command.examples);
}

export function showAction(out: Output, action: ActionInfo, flags: Flags): void {
  out.line(action.summary);
  out.line();
  out.line(`Usage: poly action ${action.name}${Object.keys(flags).length > 0 ? ' [--param value …]' : ''}`);
  out.line(`       poly action ${action.name} --body '<json>'`);
  out.line();
  heading(out, 'Parameters');
  if (Object.keys(flags).length > 0) showFlags(out, flags, commonFlags);
  else out.line('  none');
  out.line();
  heading(out, 'Flags');
  showFlags(out, commonFlags);
  out.line();
  out.line(`Scope ${action.scope}, effect ${action.effect}.`);
  out.line();
  showExamples(out, [exampleOf(action, flags)]);
}

const bodyFlag = { help: 'All parameters as one JSON value.', value: 'JSON', read: () => undefined };
/** What every action has; a parameter of such a name can be said in the body only. */
const commonFlags: Flags = { body: bodyFlag, ...globalFlags };

/** The words after `poly`. */
export function synopsis({ name, args = [], rest }: Command): string {
  return [name, ...(rest === undefined ? args : ['[flags]', '[--]', rest])].join(' ');
}

function showFlags(out: Output, flags: Flags, taken: Flags = {}): void {
  out.table(
    Object.entries(flags).map(([name, flag]) => {
      const short = flag.short ? `-${flag.short}, ` : '';
      const value = flag.value ? ` ${flag.value}` : '';
      const isTaken = name in taken;
      const more = [
        flag.required && 'needed',
        flag.repeated && 'may be repeated',
        isTaken && `only inside of --body '{"${name}": …}'`,
      ]
        .filter(Boolean)
        .join(', ');
      return [
        isTaken ? `  "${name}"${value}` : `  ${short}--${name}${value}`,
        [flag.help, more && out.paint('dim', `(${more})`)].join(' ').trim(),
      ];
    }),
  );
}

function showExamples(out: Output, examples: readonly string[]): void {
  heading(out, 'Examples');
  for (const example of examples) out.line(`  ${example}`);
}

function exampleOf({ name }: ActionInfo, flags: Flags): string {
  const needed = Object.entries(flags).filter(([, { required }]) => required);
  if (needed.some(([flag]) => flag in commonFlags))
    return `poly action ${name} --body '{${needed.map(([flag]) => `"${flag}": …`).join(', ')}}'`;
  return [
    `poly action ${name}`,
    ...needed.map(([flag, { value, choices }]) => `--${flag} ${choices?.[0] ?? value?.toLowerCase()}`),
  ].join(' ');
}

function heading(out: Output, text: string): void {
  out.line(out.paint('bold', text));
}
