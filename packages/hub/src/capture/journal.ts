import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { privateDirectory } from '../platform/private-files.ts';
import { storable } from './normalise.ts';

/** An event as a capture hook left it. */
export interface Entry {
  /** Its name in the journal: by it an event is taken in once. */
  readonly id: string;
  readonly agent: string;
  /** What proves in which pane it happened. */
  readonly token: string;
  /** The tmux pane, and the server that has it. */
  readonly tmux: string;
  /** The process that ran the hook, or that of the agent where it names itself. */
  readonly parent: number;
  /** Which installation of the hooks it is of: the script that ran; empty where an older one does not tell. */
  readonly origin: string;
  /** Whether the agent ran as a tool of another one. */
  readonly asTool: boolean;
  /** When it was written, in milliseconds since 1970. */
  readonly occurredAt: number;
  /** Whether there was no room for all of it. */
  readonly cut: boolean;
  readonly payload: Buffer;
}

/** Why a file of the journal cannot be taken in. */
export class Unreadable extends Error {}

/** A file that cannot be taken in, and why. */
interface Dead {
  readonly name: string;
  readonly why: string;
}

/** Errors that only this one file has: others can be read all the same. */
const ofTheFile = new Set(['EACCES', 'EPERM', 'ELOOP', 'EIO', 'ENXIO', 'EISDIR']);
const largest = 64 * 1024 * 1024;
const cutSuffix = '.cut';
/** A hook writes for milliseconds: what is a draft for so long was left behind by one that was killed. */
const abandonedMs = 60_000;

/** The folders in which capture hooks leave events, whether a hub runs or not. */
export class Journal {
  /** Where whole events appear. */
  readonly arrivals: string;
  readonly #drafts: string;
  readonly #dead: string;
  readonly #missed: string;
  /** The folder of all of them, and that in which whole events appear: whoever watches both hears of everything. */
  readonly watched: readonly string[];
  readonly #folders: readonly string[];

  constructor(folder: string) {
    this.arrivals = join(folder, 'new');
    this.#drafts = join(folder, 'tmp');
    this.#dead = join(folder, 'dead');
    this.#missed = join(folder, 'missed');
    this.watched = [folder, this.arrivals];
    this.#folders = [folder, this.arrivals, this.#drafts, this.#dead];
    this.prepare();
  }

