import { atLeast, type TmuxVersion } from '../../operation/version.ts';
import { type Cell, type Place, placesOf, removePane, resize } from './layout.ts';

/** Values by name, of options, hooks or variables. */
export type Values = Map<string, string>;

export interface Pane {
  readonly id: number;
  window: Window;
  readonly options: Values;
  title: string;
  startDirectory: string;
  startCommand: string;
  /** What was typed or pasted, line by line; the last one is where the cursor is. */
  lines: string[];
  inputOff: boolean;
  piped: boolean;
  inMode: boolean;
}

export interface Window {
  readonly id: number;
  readonly options: Values;
  name: string;
  panes: Pane[];
  active: Pane;
  /** Panes that were active before, the latest first. */
  lastPanes: Pane[];
  layout: Cell;
  zoomed: boolean;
}

/** A window at an index of a session; the same window can be linked several times. */
export interface Link {
  readonly session: Session;
  index: number;
  window: Window;
}

export interface Session {
  readonly id: number;
  readonly options: Values;
  readonly environment: Map<string, string | null>;
  readonly created: number;
  name: string;
  startDirectory: string;
  /** In the order of their indexes. */
  links: Link[];
  current: Link;
  /** Links that were current before, the latest first. */
  lastLinks: Link[];
}

export interface PasteBuffer {
  readonly name: string;
  readonly data: string;
  readonly automatic: boolean;
  readonly created: number;
}

export interface Start {
  readonly directory?: string | undefined;
  readonly command?: string | undefined;
}

/** What a tmux server holds, and the few changes to it that everything else is made of. */
export class MemoryServer {
  readonly version: TmuxVersion;
  readonly #now: () => number;
  sessions: Session[] = [];
  /** The latest first. */
  buffers: PasteBuffer[] = [];
  marked: Pane | null = null;
  readonly serverOptions: Values = new Map();
  readonly sessionOptions: Values = new Map();
  readonly windowOptions: Values = new Map();
  readonly environment: Map<string, string | null> = new Map();
  readonly startTime: number;
  #ids = { session: 0, window: 0, pane: 0, buffer: 0 };

  constructor(version: TmuxVersion, now: () => number) {
    this.version = version;
    this.#now = now;
    this.startTime = this.seconds();
  }

