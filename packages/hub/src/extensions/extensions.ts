import { AsyncLocalStorage } from 'node:async_hooks';
import { lstat, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type ExtensionInfo, type Participant, PolyError } from '@polyphony/protocol';
import { draft, type EventLog } from '../events/event-log.ts';
import type { Handlers } from '../events/handlers.ts';
import { type Clock, systemClock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { Turns } from '../platform/turns.ts';
import type { Dispatch } from '../registry/dispatch.ts';
import type { Registry } from '../registry/registry.ts';
import type { Extension } from './api.ts';
import { fetchExtension, type Limits } from './fetch-extension.ts';
import { createModuleLoader } from './load-module.ts';
import { fingerprint, readManifest, refusedName } from './manifest.ts';
import {
  type Cause,
  type Life,
  messageOf,
  ownAccord,
  type RunningExtension,
  runExtension,
} from './running-extension.ts';

export interface ExtensionsOptions {
  readonly directory: string;
  readonly registry: Registry;
  readonly handlers: Handlers;
  readonly events: EventLog;
  readonly dispatch: Dispatch;
  readonly log: Log;
  /** Who tells that an extension was switched off. */
  readonly hub: Participant;
  /** What extensions see as `poly.cwd`. */
  readonly cwd: string;
  readonly clock?: Clock;
  /** How long an extension may take to load. */
  readonly timeoutMs?: number;
  readonly limits?: Limits;
}

/** The extensions of one hub, each in a folder of the directory. They change one after the other. */
export interface Extensions {
  /** Loads what the directory holds, in the order of the folders' names. Never fails: one that is broken is listed so. */
  load(): Promise<void>;
  /** Looks at the directory first: what came, went or changed by hand since is loaded, unloaded or loaded anew. */
  list(): Promise<readonly ExtensionInfo[]>;
  /** Brings an extension from a git address or a folder; afterwards it is loaded, or nothing has changed. */
  install(from: string): Promise<ExtensionInfo>;
  remove(name: string): Promise<void>;
  /** Which were skipped or switched off when they were last looked at, and why. */
  readonly problems: readonly string[];
  /**
   * Switches off the extension that threw this where nobody could catch it, and answers whether there was one:
   * else the hub itself is at fault. To be asked by the handler of `uncaughtException` itself.
   */
  blame(error: unknown): boolean;
  close(): Promise<void>;
}

/** What is known about one folder. */
interface Entry {
  readonly folder: string;
  /** Its fingerprint when it was loaded. */
  readonly seen: string;
  readonly life?: Life;
  readonly home?: string;
  /** Once it has been loaded; until then it goes by its folder. */
  readonly name?: string;
  readonly version?: string;
  /** The name it wanted, which another has. */
  readonly clash?: string;
  error?: string;
  running?: RunningExtension | undefined;
}

const stagingPrefix = '.install-';
const removedPrefix = '.removed-';
const hourMs = 3_600_000;

export function createExtensions(options: ExtensionsOptions): Extensions {
  const { directory, registry, events, log, hub, clock = systemClock, timeoutMs = 5000 } = options;
  const entries = new Map<string, Entry>();
  const modules = createModuleLoader();
  const causes = new AsyncLocalStorage<Cause>();
  const turns = new Turns();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => turns.take('extensions', work);

  const asOwn = <T>(life: Life, work: () => T): T => causes.run({ ...ownAccord, life }, work);

  const loaded = (name: string): Entry | undefined =>
    [...entries.values()].find((entry) => entry.running && entry.name === name);

  async function open(folder: string): Promise<Entry> {
    const life: Life = {};
    let entry: Entry = { folder, seen: await fingerprint(folder), life };
    let running: RunningExtension | undefined;
    try {
      const { home, main, version } = await readManifest(folder);
      entry = { ...entry, home, ...(version !== undefined && { version }) };
      const module = await within(
        timeoutMs,
        'load',
        asOwn(life, () => modules.load(main)),
      );
      const refusal = refusedName(module.name);
      if (refusal) throw new PolyError('invalid_arguments', refusal);
      const name = module.name as string;
      const other = loaded(name);
      if (other) {
        entry = { ...entry, clash: name };
        throw new PolyError('conflict', `the name "${name}" is taken by the extension in ${other.folder}.`);
      }
      if (registry.list().some(({ owner }) => owner === name))
        throw new PolyError('conflict', `the name "${name}" is taken by the hub itself.`);
      if (typeof module.default !== 'function')
        throw new PolyError(
          'invalid_arguments',
          'its default export is no function: write export default (poly) => { … }.',
        );
      running = runExtension(name, {
        ...options,
        clock,
        causes,
        life,
        onHanging: (error) => disable(entry, error, 'hanging'),
      });
      const activate = module.default as Extension;
      const { poly } = running;
      await within(
        timeoutMs,
        'start',
        asOwn(life, async () => activate(poly)),
      );
      if (life.failed !== undefined) throw new Error(life.failed);
      entry = { ...entry, name, running };
      log.info('an extension was loaded', { extension: name, directory: folder });
    } catch (error) {
      running?.close();
      if (entry.home !== undefined) modules.forget(entry.home);
      entry.error = messageOf(error).slice(0, 2000);
      log.warn('an extension is broken and was skipped', { directory: folder, error: entry.error });
    }
    return entry;
  }

  function close(entry: Entry): void {
    entry.running?.close();
    entry.running = undefined;
    if (entry.home !== undefined) modules.forget(entry.home);
  }

  function disable(entry: Entry, error: string, event: string): void {
    if (!entry.running) return;
    close(entry);
    entry.error = `it was switched off: ${error}.`;
    const source = entry.name ?? entry.folder;
    log.error('an extension was switched off', { extension: source, error });
    events
      .append([draft({ participant: hub }, 'handler:error', { source, event, error: entry.error })])
      .catch((cause: unknown) => log.error('not logged', { error: cause }));
  }

  async function refresh(): Promise<void> {
    await checkDirectory(directory);
    const found = (await readdir(directory, { withFileTypes: true }))
      .filter((entry) => !entry.name.startsWith('.') && (entry.isDirectory() || entry.isSymbolicLink()))
      .map(({ name }) => join(directory, name))
      .sort();
    for (const [folder, entry] of entries) {
      if (found.includes(folder)) continue;
      close(entry);
      entries.delete(folder);
    }
    for (const folder of found) {
      const known = entries.get(folder);
      const freed = known?.clash !== undefined && !loaded(known.clash);
      if (known && !freed && (await fingerprint(folder).catch(() => '')) === known.seen) continue;
      if (known) close(known);
      const entry = await open(folder).catch((error: unknown) => ({
        folder,
        seen: '',
        error: messageOf(error),
      }));
      entries.set(folder, entry);
    }
  }

  const infoOf = ({ folder, name, version, running, error }: Entry): ExtensionInfo => ({
    name: name ?? basename(folder),
    directory: folder,
    status: running ? 'loaded' : 'broken',
    ...(version !== undefined && { version }),
    actions: running
      ? registry
          .list()
          .filter(({ owner }) => owner === name)
          .map(({ action }) => action.name)
      : [],
    ...(error !== undefined && { error }),
  });

  /** Out of sight in one step, then away; neither step follows a link. */
  async function erase(folder: string): Promise<void> {
    const grave = await mkdtemp(join(directory, removedPrefix));
    await rename(folder, join(grave, 'extension'));
    await rm(grave, { recursive: true, force: true });
  }

  async function install(from: string): Promise<ExtensionInfo> {
    await refresh();
    const staging = await mkdtemp(join(directory, stagingPrefix));
    let folder: string;
    try {
      const fetched = await fetchExtension(from, {
        staging,
        directory,
        ...(options.limits && { limits: options.limits }),
      });
      await readManifest(fetched.folder, from);
      folder = join(directory, fetched.name);
      const taken = await lstat(folder).catch(() => undefined); // Absent is what we want.
      if (taken)
        throw new PolyError('conflict', `there is an extension in ${folder} already.`, {
          hint: `To replace it, remove it first: poly ext remove ${fetched.name}`,
        });
      await rename(fetched.folder, folder);
      log.info('an extension was installed', { directory: folder, ...fetched.origin });
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
    const entry = await open(folder);
    if (entry.running) {
      entries.set(folder, entry);
      return infoOf(entry);
    }
    await erase(folder);
    // Where it lay for a moment is gone when somebody reads this.
    const error = [entry.home ?? folder, folder].reduce(
      (said, place) => said.replaceAll(place, from),
      entry.error ?? '',
    );
    throw new PolyError(
      entry.clash === undefined ? 'action_failed' : 'conflict',
      `the extension is broken and was not installed: ${error}`,
    );
  }

  async function remove(name: string): Promise<void> {
    await refresh();
    const known = [...entries.values()];
    const entry = loaded(name) ?? known.find((broken) => !broken.running && infoOf(broken).name === name);
    if (!entry)
      throw new PolyError('not_found', `there is no extension "${name.slice(0, 60)}".`, {
        hint: `poly ext list shows them${known.length ? `: ${known.map((one) => infoOf(one).name).join(', ')}` : ''}.`,
      });
    close(entry);
    entries.delete(entry.folder);
    await erase(entry.folder);
  }

  return {
    load: () =>
      inTurn(async () => {
        try {
          await refresh();
          await sweep(directory, clock);
        } catch (error) {
          log.error('no extension was loaded', { directory, error });
        }
      }),
    list: () =>
      inTurn(async () => {
        await refresh();
        return [...entries.values()].sort((a, b) => (a.folder < b.folder ? -1 : 1)).map(infoOf);
      }),
    install: (from) => inTurn(() => install(from)),
    remove: (name) => inTurn(() => remove(name)),
    get problems() {
      return [...entries.values()]
        .filter(({ error }) => error !== undefined)
        .map((entry) => `the extension ${infoOf(entry).name} is broken: ${firstLine(entry.error ?? '')}`);
    },
    blame(error) {
      const life = causes.getStore()?.life;
      if (!life) return false;
      life.failed = `it threw where nobody could catch it: ${messageOf(error)}`;
      log.error('an extension threw where nobody could catch it', { error });
      for (const entry of entries.values()) if (entry.life === life) disable(entry, life.failed, 'uncaught');
      return true;
    },
    close: () =>
      inTurn(async () => {
        for (const entry of entries.values()) close(entry);
        entries.clear();
      }),
  };
}

/** What others may write to is code that others may run as the user. */
async function checkDirectory(directory: string): Promise<void> {
  makeFolder(directory, { mode: 0o700, hint: 'Name another in POLY_EXTENSIONS_DIR.' });
  const { uid, mode } = await stat(directory);
  const ours = process.getuid === undefined || uid === process.getuid();
  if (ours && !(mode & 0o022)) return;
  throw new PolyError(
    'conflict',
    ours
      ? `others may write to ${directory}, so that nothing is loaded from it.`
      : `${directory} belongs to somebody else.`,
    {
      hint: ours
        ? `Make it yours alone with: chmod 700 ${directory}`
        : 'Name another in POLY_EXTENSIONS_DIR.',
    },
  );
}

/** Takes away what a hub that was killed in the middle has left behind. */
async function sweep(directory: string, clock: Clock): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.startsWith(stagingPrefix) && !name.startsWith(removedPrefix)) continue;
    const path = join(directory, name);
    // A younger one may be in the hands of another hub with the same directory.
    if (clock.now() - (await lstat(path)).mtimeMs > hourMs) await rm(path, { recursive: true, force: true });
  }
}

async function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new PolyError('timed_out', `it did not ${what} within ${ms} ms.`)),
    ms,
  );
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

const firstLine = (text: string): string => text.split('\n', 1)[0]?.trim() ?? '';
