import { setTimeout as pause } from 'node:timers/promises';
import { type PaneScreen, PolyError } from '@polyphony/protocol';
import type { Engine, Reply } from '@polyphony/tmux';
import type { Clock } from '../../platform/clock.ts';
import { mostTypeCommands, screenCommands, screenOf, typeCommands } from '../../platform/tmux-terminal.ts';
import { bytesReadBy } from '../processes.ts';

/** One pane of somebody's tmux server. */
export interface ForeignPane {
  readonly pane: string;
  /** The process that tmux started in it. */
  readonly pid: number;
  /** The process of the server. */
  readonly server: number;
  /** When its window last printed something; tmux tells the second. */
  readonly activity: number;
  /** Whether it is the only one in its window. */
  readonly alone: boolean;
  /** Whether somebody has it before them. */
  readonly shown: boolean;
  /** It is a pane of a hub. */
  readonly ofAHub: boolean;
  /** What else tells that something has changed. */
  readonly look: string;
}

const format =
  '#{pane_id} #{pane_pid} #{pid} #{window_activity} #{window_panes} #{window_active_clients} #{window_zoomed_flag}#{pane_active} #{?@poly-pane,1,0} #{cursor_x},#{cursor_y},#{alternate_on},#{pane_in_mode},#{pane_title}';
const rowPattern = /^(%\d+) (\d+) (\d+) (\d+) (\d+) (\d+) ([01])([01]) ([01]) (.*)$/;

/** What is known of a pane that is watched. */
interface Watched {
  readonly wake: Set<() => void>;
  row: ForeignPane | undefined;
  shows: string;
  screen: PaneScreen | undefined;
  /** When it was last captured. */
  capturedAt: number;
}

/** So often tmux is asked while something moves, and while all rest, where nothing else tells that they do. */
const movingMs = 200;
const restingMs = 300;
/** For so long after the last movement. */
const movedMs = 5_000;
/** So often it is looked whether tmux has read anything from a terminal; while it has not, it is asked now and then. */
const quietMs = 100;
const unaskedMs = 5_000;
const longestMs = 5_000;
/** A picture may be so old and still be taken for that of now. */
const freshMs = 100;
/** tmux answers in microseconds, a stopped one never. */
const patienceMs = 5_000;
/** So many panes are captured at once. */
const atOnce = 10;

/**
 * A tmux server that somebody else runs. It is asked over its socket, as its own client would, and is never attached
 * to: no hook of the user's runs, no size changes, no session is taken for the last one used.
 */
export class ForeignTmux {
  readonly socket: string;
  readonly #clock: Clock;
  readonly #onShown: (panes: readonly string[]) => void;
  readonly #watched = new Map<string, Watched>();
  readonly #stop = new AbortController();
  #carrier: Promise<Engine> | undefined;
  #following: Promise<void> | undefined;
  #movedAt = 0;
  #panes: ReadonlySet<string> | undefined;
  /** When it was last asked, its process, and how much that had read by then. */
  #asked = { at: 0, server: 0, read: undefined as string | undefined };

  constructor(socket: string, clock: Clock, onShown: (panes: readonly string[]) => void) {
    this.socket = socket;
    this.#clock = clock;
    this.#onShown = onShown;
  }

  async panes(): Promise<readonly ForeignPane[]> {
    const engine = await this.#engine();
    const asked = { argv: ['list-panes', '-a', '-F', format], effect: 'read' } as const;
    const listed = answerOf(await engine.run(asked, { timeoutMs: patienceMs }));
    const rows = listed.split('\n').flatMap((line) => rowOf(line) ?? []);
    // A pane is listed once for each session that shows it.
    return [...new Map(rows.map((row) => [row.pane, row])).values()];
  }

  /** Whether it has told, when it was last asked, that it has no such pane. */
  lacks(pane: string, server: number): boolean {
    return this.#asked.server === server && this.#panes !== undefined && !this.#panes.has(pane);
  }