  seconds(): number {
    return Math.floor(this.#now() / 1000);
  }

  /** A tmux server without sessions ends. */
  get isRunning(): boolean {
    return this.sessions.length > 0;
  }

  get windows(): readonly Window[] {
    return [...new Set(this.sessions.flatMap((session) => session.links.map((link) => link.window)))];
  }

  get panes(): readonly Pane[] {
    return this.windows.flatMap((window) => window.panes);
  }

  createSession(
    name: string | undefined,
    windowName: string,
    size: readonly [number, number],
    start: Start,
  ): Session {
    const id = this.#ids.session++;
    const session: Session = {
      id,
      options: new Map(),
      environment: new Map(),
      created: this.seconds(),
      name: name ?? String(id),
      startDirectory: start.directory ?? process.cwd(),
      links: [],
      current: undefined as unknown as Link, // The link below, which needs the session first.
      lastLinks: [],
    };
    session.current = this.link(session, this.createWindow(windowName, size, start), this.baseIndex(session));
    this.sessions.push(session);
    return session;
  }

  createWindow(name: string, size: readonly [number, number], start: Start): Window {
    return this.createWindowOf(this.createPane(start), name, size);
  }

  /** A window around a pane that is in no other. */
  createWindowOf(pane: Pane, name: string, [width, height]: readonly [number, number]): Window {
    const window: Window = {
      id: this.#ids.window++,
      options: new Map(),
      name,
      panes: [pane],
      active: pane,
      lastPanes: [],
      layout: { pane: pane.id, width, height },
      zoomed: false,
    };
    pane.window = window;
    return window;
  }

  /** A pane that is in no window yet. */
  createPane({ directory, command }: Start): Pane {
    return {
      id: this.#ids.pane++,
      window: undefined as unknown as Window, // Whoever makes a pane puts it into a window at once.
      options: new Map(),
      title: 'memory',
      startDirectory: directory ?? process.cwd(),
      startCommand: command ?? '',
      lines: [''],
      inputOff: false,
      piped: false,
      inMode: false,
    };
  }

  /** A buffer by name, or the latest of those tmux named itself. */
  buffer(name: string | undefined): PasteBuffer | undefined {
    return this.buffers.find((buffer) => (name === undefined ? buffer.automatic : buffer.name === name));
  }

  /** Puts a buffer before all others, in place of one of that name; nothing is no buffer. */
  setBuffer(name: string | undefined, data: string): void {
    if (data === '') return;
    const automatic = this.buffers.find((buffer) => buffer.name === name)?.automatic ?? name === undefined;
    const made = { name: name ?? `buffer${this.#ids.buffer++}`, data, automatic, created: this.seconds() };
    this.buffers = [made, ...this.buffers.filter((buffer) => buffer.name !== made.name)];
  }

  deleteBuffer(doomed: PasteBuffer): void {
    this.buffers = this.buffers.filter((buffer) => buffer !== doomed);
  }

  baseIndex(session: Session): number {
    return Number(session.options.get('base-index') ?? this.sessionOptions.get('base-index') ?? 0);
  }

  paneBaseIndex(window: Window): number {
    return Number(window.options.get('pane-base-index') ?? this.windowOptions.get('pane-base-index') ?? 0);
  }

  link(session: Session, window: Window, index: number): Link {
    const link: Link = { session, window, index };
    session.links = [...session.links, link].sort((a, b) => a.index - b.index);
    return link;
  }

  linksOf(window: Window): readonly Link[] {
    return this.sessions.flatMap((session) => session.links.filter((link) => link.window === window));
  }

  /** The lowest index from the base on that no window has. */
  freeIndex(session: Session): number {
    const taken = new Set(session.links.map((link) => link.index));
    let index = this.baseIndex(session);
    while (taken.has(index)) index += 1;
    return index;
  }

  /** Moves the windows from an index on up by one, as far as needed, so that the index is free. */
  makeRoom(session: Session, index: number): void {
    let end = index;
    while (session.links.some((link) => link.index === end)) end += 1;
    for (const link of session.links) if (link.index >= index && link.index < end) link.index += 1;
  }

  select(link: Link): boolean {
    const { session } = link;
    if (session.current === link) return false;
    session.lastLinks = [session.current, ...session.lastLinks].filter((other) => other !== link);
    session.current = link;
    return true;
  }

  selectPane(pane: Pane): void {
    const { window } = pane;
    if (window.active === pane) return;
    window.lastPanes = [window.active, ...window.lastPanes].filter((other) => other !== pane);
    window.active = pane;
  }

  /** Takes a window out of one place; a session that has none left ends. */
  unlink(link: Link): void {
    const { session } = link;
    const at = session.links.indexOf(link);
    const after = session.links.filter((other) => other !== link);
    session.lastLinks = session.lastLinks.filter((other) => other !== link);
    session.links = after;
    if (after.length === 0) this.sessions = this.sessions.filter((other) => other !== session);
    else if (session.current === link) {
      session.current = session.lastLinks.shift() ?? after[at - 1] ?? (after.at(-1) as Link);
    }
  }

  closeWindow(window: Window): void {
    for (const link of this.linksOf(window)) this.unlink(link);
  }

  closeSession(session: Session): void {
    this.sessions = this.sessions.filter((other) => other !== session);
  }

  /** Takes a pane out of its window; a window that has none left closes. */
  removePane(pane: Pane): void {
    const { window } = pane;
    const at = window.panes.indexOf(pane);
    window.zoomed = false;
    window.panes = window.panes.filter((other) => other !== pane);
    window.lastPanes = window.lastPanes.filter((other) => other !== pane);
    if (this.marked === pane) this.marked = null;
    const layout = removePane(window.layout, pane.id, atLeast(this.version, '3.8'));
    if (!layout) {
      this.closeWindow(window);
      return;
    }
    window.layout = layout;
    if (window.active === pane) {
      window.active = window.lastPanes.shift() ?? window.panes[at - 1] ?? (window.panes[at] as Pane);
    }
  }

  resizeWindow(window: Window, width: number, height: number): void {
    window.layout = resize(window.layout, width, height);
  }

  /** Where a pane is in its window; zoomed, the active one has it all. */
  placeOf(pane: Pane): Place {
    const { window } = pane;
    const { width, height } = window.layout;
    const whole = { left: 0, top: 0, width, height };
    return window.zoomed && window.active === pane ? whole : (placesOf(window.layout).get(pane.id) ?? whole);
  }
}
