import type { Use } from './use.ts';

/** The commands a tmux server knows, and what its user has called some of them. */
export interface Commands {
  /** What the user has made a name stand for; tmux looks there first. */
  alias(name: string): string | undefined;
  /** By its name, its short name, or a beginning that no other has. */
  find(name: string): Command | undefined;
}

interface Command {
  readonly name: string;
  takesValue(flag: string): boolean;
}

export async function commandsOf({ ask: run, tmux }: Pick<Use, 'ask' | 'tmux'>): Promise<Commands> {
  const [rows, { options }] = await Promise.all([
    run(tmux.listCommands()),
    run(tmux.showOptions({ server: true, name: 'command-alias' })),
  ]);
  const items = options['command-alias'];
  // Of two that are called alike tmux takes the first.
  const aliases = new Map(
    Object.values(typeof items === 'object' ? items : {})
      .map(splitAlias)
      .reverse(),
  );
  const commandOf = ({ name, usage }: (typeof rows)[number]): Command => {
    // As its usage shows them: [-abk] have none, [-t target-pane] has one.
    const valued = new Set([...usage.matchAll(/\[-(\w) /g)].map(([, flag]) => flag));
    return { name, takesValue: (flag) => valued.has(flag) };
  };
  return {
    alias: (name) => aliases.get(name),
    find(name) {
      const exact = rows.find((row) => row.name === name || (row.alias !== '' && row.alias === name));
      const alike = name === '' ? [] : rows.filter((row) => row.name.startsWith(name));
      const row = exact ?? (alike.length === 1 ? alike[0] : undefined);
      return row && commandOf(row);
    },
  };
}

function splitAlias(text: string): [name: string, stands: string] {
  const at = text.indexOf('=');
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
