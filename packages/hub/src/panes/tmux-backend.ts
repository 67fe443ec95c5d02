import { isUtf8 } from 'node:buffer';
import { existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { PolyError } from '@polyphony/protocol';
import type { Shown } from '../host/client.ts';
import { findProgram } from '../host/find-program.ts';
import { listProcesses, startTimeOf } from '../host/process-table.ts';
import { mostTypeCommands, screenCommands, screenOf, typeCommands } from '../platform/tmux-terminal.ts';
import type { PaneBackend } from './backend.ts';
import type { HostLink } from './host-link.ts';
import { defaultSize, noteOf, type PaneRecord, sharesOf } from './pane-record.ts';
import { graceMs, type Keep } from './pty-backend.ts';
import { captureCommands, shownOf } from './tmux-capture.ts';
import { hostMark, mark, rowFormat, rowOf, type TmuxPaneRow } from './tmux-pane-row.ts';
import type { TmuxSession } from './tmux-session.ts';

/** Signalled by tmux when a program of ours has ended. */
const diedChannel = 'poly-pane-died';
const lookEveryMs = 1_000;
/** Panes inside the tmux session. */
export class TmuxBackend implements PaneBackend {
  readonly name = 'tmux';
  readonly #session: TmuxSession;
  readonly #link: HostLink;
  readonly #keep: Keep;
  readonly #host: string;

  /** `host` is the folder of the host, which tells our panes from those of another hub. */
  constructor(
    session: TmuxSession,
    link: HostLink,
    { keep, host }: { readonly keep: Keep; readonly host: string },
  ) {
    this.#host = host;
    this.#session = session;
    this.#link = link;
    this.#keep = keep;
  }

  async open({ record, env }: Parameters<PaneBackend['open']>[0]): ReturnType<PaneBackend['open']> {
    const { id, argv, cwd, cols, rows, title } = record;
    const { fifo } = await this.#link.use((host) => {
      // tmux would make the pane and let it die.
      findProgram(argv[0] ?? '', cwd, env);
      return host.adopt({ id, cols, rows, ...this.#keep, ...sharesOf(record), note: noteOf(record) });
    });
    // The newest window stands last, so that one line can make it and name it: nothing is printed before the pipe is on.
    const last = `${this.#session.target}{end}`;
    const variables = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    try {
      const [made = ''] = await this.#session.runLine([
        // biome-ignore format: one flag and its value a pair
        ['new-window', '-d', '-a', '-t', last, '-P', '-F', '#{pane_id} #{pane_pid}', '-c', plain(cwd), '-n', plain(title), ...variables, '--', ...command(argv, env)],
        ['set-option', '-p', '-t', last, mark, id],
        ['set-option', '-p', '-t', last, hostMark, this.#host],
        ...(cols !== defaultSize.cols || rows !== defaultSize.rows
          ? [['resize-window', '-t', last, '-x', String(cols), '-y', String(rows)]]
          : []),
        ...this.#pipe(last, fifo),
      ]);
      const [tmuxPane = '', pid] = made.trim().split(' ');
      return { pid: Number(pid), startTime: startTimeOf(Number(pid)), tmuxPane };
    } catch (error) {
      await this.#link.use(async (host) => {
        await host.finish(id, { exitCode: null, exitSignal: null });
        await host.forget(id);
      });
      throw error;
    }
  }

  async type(record: PaneRecord, bytes: Buffer): Promise<void> {
    if (!isUtf8(bytes))
      throw new PolyError(
        'invalid_arguments',
        `${record.id} is a tmux pane, and tmux types text (UTF-8) only.`,
        {
          hint: 'A pty pane takes every byte: poly run --backend pty',
        },
      );
    const target = record.tmuxPane ?? '';
    const [state = ''] = await this.#session.runLine([
      ['display-message', '-p', '-t', target, `#{pane_dead} #{pane_in_mode} #{pane_input_off} #{${mark}}`],
    ]);
    const [dead, inMode, inputOff, id] = state.trim().split(' ');
    if (dead !== '0' || id !== record.id) throw new PolyError('pane_exited', `${record.id} has ended.`);
    if (inMode !== '0') {
      throw new PolyError(
        'conflict',
        `${record.id} is in a mode of tmux (copy mode?), which would swallow the text.`,
        {
          hint: 'Leave the mode with q in the terminal, then try again.',
        },
      );
    }
    if (inputOff !== '0') {
      throw new PolyError('conflict', `${record.id} takes no input: somebody has switched it off in tmux.`, {
        hint: 'Switch it on again: tmux select-pane -e',
      });
    }
    const commands = typeCommands(target, bytes);
    for (let at = 0; at < commands.length; at += mostTypeCommands) {
      await this.#session.runLine(commands.slice(at, at + mostTypeCommands));
    }
  }

  async screen(record: PaneRecord): ReturnType<PaneBackend['screen']> {
    const target = record.tmuxPane ?? '';
    return screenOf(await this.#session.runLine(screenCommands(target)));
  }

  async resize(record: PaneRecord, cols: number, rows: number): Promise<void> {
    await this.#session.run(
      'resize-window',
      '-t',
      record.tmuxPane ?? '',
      '-x',
      String(cols),
      '-y',
      String(rows),
    );
    await this.#link.use((host) => host.resize(record.id, cols, rows));
  }

  async end(record: PaneRecord): ReturnType<PaneBackend['end']> {
    const { id, pid, startTime, tmuxPane } = record;
    await this.#session.running(); // One that does not answer says so before anything is killed.
    await this.#link.use((host) => host.killTree({ id, pid, ...(startTime && { startTime }), graceMs }));
    const row = (await this.knownRows()).find((known) => known.tmuxPane === tmuxPane && known.dead);
    await this.dispose(record);
    return row && { exitCode: row.exitCode, exitSignal: row.exitSignal };
  }

  async activate(record: PaneRecord): Promise<void> {
    const target = record.tmuxPane ?? '';
    await this.#session.runLine([
      ['select-window', '-t', target],
      ['select-pane', '-t', target],
    ]);
  }

  /** Takes away what tmux shows of a pane whose program has ended. */
  async dispose(record: PaneRecord): Promise<void> {
    const row = (await this.rows()).find(({ tmuxPane }) => tmuxPane === record.tmuxPane);
    await (row && this.#session.run('kill-pane', '-t', row.tmuxPane).catch(() => undefined)); // Gone by itself meanwhile.
  }

  /** Every pane of tmux that is ours; none when the session is not there. */
  async rows(): Promise<readonly TmuxPaneRow[]> {
    if (!(await this.#session.running())) return [];
    const listed = await this.#session.read('list-panes', '-a', '-F', rowFormat);
    const rows = listed.split('\n').flatMap((line) => rowOf(line, this.#host) ?? []);
    // A pane is listed once for each session that shows it.
    return [...new Map(rows.map((row) => [row.tmuxPane, row])).values()];
  }

  /** Pipes a pane's output to the host again; answers what tmux shows of it at the very moment in which that begins. */
  async pipeAgain({ tmuxPane }: TmuxPaneRow, fifo: string): Promise<Shown> {
    const capture = captureCommands(tmuxPane);
    const replies = await this.#session.runLine([...this.#pipe(tmuxPane, fifo), ...capture]);
    return shownOf(replies.slice(-capture.length));
  }

  /** Whether another hub has panes in the session. */
  async isShared(): Promise<boolean> {
    if (!(await this.#session.running())) return false;
    const marks = await this.#session.read(
      'list-panes',
      '-s',
      '-t',
      this.#session.target,
      '-F',
      `#{${hostMark}}`,
    );
    return marks.split('\n').some((host) => host !== '' && host !== this.#host);
  }

  /** Tells how each pane is, whenever one has ended and now and then, until aborted or tmux has gone. */
  async watch(onRow: (row: TmuxPaneRow) => void, signal: AbortSignal): Promise<void> {
    const look = async (): Promise<void> => {
      for (const row of await this.knownRows()) onRow(row);
    };
    const gone = new AbortController();
    const watching = AbortSignal.any([signal, gone.signal]);
    await Promise.all([
      this.#lookNowAndThen(look, watching),
      (async () => {
        do await look();
        while (await this.#session.waitFor(diedChannel, signal));
        gone.abort();
      })(),
    ]);
  }

  /** tmux 3.3a sometimes leaves a program that has ended unnoticed until the next one ends, and signals nothing. */
  async #lookNowAndThen(look: () => Promise<void>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await setTimeout(lookEveryMs, undefined, { signal, ref: false }).catch(() => undefined); // Aborted: the loop ends.
      if (!signal.aborted) await look();
    }
  }

  /** Every pane of ours. tmux may know that one has ended before it knows how: the end of a child of its own makes it look. */
  async knownRows(): Promise<readonly TmuxPaneRow[]> {
    for (let tries = 0; ; tries++) {
      const rows = await this.rows();
      const known = rows.every((row) => !row.dead || row.exitCode !== null || row.exitSignal !== null);
      if (known || tries === 20) return rows;
      await this.#session.run('run-shell', 'true');
      await setTimeout(25);
    }
  }

  /** The panes whose program is the child of another tmux: POLY_TMUX_SOCKET has changed, or the socket was deleted. */
  async elsewhere(records: readonly PaneRecord[]): Promise<readonly PaneRecord[]> {
    const own = (await this.#session.running())
      ? Number(await this.#session.read('display-message', '-p', '#{pid}'))
      : 0;
    const all = new Map((await listProcesses()).map((entry) => [entry.pid, entry]));
    return records.filter(({ pid, startTime }) => {
      const program = all.get(pid);
      const server = program?.startTime === startTime ? all.get(program?.parent ?? 0) : undefined;
      return server !== undefined && server.pid !== own && server.name.startsWith('tmux');
    });
  }

  #pipe(target: string, fifo: string): readonly (readonly string[])[] {
    return [
      ['pipe-pane', '-t', target, `exec cat > ${tmuxWord(fifo)}`],
      ['set-option', '-p', '-t', target, 'remain-on-exit', 'on'],
      ['set-hook', '-p', '-t', target, 'pane-died', `wait-for -S ${diedChannel}`],
    ];
  }
}

/**
 * Runs the program and outlives it by a moment, then ends exactly as it did. tmux closes a terminal as soon as it has
 * heard of the end of its process, which on a busy machine may be before the kernel has passed on the last bytes.
 */
const lingering = `
  delete $ENV{PERL_BADLANG};
  $0 = "@ARGV";
  my $child = fork() // exit 126;
  if ($child == 0) { exec { $ARGV[0] } @ARGV or exit 127 }
  $SIG{$_} = 'IGNORE' for qw(INT QUIT HUP TERM);
  waitpid($child, 0);
  my $status = $?;
  select(undef, undef, undef, 0.1);
  if (my $signal = $status & 127) {
    $SIG{$_} = 'DEFAULT' for qw(INT QUIT HUP TERM);
    kill $signal, $$;
  }
  exit($status >> 8);`;
const perl = '/usr/bin/perl';

/** tmux gives a single word to a shell, but runs several as they are. */
function command(argv: readonly string[], env: Readonly<Record<string, string>>): readonly string[] {
  // Perl would obey variables of its own, which are meant for the program.
  const free = !Object.keys(env).some((name) => name.startsWith('PERL'));
  if (free && existsSync(perl))
    return ['/usr/bin/env', 'PERL_BADLANG=0', perl, '-e', lingering, '--', ...argv];
  return argv.length > 1 ? argv : ['/bin/sh', '-c', 'exec "$@"', 'sh', ...argv];
}

/** Quotes a path for the shell, and keeps tmux from expanding it as a format or a date. */
function tmuxWord(path: string): string {
  return `'${path.replaceAll("'", "'\\''").replaceAll('#', '##').replaceAll('%', '%%')}'`;
}

/** Text that tmux would otherwise take for a format, and run what it holds. */
const plain = (text: string): string => text.replaceAll('#', '##');