  /** What a pane shows now. */
  async screen(pane: string, server: number): Promise<PaneScreen> {
    const watched = this.#watched.get(pane);
    if (watched?.screen && this.#clock.now() - watched.capturedAt < freshMs) return watched.screen;
    const [screen] = await this.#capture([pane], server);
    if (!screen) throw new PolyError('unavailable', `the tmux pane ${pane} of ${this.socket} is gone.`);
    return screen;
  }

  /** Types into a pane whose program is known to read. */
  async type(pane: string, server: number, bytes: Buffer): Promise<void> {
    const [state = ''] = await this.#line([
      ['display-message', '-p', '-t', pane, '#{pid} #{pane_dead} #{pane_in_mode} #{pane_input_off}'],
    ]);
    const [of, dead, inMode, inputOff] = state.trim().split(' ');
    if (Number(of) !== server || dead !== '0')
      throw new PolyError('pane_exited', `the tmux pane ${pane} of ${this.socket} is gone.`);
    if (inMode !== '0' || inputOff !== '0')
      throw new PolyError(
        'conflict',
        `the tmux pane ${pane} takes no text now: it is in copy mode, or its input is switched off.`,
        { hint: 'Leave the mode with q in its terminal, then try again.' },
      );
    const commands = typeCommands(pane, bytes);
    for (let at = 0; at < commands.length; at += mostTypeCommands)
      await this.#line(commands.slice(at, at + mostTypeCommands));
  }

  /** Comes round each time a pane has drawn something. */
  async *stirs(pane: string, signal: AbortSignal): AsyncGenerator<undefined> {
    const ended = AbortSignal.any([signal, this.#stop.signal]);
    let stirred = false;
    let next = Promise.withResolvers<void>();
    const wake = (): void => {
      stirred = true;
      next.resolve();
    };
    ended.addEventListener('abort', () => next.resolve(), { once: true });
    const watched = this.#watched.get(pane) ?? {
      ...{ wake: new Set<() => void>(), row: undefined, shows: '', screen: undefined, capturedAt: 0 },
    };
    watched.wake.add(wake);
    this.#watched.set(pane, watched);
    this.#asked = { ...this.#asked, read: undefined }; // It has not been looked at yet.
    this.#begin();
    try {
      while (!ended.aborted) {
        await next.promise;
        next = Promise.withResolvers();
        if (stirred && !ended.aborted) yield undefined;
        stirred = false;
      }
    } finally {
      watched.wake.delete(wake);
      if (watched.wake.size === 0) this.#watched.delete(pane);
    }
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await (await this.#carrier)?.close();
    await this.#following;
  }

  #begin(): void {
    this.#following ??= this.#follow().finally(() => {
      this.#following = undefined;
      if (this.#watched.size > 0 && !this.#stop.signal.aborted) this.#begin();
    });
  }

  /** Asks tmux now and then, as long as a pane is watched; more seldom while nothing moves or nobody answers. */
  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    let waitMs = movingMs;
    while (!signal.aborted && this.#watched.size > 0) {
      const read = bytesReadBy(this.#asked.server);
      try {
        waitMs = this.#isQuiet(read) ? quietMs : await this.#ask(read);
      } catch {
        waitMs = Math.min(longestMs, waitMs * 2); // It is stopped, or has gone: what the processes tell counts.
      }
      await pause(waitMs, undefined, { signal, ref: false }).catch(() => undefined); // Aborted: the loop ends.
    }
    this.#onShown([]);
  }

  /** Whether no program can have drawn, and nobody typed, since it was asked: tmux reads all of that from terminals. */
  #isQuiet(read: string | undefined): boolean {
    const { at, read: before } = this.#asked;
    return read !== undefined && read === before && this.#clock.monotonic() < at + unaskedMs;
  }

  /** Asks what has changed, and answers how long that may be left unasked. */
  async #ask(read: string | undefined): Promise<number> {
    const at = this.#clock.monotonic();
    const rows = await this.panes();
    await this.#look(rows);
    this.#panes = new Set(rows.map(({ pane }) => pane));
    // What it reads while it is asked may be missing from its answer.
    this.#asked = { at, server: rows[0]?.server ?? 0, read };
    return this.#clock.now() - this.#movedAt < movedMs ? movingMs : restingMs;
  }

  async #look(rows: readonly ForeignPane[]): Promise<void> {
    const followed = rows.filter(({ pane }) => this.#watched.has(pane));
    this.#onShown(followed.flatMap(({ pane, shown }) => (shown ? [pane] : [])));
    const changed = followed.filter((row) => this.#mayHaveChanged(row));
    for (let at = 0; at < changed.length; at += atOnce) {
      const some = changed.slice(at, at + atOnce);
      const screens = await this.#capture(
        some.map(({ pane }) => pane),
        some[0]?.server ?? 0,
      );
      some.forEach((row, index) => {
        if (screens[index]) this.#see(row);
      });
    }
  }

  /** Whether something may have been drawn since it was captured: tmux tells the second and no more. */
  #mayHaveChanged(row: ForeignPane): boolean {
    const { row: before, capturedAt } = this.#watched.get(row.pane) ?? { row: undefined, capturedAt: 0 };
    return before?.look !== row.look || capturedAt < (row.activity + 1) * 1000 + freshMs;
  }

  #see(row: ForeignPane): void {
    const watched = this.#watched.get(row.pane);
    if (!watched) return;
    const shows = JSON.stringify(watched.screen);
    // Beside another pane of the same window only a new picture tells that it was this one that drew.
    const drew = shows !== watched.shows || (row.alone && row.activity !== watched.row?.activity);
    watched.row = row;
    watched.shows = shows;
    if (!drew) return;
    this.#movedAt = this.#clock.now();
    for (const wake of watched.wake) wake();
  }

  /** What panes show, as far as they are there. */
  async #capture(panes: readonly string[], server: number): Promise<readonly (PaneScreen | undefined)[]> {
    const at = this.#clock.now();
    const [of = '', ...replies] = await this.#line([
      ['display-message', '-p', '-t', panes[0] ?? '', '#{pid}'],
      ...panes.flatMap(screenCommands),
    ]);
    if (Number(of) !== server)
      throw new PolyError('unavailable', `another tmux server runs at ${this.socket} now.`);
    return panes.map((pane, index) => {
      const answers = replies.slice(2 * index, 2 * index + 2);
      if (answers.length < 2) return undefined;
      const screen = screenOf(answers);
      const watched = this.#watched.get(pane);
      if (watched) Object.assign(watched, { screen, capturedAt: at });
      return screen;
    });
  }

  /** Runs commands on one line; answers what each printed, up to the first that was refused. */
  async #line(commands: readonly (readonly string[])[]): Promise<readonly string[]> {
    const engine = await this.#engine();
    const chain = commands.map((argv) => ({ argv }));
    const replies = await engine.runChain(chain, { timeoutMs: patienceMs });
    const refused = replies.findIndex(({ status }) => status !== 'complete');
    return (refused < 0 ? replies : replies.slice(0, refused)).map(({ stdout }) => stdout);
  }

  #engine(): Promise<Engine> {
    // Nothing of the hub's own environment is told to somebody else's server.
    const connection = { socketPath: this.socket, env: { PATH: process.env.PATH, TERM: 'dumb' } };
    this.#carrier ??= import('@polyphony/tmux').then(({ createEngine }) => createEngine('imsg', connection));
    return this.#carrier;
  }
}

function rowOf(line: string): ForeignPane | undefined {
  const [, pane = '', pid, server, activity, count, clients, zoomed, active, ofAHub, look = ''] =
    rowPattern.exec(line) ?? [];
  if (pane === '') return undefined;
  return {
    ...{ pane, pid: Number(pid), server: Number(server), activity: Number(activity), look },
    alone: count === '1',
    shown: clients !== '0' && (zoomed === '0' || active === '1'),
    ofAHub: ofAHub === '1',
  };
}

function answerOf({ status, stdout, stderr }: Reply): string {
  if (status === 'complete') return stdout;
  throw new PolyError('unavailable', `tmux refused: ${stderr || status}`);
}