  /** Makes the folders, where somebody has removed them. */
  prepare(): void {
    for (const path of this.#folders) privateDirectory(path);
  }

  /** What waits, in the order in which it was written; also what is no file, and is there by mistake or malice. */
  async waiting(): Promise<readonly string[]> {
    const found: Found[] = [];
    for (const [index, name] of readdirSync(this.arrivals).entries()) {
      if (index % namesAtOnce === namesAtOnce - 1) await setImmediate();
      found.push(...lookAt(this.arrivals, name));
    }
    return found.sort(inOrder).map(({ name }) => name);
  }

  get count(): number {
    return readdirSync(this.arrivals).length;
  }

  read(name: string, folder: string = this.arrivals): Entry | undefined {
    let file: number;
    try {
      // No link is followed, and no pipe waited for.
      const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
      file = openSync(join(folder, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return undefined;
      throw ofTheFile.has(errnoOf(error)) ? new Unreadable((error as Error).message) : error;
    }
    try {
      const found = fstatSync(file);
      if (!found.isFile()) throw new Unreadable('it is no file');
      if (found.size > largest) throw new Unreadable(`it has ${found.size} bytes, ${largest} are the most`);
      return parse(name, found.mtimeMs, readFileSync(file));
    } catch (error) {
      throw ofTheFile.has(errnoOf(error)) ? new Unreadable((error as Error).message) : error;
    } finally {
      closeSync(file);
    }
  }

  /** It is in the record. A hook leaves its draft under the same name: a second name costs it less than a move. */
  remove(name: string): void {
    for (const folder of [this.arrivals, this.#drafts]) unlinkIfThere(join(folder, name));
  }

  /** It cannot be taken in, now or later: it is kept where a person can look at it. */
  bury(name: string): void {
    rmSync(join(this.#dead, name), { recursive: true, force: true });
    renameSync(join(this.arrivals, name), join(this.#dead, name));
    rmSync(join(this.#drafts, name), { force: true });
  }

  /** What was buried and can be read after all goes back to what waits, unless it is only asked; says what cannot. */
  revive(dryRun: boolean): { readonly revived: readonly string[]; readonly dead: readonly Dead[] } {
    const revived: string[] = [];
    const dead: Dead[] = [];
    for (const name of this.buried) {
      try {
        if (!this.read(name, this.#dead)) continue;
        if (!dryRun) renameSync(join(this.#dead, name), join(this.arrivals, name));
        revived.push(name);
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        dead.push({ name: storable(name), why: error.message });
      }
    }
    return { revived, dead };
  }

  get buried(): readonly string[] {
    return readdirSync(this.#dead);
  }

  /** Drafts of hooks that were killed: what they have of an event is taken in as cut. */
  takeAbandoned(now: number): void {
    const whole = new Set(readdirSync(this.arrivals));
    const left = readdirSync(this.#drafts).filter((name) => !whole.has(name));
    for (const { name, at, isFile } of left.flatMap((one) => lookAt(this.#drafts, one)).sort(inOrder)) {
      if (!isFile || Number(at / 1_000_000n) > now - abandonedMs) continue;
      renameSync(join(this.#drafts, name), join(this.arrivals, `${name}${cutSuffix}`));
    }
  }

  /** Whether, since this was last asked, a hook found no room even for the name of an event. Keeps a byte for the next. */
  takeMissed(): boolean {
    if (lookAt(this.#missed, '').some(({ isFile }) => !isFile)) {
      // A link would lead elsewhere, and a pipe would let us wait: a person may look at it.
      const aside = join(this.#dead, 'missed');
      rmSync(aside, { recursive: true, force: true });
      renameSync(this.#missed, aside);
    }
    const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
    const file = openSync(this.#missed, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
    try {
      const byte = Buffer.alloc(1);
      const found = readSync(file, byte, 0, 1, 0) === 1 ? byte.toString() : '';
      // Not each time anew: whoever watches the folder would hear of it.
      if (found !== '0') writeSync(file, '0', 0);
      return found === '1';
    } finally {
      closeSync(file);
    }
  }
}

/** So many are looked at before others get their turn. */
const namesAtOnce = 500;

interface Found {
  readonly name: string;
  readonly at: bigint;
  readonly isFile: boolean;
}

/** What is there under a name, or nothing. */
function lookAt(folder: string, name: string): readonly Found[] {
  const found = lstatSync(join(folder, name), { bigint: true, throwIfNoEntry: false });
  return found ? [{ name, at: found.mtimeNs, isFile: found.isFile() }] : [];
}

function inOrder(a: Found, b: Found): number {
  if (a.at !== b.at) return a.at < b.at ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    // What is no file was buried, and a draft may have been moved away.
    if (errnoOf(error) !== 'ENOENT') rmSync(path, { recursive: true, force: true });
  }
}

const errnoOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

/** A line each for what the hook knows, an empty one, and what the agent said, byte for byte. */
function parse(name: string, occurredAt: number, bytes: Buffer): Entry {
  const cut = name.endsWith(cutSuffix);
  const end = bytes.indexOf('\n\n');
  if (end < 0 && !cut) throw new Unreadable('it does not begin as a capture hook writes it');
  const [first, ...lines] = bytes
    .subarray(0, end < 0 ? bytes.length : end)
    .toString('utf8')
    .split('\n');
  if (first !== 'poly-capture 1' && !cut)
    throw new Unreadable(`it is no capture of version 1: ${first?.slice(0, 40)}`);
  const said = new Map(lines.map((line) => [line.split(' ', 1)[0] ?? '', line.slice(line.indexOf(' ') + 1)]));
  return {
    id: storable(cut ? name.slice(0, -cutSuffix.length) : name),
    agent: storable(said.get('agent') ?? ''),
    token: said.get('token') ?? '',
    tmux: storable(said.get('tmux')?.trim() ?? ''),
    parent: Number(said.get('parent')) || 0,
    origin: storable(said.get('from') ?? ''),
    asTool: Boolean(said.get('tool')),
    occurredAt,
    cut,
    payload: end < 0 ? Buffer.alloc(0) : bytes.subarray(end + 2),
  };
}
