import { rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { PolyError, participantOf, type ServerStatus } from '@polyphony/protocol';
import { registerAgentActions } from './agents/actions.ts';
import { type Door, socketDoor, tcpDoor, urlOf } from './edges/gate.ts';
import { HttpEdge } from './edges/http.ts';
import { hubRoutes } from './edges/hub-routes.ts';
import { listenOnPort, listenOnSocket } from './edges/listen.ts';
import { SseStreams } from './edges/sse.ts';
import { WebSocketEdge } from './edges/websocket.ts';
import { createEventLog, draft } from './events/event-log.ts';
import { Handlers } from './events/handlers.ts';
import { registerExtensionActions } from './extensions/actions.ts';
import { createExtensions } from './extensions/extensions.ts';
import type { Host } from './host/client.ts';
import { registerPaneActions } from './panes/actions.ts';
import { Panes } from './panes/panes.ts';
import { permitPane } from './panes/permit.ts';
import { registerSessionActions } from './panes/session-actions.ts';
import { TmuxSession } from './panes/tmux-session.ts';
import type { Clock } from './platform/clock.ts';
import { readConfig } from './platform/config.ts';
import { userToken } from './platform/credentials.ts';
import { takeInstanceLock } from './platform/instance-lock.ts';
import { createFileLog } from './platform/log.ts';
import type { Places } from './platform/places.ts';
import { privateDirectory, writePrivate } from './platform/private-files.ts';
import type { Random } from './platform/random.ts';
import type { Settings } from './platform/settings.ts';
import { Credentials } from './registry/credentials.ts';
import { createDispatch, type Permissions } from './registry/dispatch.ts';
import { Registry } from './registry/registry.ts';
import { keptBackups, registerServerActions } from './server/actions.ts';
import { auditActions } from './server/audit.ts';
import { registerShellActions } from './shell/actions.ts';
import { rotateBackups } from './store/backup.ts';
import { openSqliteStore } from './store/sqlite.ts';
import { agentPanes } from './wiring/agent-panes.ts';
import { paneStreams } from './wiring/pane-streams.ts';

export interface HubOptions {
  readonly places: Places;
  readonly settings: Settings;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly connectHost: () => Promise<Host>;
  readonly tmuxConfig: string;
  /** What the store's threads run. */
  readonly storeThread: URL;
  /** Told when the hub cannot go on; the process should end with an error. */
  readonly onBroken: (why: Error) => void;
}

export interface Hub {
  readonly socket: string;
  readonly url: string | null;
  /** Lets go of everything; panes live on. */
  close(): Promise<void>;
  /** Settles when the hub has been closed, by whomever. */
  readonly closed: Promise<void>;
  /** Switches off the extension that threw this where nobody could catch it; answers whether it was one. */
  blame(error: unknown): boolean;
}

const hourMs = 3_600_000;
const retention = { olderThan: 7 * 24 * hourMs, keepAtLeast: 100_000 };

/** Builds one hub: the one place that knows every noun. */
export async function createHub(options: HubOptions): Promise<Hub> {
  const { places, settings, env, version, clock, random } = options;
  for (const directory of [places.home, places.runtime, places.host, places.logs])
    privateDirectory(directory);
  const lock = takeInstanceLock(places.lock);
  if (!lock)
    throw new PolyError('conflict', `a hub runs already in ${places.home}.`, {
      hint: 'poly server status shows it.',
    });
  const opened: (() => unknown)[] = [() => lock.release()];
  const closeAll = async (): Promise<void> => {
    for (const close of opened.splice(0).reverse()) await close();
  };
  try {
    const log = createFileLog(join(places.logs, 'hub.log'), clock);
    const audit = createFileLog(join(places.logs, 'audit.log'), clock);
    const store = await openSqliteStore({ file: places.database, clock, thread: options.storeThread });
    opened.push(() => store.close());
    store.onBroken(options.onBroken);
    const config = readConfig(places.config);
    for (const problem of config.problems) log.warn(problem);

    const user = participantOf('user', userInfo().username);
    const events = await createEventLog({ store, clock });
    auditActions(events, audit);
    const handlers = new Handlers({
      timeoutMs: settings.handlerTimeoutMs,
      onFailure: (failure) => {
        log.warn('a handler failed', failure);
        events
          .append([draft({ participant: user }, 'handler:error', failure)])
          .catch((error: unknown) => log.error('not logged', { error }));
      },
    });
    events.listen((batch) => {
      for (const event of batch) if (event.event !== 'action:start') handlers.tell(event);
    });
    const token = userToken(places.token, random);
    const credentials = new Credentials({ userToken: token, user, clock, random });
    const registry = new Registry();
    const session = new TmuxSession({
      socket: settings.tmuxSocket,
      configFile: settings.tmuxConfig ?? options.tmuxConfig,
      session: settings.sessionName,
      env,
    });
    opened.push(() => session.close());
    const address = {
      host: places.host,
      socket: places.socket,
      port: null as number | null,
      url: null as string | null,
    };
    const panes = await Panes.open({
      store,
      events,
      credentials,
      clock,
      random,
      log,
      config,
      session,
      env,
      connectHost: options.connectHost,
      address: () => address,
      hub: user,
    });
    opened.push(() => panes.disconnect());
    const permissions: Permissions = {
      registry,
      permitPane: (caller, paneId) => permitPane(panes.book, config, caller, paneId),
    };
    const dispatch = createDispatch({ ...permissions, events, handlers, store, clock, log });

    const startedAt = new Date(clock.now()).toISOString();
    const status = async (): Promise<ServerStatus> => ({
      version,
      pid: process.pid,
      startedAt,
      socket: places.socket,
      ...(address.url !== null && { url: address.url }),
      panes: panes.book.list().length,
      session: await session.running(),
      gauges: gaugesOf(store.gauges(), streams.readers),
    });
    const streams = new SseStreams({ events });
    const edge = new HttpEdge({
      credentials,
      log,
      onAuthentication: ({ caller, ...attempt }) => {
        if (caller)
          audit.info('a credential was taken', { by: caller.participant, pane: caller.pane, ...attempt });
        else audit.warn('a credential was refused', attempt);
      },
      routes: hubRoutes({
        dispatch,
        registry,
        events,
        streams,
        credentials,
        version,
        health: async () => ({ status: 'ok', ...(await status()) }),
        warn: (message) => log.warn(message),
      }),
    });

    const sockets = new WebSocketEdge({
      log,
      panes: paneStreams(panes, permissions),
    });
    credentials.onRevoked((pane) => {
      streams.drop(pane);
      sockets.drop(pane);
    });
    const open = (doorOf: () => Door): Server => {
      const server = edge.open(doorOf);
      sockets.serve(server, (request, url) => edge.identify(request, url, doorOf(), 'ws'));
      return server;
    };

    registerPaneActions(registry, panes, events);
    registerSessionActions(registry, session, panes);
    registerShellActions({ registry, log, env });
    registerAgentActions({ registry, events, clock, log, panes: agentPanes(panes) });
    const extensions = createExtensions({
      directory: places.extensions,
      registry,
      handlers,
      events,
      dispatch,
      log,
      hub: user,
      cwd: process.cwd(),
    });
    opened.push(() => extensions.close());
    registerExtensionActions(registry, extensions);
    await extensions.load();
    const closed = Promise.withResolvers<void>();
    let closing: Promise<void> | undefined;
    const close = (): Promise<void> => {
      closing ??= events
        .append([draft({ participant: user }, 'server:shutdown', {})])
        .catch((error: unknown) => log.error('the end could not be logged', { error }))
        .then(closeAll)
        .then(closed.resolve, closed.reject);
      return closing;
    };
    registerServerActions({
      registry,
      store,
      database: places.database,
      status,
      endAll: async () => {
        await panes.closeAll();
        await session.stop();
        await panes.link.stop();
      },
      stop: () => void close(),
    });

    await panes.adopt();
    await listenOnSocket(
      open(() => socketDoor),
      places.socket,
    );
    if (settings.tcp) {
      const server = open(() => tcpDoor(address.port ?? 0));
      address.port = await listenOnPort(server, { ...settings, memory: join(places.home, 'port') });
      address.url = urlOf(settings.hostname, address.port);
    }
    opened.push(async () => {
      streams.close();
      sockets.close();
      await edge.close();
    });
    await events.append([draft({ participant: user }, 'server:started', {})]);
    const housekeeping = setInterval(() => void keepHouse(), hourMs);
    const keepHouse = async (): Promise<void> => {
      try {
        await store.trim(retention);
        await store.commit({
          statements: [
            {
              sql: 'DELETE FROM idempotency_keys WHERE created_at < ?',
              values: [clock.now() - retention.olderThan],
            },
          ],
        });
        if (new Date(clock.now()).getHours() === 4)
          await rotateBackups(store, { file: places.database, keep: keptBackups });
      } catch (error) {
        log.error('house-keeping failed', { error });
      }
    };
    opened.push(() => clearInterval(housekeeping));
    writePrivate(
      places.discovery,
      `${JSON.stringify({ socket: places.socket, ...(address.url && { url: address.url }), pid: process.pid, startTime: startedAt, version })}\n`,
    );
    opened.push(() => rmSync(places.discovery, { force: true }));
    log.info('ready', { ...address });
    return {
      socket: places.socket,
      url: address.url,
      close,
      closed: closed.promise,
      blame: extensions.blame,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

function gaugesOf(store: object, readers: number): Record<string, number> {
  const numbers = Object.entries(store).map(([name, value]) => [name, Number(value)] as const);
  const { rss, heapUsed } = process.memoryUsage();
  return { ...Object.fromEntries(numbers), rss, heapUsed, eventReaders: readers };
}
