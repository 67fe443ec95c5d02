import { type IPty, spawn } from '@lydell/node-pty';
import type { PaneScreen } from '@polyphony/protocol';
import headless from '@xterm/headless';

export interface TerminalOptions {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cols?: number;
  readonly rows?: number;
}

export interface Terminal {
  screen(): PaneScreen;
  /** Whether the program has asked for pastes to be marked. */
  bracketedPaste(): boolean;
  write(data: string): void;
  /** Resolves with the first screen that fits; fails with what it showed instead. */
  until(what: string, fits: (screen: PaneScreen) => boolean, ms?: number): Promise<PaneScreen>;
  close(): Promise<void>;
}

/** A program in a real PTY, with a screen to look at. */
export function openTerminal({ argv, cwd, env, cols = 110, rows = 34 }: TerminalOptions): Terminal {
  const [program = '', ...args] = argv;
  const terminal = new headless.Terminal({ cols, rows, allowProposedApi: true });
  const pty: IPty = spawn(program, args, { cwd, env, cols, rows, name: 'xterm-256color' });
  const watchers = new Set<() => void>();
  const ended = new Promise<void>((resolve) => pty.onExit(() => resolve()));
  let title = '';
  let visible = true;

  for (const [final, shown] of [['h', true] as const, ['l', false] as const]) {
    terminal.parser.registerCsiHandler({ prefix: '?', final }, (params) => {
      if (params.includes(25)) visible = shown;
      return false;
    });
  }
  terminal.onTitleChange((changed) => {
    title = changed;
  });
  terminal.onData((data) => pty.write(data)); // Answers to the program's questions about the terminal.
  pty.onData((data) => {
    terminal.write(data, () => {
      for (const watch of watchers) watch();
    });
  });

  function screen(): PaneScreen {
    const buffer = terminal.buffer.active;
    const line = (row: number) => buffer.getLine(buffer.baseY + row)?.translateToString(true) ?? '';
    return {
      rows,
      cols,
      lines: Array.from({ length: rows }, (_, row) => line(row)),
      cursor: { x: buffer.cursorX, y: buffer.cursorY, visible },
      title,
      alternate: buffer.type === 'alternate',
    };
  }

  return {
    screen,
    bracketedPaste: () => terminal.modes.bracketedPasteMode,
    write: (data) => pty.write(data),
    until(what, fits, ms = 20_000) {
      const { promise, resolve, reject } = Promise.withResolvers<PaneScreen>();
      const look = (): void => {
        if (terminal.modes.synchronizedOutputMode) return; // Half a frame.
        const now = screen();
        if (fits(now)) resolve(now);
      };
      const fail = (why: string): void => {
        const { lines, title: called } = screen();
        const shown = lines.join('\n').trimEnd();
        reject(
          new Error(`${why} before it showed ${what}. Title ${JSON.stringify(called)}, screen:\n${shown}`),
        );
      };
      const timer = setTimeout(() => fail(`${ms} ms went by`), ms);
      void ended.then(() => fail(`${program} ended`));
      watchers.add(look);
      look();
      return promise.finally(() => {
        clearTimeout(timer);
        watchers.delete(look);
      });
    },
    async close() {
      pty.kill('SIGKILL');
      await ended;
      terminal.dispose();
    },
  };
}
