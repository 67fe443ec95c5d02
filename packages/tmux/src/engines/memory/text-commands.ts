import { type Arguments, CommandFailure, type CommandTable } from './command.ts';
import { expand } from './format.ts';
import { lines } from './list.ts';
import type { MemoryServer, Pane } from './server.ts';
import { type Found, find } from './target.ts';

/** Keys that are typed as something other than their name. */
const keys: Readonly<Record<string, string>> = {
  Enter: '\n',
  'C-m': '\n',
  KPEnter: '\n',
  Space: ' ',
  Tab: '\t',
  BSpace: '\b',
};
/** Keys that leave nothing on the screen. */
const silentKey =
  /^(([CMS]-)+.+|\^.|F\d+|Escape|Up|Down|Left|Right|Home|End|IC|Insert|DC|Delete|PPage|PageUp|NPage|PageDown|BTab)$/;

/** Text on a pane's screen: there is no program to do anything else with it. */
function type(pane: Pane, text: string): void {
  if (pane.inputOff) return;
  for (const part of text.split(/([\n\b])/)) {
    const last = pane.lines.at(-1) ?? '';
    if (part === '\n') pane.lines.push('');
    else pane.lines[pane.lines.length - 1] = part === '\b' ? last.slice(0, -1) : last + part;
  }
}

function sendKeys(server: MemoryServer, args: Arguments): undefined {
  const { pane } = find(server, 'pane', args.get('t'));
  if (args.has('X')) {
    if (!pane.inMode) throw new CommandFailure('not in a mode');
    if (args.words[0] === 'cancel') pane.inMode = false;
    return;
  }
  if (args.has('R')) pane.lines = [''];
  const read = (word: string): string => {
    if (args.has('l')) return word;
    return keys[word] ?? (silentKey.test(word) ? '' : word);
  };
  const text = args.has('H')
    ? Buffer.from(args.words.map((word) => Number.parseInt(word, 16)))
        .toString()
        .replaceAll('\r', '\n')
    : args.words.map(read).join('');
  type(pane, text.repeat(Number(args.get('N') ?? 1)));
}

/** Line 0 is the top of the screen, -1 the last one of the history. */
function captured(server: MemoryServer, args: Arguments, pane: Pane): readonly string[] {
  const { height } = server.placeOf(pane);
  const history = Math.max(pane.lines.length - height, 0);
  const line = (text: string | undefined, absent: number, open: number): number =>
    text === undefined
      ? absent
      : text === '-'
        ? open
        : Math.min(Math.max(Number(text) + history, 0), history + height - 1);
  const start = line(args.get('S'), history, 0);
  const end = line(args.get('E'), history + height - 1, history + height - 1);
  const [from, to] = start <= end ? [start, end] : [end, start];
  return Array.from({ length: to - from + 1 }, (_, i) => (pane.lines[from + i] ?? '').trimEnd());
}

export const textCommands: CommandTable = {
  'send-keys': { flags: 'c:FHKlMN:Rt:X', words: [0, Number.POSITIVE_INFINITY], run: sendKeys },
  'capture-pane': {
    flags: 'ab:CeE:FHJLMNpPqRS:Tt:',
    run: (server, args) => {
      const { pane } = find(server, 'pane', args.get('t'));
      if (args.has('a') && !args.has('q')) throw new CommandFailure('no alternate screen');
      const text = args.has('P') || args.has('a') ? '' : lines(captured(server, args, pane));
      if (args.has('p')) return text;
      server.setBuffer(args.get('b'), text);
      return undefined;
    },
  },
  'clear-history': {
    flags: 'Ht:',
    run: (server, args) => {
      const { pane } = find(server, 'pane', args.get('t'));
      pane.lines = pane.lines.slice(-server.placeOf(pane).height);
      return undefined;
    },
  },
  'paste-buffer': {
    flags: 'db:prSs:t:',
    run: (server, args) => {
      const { pane } = find(server, 'pane', args.get('t'));
      const name = args.get('b');
      const buffer = server.buffer(name);
      if (!buffer && name !== undefined) throw new CommandFailure(`no buffer ${name}`);
      if (!buffer) return undefined;
      type(pane, buffer.data.replaceAll('\n', args.get('s') ?? '\n'));
      if (args.has('d')) server.deleteBuffer(buffer);
      return undefined;
    },
  },
  'display-message': {
    flags: 'aCc:d:lINpt:F:v',
    words: [0, 1],
    run: (server, args) => {
      if (!args.has('p')) return undefined;
      const message = args.words[0] ?? args.get('F') ?? '#{session_name} #{window_index} #{pane_index}';
      return `${args.has('l') ? message : expand(message, { server, ...findLeniently(server, args.get('t')) })}\n`;
    },
  },
  'copy-mode': {
    flags: 'deHMqSs:t:u',
    run: (server, args) => {
      find(server, 'pane', args.get('t')).pane.inMode = !args.has('q');
      return undefined;
    },
  },
};

/** display-message answers for the longest part of its target that is there, and with nothing when that is none. */
function findLeniently(server: MemoryServer, target: string | undefined): Partial<Found> {
  const shorter =
    target === undefined
      ? [undefined]
      : [target, target.replace(/\.[^.:]*$/, ''), target.replace(/:.*$/, ':')];
  for (const tried of shorter) {
    try {
      return find(server, 'pane', tried);
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
    }
  }
  return {};
}
