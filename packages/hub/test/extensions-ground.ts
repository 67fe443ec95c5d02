import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type ExtensionInfo, type Participant, PolyError, type PolyEvent } from '@polyphony/protocol';
import { createEventLog, draft, type EventLog } from '../src/events/event-log.ts';
import { Handlers } from '../src/events/handlers.ts';
import { registerExtensionActions } from '../src/extensions/actions.ts';
import { createExtensions, type Extensions, type ExtensionsOptions } from '../src/extensions/extensions.ts';
import { systemClock } from '../src/platform/clock.ts';
import type { Log } from '../src/platform/log.ts';
import { Allowance } from '../src/registry/allowance.ts';
import { allScopes, type Caller, paneScopes } from '../src/registry/caller.ts';
import { createDispatch } from '../src/registry/dispatch.ts';
import { Registry } from '../src/registry/registry.ts';
import { registerShellActions } from '../src/shell/actions.ts';
import { openSqliteStore } from '../src/store/sqlite.ts';

const user: Caller = { participant: 'user:ann', scopes: allScopes };
export const inPane: Caller = { participant: 'agent:pty_1', scopes: paneScopes, pane: 'pty_1' };
const hub: Participant = 'user:ann';

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields?: object;
}

/** A hub without doors: the real registry, dispatch, handlers and store, and an extensions directory of its own. */
export interface ExtensionsGround extends AsyncDisposable {
  readonly root: string;
  /** Where extensions lie. */
  readonly directory: string;
  readonly extensions: Extensions;
  readonly registry: Registry;
  readonly events: EventLog;
  readonly log: readonly Line[];
  /** Every event so far. */
  readonly told: readonly PolyEvent[];
  /** The next event of that name, also when it has been told already. */
  event(name: string, fits?: (event: PolyEvent) => boolean): Promise<PolyEvent>;
  run(action: string, params?: object, caller?: Caller): Promise<unknown>;
  /** The code and the message an action fails with. */
  failure(action: string, params?: object, caller?: Caller): Promise<PolyError>;
  /** Writes files into `root`; a plain extension's `package.json` is added where there is an index. */
  write(files: Readonly<Record<string, string>>): void;
  /** Writes an extension by hand into the directory. */
  plant(folder: string, code: string, file?: string): void;
  find(name: string): Promise<ExtensionInfo | undefined>;
}

export interface GroundOptions extends Partial<ExtensionsOptions> {
  readonly handlerTimeoutMs?: number;
}

export async function extensionsGround(options: GroundOptions = {}): Promise<ExtensionsGround> {
  const root = mkdtempSync(join(tmpdir(), 'poly-extensions-'));
  const directory = join(root, 'extensions');
  const log: Line[] = [];
  const told: PolyEvent[] = [];
  const waiting = new Set<() => void>();
  const logTo: Log = {
    info: (message, fields) => log.push({ level: 'info', message, ...(fields && { fields }) }),
    warn: (message, fields) => log.push({ level: 'warn', message, ...(fields && { fields }) }),
    error: (message, fields) => log.push({ level: 'error', message, ...(fields && { fields }) }),
  };
  const clock = systemClock;
  const store = await openSqliteStore({ file: join(root, 'hub.db'), clock });
  const events = await createEventLog({ store, clock });
  const handlers = new Handlers({
    timeoutMs: options.handlerTimeoutMs ?? 5000,
    onFailure: (failure) => void events.append([draft({ participant: hub }, 'handler:error', failure)]),
  });
  events.listen((batch) => {
    told.push(...batch);
    for (const look of waiting) look();
    for (const event of batch) if (event.event !== 'action:start') handlers.tell(event);
  });
  const registry = new Registry();
  const dispatch = createDispatch({
    registry,
    allowance: new Allowance(clock),
    events,
    handlers,
    store,
    clock,
    log: logTo,
    permitPane: () => undefined,
    confine: (_caller, _action, given) => given,
    admit: async () => undefined,
    ask: async ({ refusal }) => {
      throw new PolyError('forbidden', `${refusal}: nobody is there to be asked.`);
    },
  });
  const extensions = createExtensions({
    directory,
    registry,
    handlers,
    events,
    dispatch,
    log: logTo,
    hub,
    cwd: root,
    ...options,
  });
  registerExtensionActions(registry, extensions);
  registerShellActions({ registry, log: logTo, env: process.env });
  const run: ExtensionsGround['run'] = (action, params = {}, caller = user) =>
    dispatch(action, params, { caller, signal: new AbortController().signal });
  const write: ExtensionsGround['write'] = (files) => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
  };
  return {
    root,
    directory,
    extensions,
    registry,
    events,
    log,
    told,
    run,
    write,
    event(name, fits = () => true) {
      const { promise, resolve } = Promise.withResolvers<PolyEvent>();
      const look = (): void => {
        const found = told.find((event) => event.event === name && fits(event));
        if (found) resolve(found);
      };
      waiting.add(look);
      look();
      return promise.finally(() => waiting.delete(look));
    },
    failure: (action, params, caller) =>
      run(action, params, caller).then(
        (result) => {
          throw new Error(`${action} was done: ${JSON.stringify(result)}`);
        },
        (error: unknown) => {
          if (error instanceof PolyError) return error;
          throw error;
        },
      ),
    plant(folder, code, file = 'index.ts') {
      write({
        [`extensions/${folder}/package.json`]: JSON.stringify({ main: file, version: '1.2.3' }),
        [`extensions/${folder}/${file}`]: code,
      });
    },
    find: async (name) => (await extensions.list()).find((info) => info.name === name),
    async [Symbol.asyncDispose]() {
      await extensions.close();
      await store.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** The code of an extension that does this. */
export const extension = (name: string, body = '', head = ''): string =>
  `import type { ExtensionAPI } from 'poly/types';
import * as z from 'zod';
${head}
export const name = '${name}';
export default async (poly: ExtensionAPI) => { ${body} };
`;
