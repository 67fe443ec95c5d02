import { rmSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { PolyError, participantOf } from '@polyphony/protocol';
import { registerAgentActions } from './agents/actions.ts';
import { AdoptedAgents } from './agents/adopted/adopted-agents.ts';
import { AdoptedBook } from './agents/adopted/adopted-book.ts';
import { ScreenRules } from './agents/screens/screen-rules.ts';
import { AgentStates } from './agents/state/agent-states.ts';
import { registerApprovalActions } from './approvals/actions.ts';
import { Approvals } from './approvals/approvals.ts';
import { adapters, tellsOf } from './capture/adapters/adapters.ts';
import { heardBefore, heardOf, lastHeard } from './capture/heard.ts';
import { Intake } from './capture/intake.ts';
import { Journal } from './capture/journal.ts';
import { redact } from './capture/redact.ts';
import { registerContractActions } from './contracts/actions.ts';
import { Contracts } from './contracts/contracts.ts';
import type { Courier } from './delivery/courier.ts';
import { closeRead, stepsOf } from './delivery/delivery-rows.ts';
import { ExitLetters } from './delivery/exit-letters.ts';
import { isHint } from './delivery/hint.ts';
import { FloorStreams } from './edges/floor-streams.ts';
import { exchangeRoute, hubRoutes } from './edges/hub-routes.ts';
import { McpEdge } from './edges/mcp/edge.ts';
import { namedRoutes } from './edges/named-routes.ts';
import { projectRoutes } from './edges/project-routes.ts';
import { sessionRoutes } from './edges/session-routes.ts';
import { SseStreams } from './edges/sse.ts';
import { webFiles } from './edges/web-files.ts';
import { webSocketRoutes } from './edges/websocket.ts';
import { createEventLog, draft } from './events/event-log.ts';
import { Handlers } from './events/handlers.ts';
import { registerExtensionActions } from './extensions/actions.ts';
import { createExtensions } from './extensions/extensions.ts';
import { registerFileActions } from './files/actions.ts';
import { FileClaims } from './files/file-claims.ts';
import { registerFloorActions } from './floor/actions.ts';
import { createFloor } from './floor/floor.ts';
import { registerNamedActions } from './floor/named/actions.ts';
import { Budget } from './floor/named/budget.ts';
import { Knowledge } from './floor/named/knowledge.ts';
import { NamedBook } from './floor/named/named-book.ts';
import { SecretSafe } from './floor/named/secret-safe.ts';
import { ProjectBook } from './floor/project-book.ts';
import { registerRecoverActions } from './floor/recover/actions.ts';
import { Recovery } from './floor/recover/recovery.ts';
import { retoldAmong } from './floor/recover/retold.ts';
import { registerSeatActions } from './floor/seat/actions.ts';
import { registerAdviceActions } from './floor/seat/advice.ts';
import { SeatMap } from './floor/seat/seat-map.ts';
import { Seats } from './floor/seat/seats.ts';
import { EventStream } from './floor/timeline/event-stream.ts';
import { Unspoken } from './floor/timeline/unspoken.ts';
import type { Host } from './host/client.ts';
import { registerMailActions } from './mail/actions.ts';
import { openMail } from './mail/mail.ts';
import { Notifier } from './notices/notifier.ts';
import { registerPaneActions } from './panes/actions.ts';
import { Panes } from './panes/panes.ts';
import { permitPane, type SeatOf } from './panes/permit.ts';
import { registerSessionActions } from './panes/session-actions.ts';
import { TmuxSession } from './panes/tmux-session.ts';
import { registerPersonActions } from './people/actions.ts';
import { People } from './people/people.ts';
import type { Clock } from './platform/clock.ts';
import { readConfig } from './platform/config.ts';
import { digest, userToken } from './platform/credentials.ts';
import { HiddenValues } from './platform/hidden-values.ts';
import { takeInstanceLock } from './platform/instance-lock.ts';
import { createFileLog } from './platform/log.ts';
import type { Places } from './platform/places.ts';
import { privateDirectory, writePrivate } from './platform/private-files.ts';
import type { Random } from './platform/random.ts';
import type { Settings } from './platform/settings.ts';
import { Allowance } from './registry/allowance.ts';
import type { Ask } from './registry/ask.ts';
import { Credentials } from './registry/credentials.ts';
import { createDispatch, type Dispatch, type Permissions } from './registry/dispatch.ts';
import { createEmit } from './registry/emit.ts';
import { Registry } from './registry/registry.ts';
import { registerServerActions } from './server/actions.ts';
import { auditActions } from './server/audit.ts';
import { auditEntry } from './server/audit-entry.ts';
import { keepHouse } from './server/housekeeping.ts';
import { registerShellActions } from './shell/actions.ts';
import { openSqliteStore } from './store/sqlite.ts';
import { registerTaskActions } from './tasks/actions.ts';
import { rebuiltTasks, staleTasks } from './tasks/built-on.ts';
import { TaskClaims } from './tasks/task-claims.ts';
import { Tasks } from './tasks/tasks.ts';
import { adviceMail, digests } from './wiring/advice.ts';
import { agentPanes, paneLiveness, statePanes } from './wiring/agent-panes.ts';
import { Confinement } from './wiring/confinement.ts';
import { contractMail } from './wiring/contract-mail.ts';
import { createCourier, exitLetterOwner, heardTurn } from './wiring/delivery.ts';
import { openDoors } from './wiring/doors.ts';
import { drivenPanes } from './wiring/driven-panes.ts';
import { eventView } from './wiring/event-view.ts';
import { floorAgents, followFloorPanes, hasFloorPane } from './wiring/floor-agents.ts';
import { knownMembers, readHandedOver } from './wiring/floor-words.ts';
import { foreignProcesses } from './wiring/foreign-processes.ts';
import { handsOn } from './wiring/hand-on.ts';
import { hideAnswers } from './wiring/hide-answers.ts';
import { createHolders, onDeparture } from './wiring/holders.ts';
import { isolation, Named } from './wiring/named-agents.ts';
import { paneStreams } from './wiring/pane-streams.ts';
import { recoverSources, reviveJournal } from './wiring/recover.ts';
import { permitSeat } from './wiring/seat-permit.ts';
import { statusOf } from './wiring/status.ts';

const megabyte = 1024 * 1024;

export interface HubOptions {
  readonly places: Places;
  readonly settings: Settings;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly connectHost: () => Promise<Host>;
  /** The host that runs already, if one does. */
  readonly findHost: () => Promise<Host | undefined>;
  readonly tmuxConfig: string;
  /** The folder of the rules by which screens of agents are read. */
  readonly screens: string;
  /** The folder the page is built into. */
  readonly web: string;
  /** What the store's threads run. */
  readonly storeThread: URL;
  /** Told when the hub cannot go on; the process should end with an error. */
  readonly onBroken: (why: Error) => void;
}

export interface Hub {
  /** Lets go of everything; panes live on. */
  close(): Promise<void>;
  /** Settles when the hub has been closed, by whomever. */
  readonly closed: Promise<void>;
  /** Switches off the extension that threw this where nobody could catch it; answers whether it was one. */
  blame(error: unknown): boolean;
}

/** Builds one hub: the one place that knows every noun. */
export async function createHub(options: HubOptions): Promise<Hub> {
  const { places } = options;
  for (const directory of [places.home, places.runtime, places.host, places.logs, places.panes])
    privateDirectory(directory);
  const lock = takeInstanceLock(places.lock);
  if (!lock) {
    throw new PolyError('conflict', `a hub runs already in ${places.home}.`, {
      hint: 'poly server status shows it.',
    });
  }
  /** What ends what was opened, the last first. */
  const ends: (() => unknown)[] = [() => lock.release()];
  const closeAll = async (): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    return await build(options, ends, closeAll);
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function build(
  options: HubOptions,
  ends: (() => unknown)[],
  closeAll: () => Promise<void>,
): Promise<Hub> {
  const { places, settings, env, version, clock, random } = options;
  const hidden = new HiddenValues();
  const hide = (text: string): string => hidden.hide(text);
  const log = createFileLog(join(places.logs, 'hub.log'), { clock, hide });
  const audit = createFileLog(join(places.logs, 'audit.log'), { clock, hide, keep: 9 });
  const config = readConfig(places.config);
  for (const problem of config.problems) log.warn(problem);

  const store = await openSqliteStore({
    ...{ file: places.database, clock, thread: options.storeThread },
    hide: (value) => hidden.hideValue(value),
  });
  ends.push(() => store.close());
  store.onBroken(options.onBroken);
  log[store.opened.state === 'restored' ? 'error' : 'info']('the record is open', store.opened);
  const user = participantOf('user', userInfo().username);
  const hub = { participant: user };
  const events = await createEventLog({ store, clock });
  auditActions(events, audit);
  const entry = auditEntry(audit, clock);
  ends.push(() => entry.close());
  const handlers = new Handlers({
    timeoutMs: settings.handlerTimeoutMs,
    onFailure: (failure) => {
      log.warn('a handler failed', failure);
      const told = events.append([draft(hub, 'handler:error', failure)]);
      told.catch((error: unknown) => log.error('a failed handler could not be told of', { error }));
    },
  });
  events.listen((batch) => {
    // The start of an action was told before, when it could still be cancelled.
    for (const event of batch) if (event.event !== 'action:start') handlers.tell(event);
  });

  const credentials = new Credentials({ userToken: userToken(places.token, random), user, clock, random });
  const registry = new Registry();
  const approvals = await Approvals.open({
    ...{ store, events, clock, random, log },
    timeoutMs: config.permission.timeout,
  });
  const ask: Ask = (question, asker) => approvals.ask(question, asker);
  credentials.onRevoked(({ pane }) => {
    if (pane !== undefined) approvals.withdraw(pane);
  });
  const session = new TmuxSession({
    socket: settings.tmuxSocket,
    configFile: settings.tmuxConfig ?? options.tmuxConfig,
    session: settings.sessionName,
    env,
  });
  ends.push(() => session.close());
  const adoptedBook = await AdoptedBook.load(store, events);
  const adopted: AdoptedAgents = new AdoptedAgents({
    ...{ book: adoptedBook, clock, random, log, env },
    ...foreignProcesses(),
    ownPanes: () =>
      new Map(panes.book.list().flatMap(({ id, pid, status }) => (status === 'running' ? [[pid, id]] : []))),
    isTaken: (id) => panes.book.find(id) !== undefined,
    onShown: (server, ids) => panes.lookers.set(server, ids),
    heardBefore: (place) => heardBefore(store, place),
  });
  ends.push(() => adopted.close());
  const namedBook = await NamedBook.load(store);
  const budget = await Budget.load({
    ...{ store, clock },
    onError: (error) => log.error('what a named agent said is not counted after a restart', { error }),
  });
  const safe = await SecretSafe.open({ store, hidden, log, keyFile: places.sealingKey });
  const people = await People.open({ store, events, credentials, clock, random, user });
  const seatMap = await SeatMap.open(store, events, (error) =>
    log.error('who drives which session is not known', { error }),
  );
  const seatOf: SeatOf = (paneId) => {
    const session = seatMap.in(paneId);
    return session && { driver: session.driver ?? undefined };
  };
  const address = { port: null as number | null, url: null as string | null };
  const panes = await Panes.open({
    ...{ store, events, credentials, clock, random, log, config, ask, session, env },
    keep: {
      maxLines: settings.bufferLines,
      maxBytes: config.output.pane_mb * megabyte,
      allBytes: config.output.all_mb * megabyte,
      ...(config.output.keep === 'disk' && {
        diskBytes: config.output.pane_disk_mb * megabyte,
        allDiskBytes: config.output.all_disk_mb * megabyte,
      }),
    },
    connectHost: options.connectHost,
    findHost: options.findHost,
    address: () => ({ home: places.home, host: places.host, socket: places.socket, ...address }),
    hub: user,
    secretEnv: (id) => {
      const member = namedBook.members().find(({ pane }) => pane === id);
      return member ? safe.variablesOf(member.agent) : {};
    },
    isReserved: (id) => adopted.has(id),
    seatOf,
    mayType: (...asked) => seats.mayType(...asked),
  });
  ends.push(() => panes.disconnect());
  const rules = new ScreenRules({ shipped: options.screens, own: places.screens });
  const states = new AgentStates({
    ...{ clock, log, hub, rules },
    ...statePanes(panes, adopted),
    lastHeard: ({ id, createdAt }) => lastHeard(store, id, createdAt, adopted.sessionOf(id)),
    adoptedInfo: (id, telling) => adopted.infoOf(id, telling),
    isLookedAt: (pane) => panes.lookers.has(pane),
    gapsOf: (vendor) => adapters[vendor]?.gaps ?? [],
  });
  panes.lookers.onLook((pane) => states.see(pane));
  events.listen((batch) => {
    for (const { event, payload } of batch)
      if (event === 'pane:removed' || event === 'agent:released')
        states.forget((payload as { readonly paneId: string }).paneId);
  });
  ends.push(() => states.close());
  const names = await ProjectBook.load(store, clock);
  const floor = createFloor({
    ...{ store, events, clock, random, user, redact, book: names, isOurs: isHint },
    agentIn: floorAgents(panes, adopted),
    seatMs: config.floor.seat_lease,
    readEvent: readHandedOver(clock),
    knownMembers: () => knownMembers(mail, user, namedBook),
    confinedTo: (caller) => named.confinementOf(caller)?.project,
    sessionOf: (participant, project) =>
      namedBook.member(participant.replace(/^agent:/, ''), project)?.session,
  });
  let courier: Courier | undefined;
  const journal = new Journal(places.journal);
  const intake = new Intake({
    ...{ store, events, clock, log, journal, hub: user },
    paneOf: (token) => {
      const hash = digest(token).toString('hex');
      return credentials.paneOf(token) ?? panes.book.list().find(({ tokenHash }) => tokenHash === hash)?.id;
    },
    adoptedOf: (origin) => adopted.ownerOf(origin),
    alongside: (captures, tries) => floor.story.write(captures, { tries }),
    retold: (captures) => retoldAmong(store, captures),
    onTaken: (capture) => {
      const { pane, asTool, occurredAt, normalised, state } = capture;
      // What an agent does as a tool of another says nothing of the one in the pane.
      if (pane === null || asTool) return;
      states.hear(pane, heardOf(occurredAt, normalised, state));
      const turn = heardTurn(capture);
      if (turn) courier?.hear(turn);
    },
  });
  ends.push(() => intake.close());
  const mail = await openMail({
    isInvited: (id) => people.isInvited(id),
    people: () => people.everybody,
    ...{ store, events, credentials, clock, random, log, user, names },
    unreadAlertMs: config.mail.unread_alert,
    onChannel: (agent) => courier?.meet(agent),
    paneLiveness: (pane) => paneLiveness(panes.book, pane),
    folderOfPane: (pane) => panes.book.find(pane)?.cwd,
    hosted: (name, project) =>
      namedBook.get(name)?.hosting === 'hub'
        ? { pane: namedBook.member(name, project)?.pane ?? undefined }
        : undefined,
    stepsOf: (seq) => stepsOf(store, seq),
    settledFor: (...asked) => courier?.settledFor(...asked),
    onRead: closeRead,
  });
  ends.push(() => mail.close());
  const holders = createHolders(
    mail,
    (pane) => panes.book.find(pane)?.cwd,
    () => people.everybody,
  );
  const isGone = (id: string, owner: string): boolean =>
    paneLiveness(panes.book, { id, birth: mail.book.get(owner)?.pane?.birth ?? owner }) === 'gone';
  const seats = new Seats({
    ...{ store, events, clock, log, hub, map: seatMap },
    ...{ recorder: floor.recorder, sessions: floor.sessions, shownAs: holders.shownAs },
    leaseMs: config.floor.seat_lease,
    holderOf: (caller) => holders.of(caller),
    isGone: ({ participant, pane, key }) =>
      participant.startsWith('user:')
        ? !people.everybody.includes(participant)
        : pane !== null && isGone(pane, key),
    ...digests(store, mail),
  });
  ends.push(() => seats.close());
  const tasks = new Tasks({
    ...{ store, clock, random, names },
    holdContracts: (...asked) => contracts.hold(...asked),
  });
  const taskClaims = new TaskClaims({ store, events, clock, log, hub });
  ends.push(() => taskClaims.close());
  const contracts = new Contracts({
    ...{ store, events, clock, log, hub, names },
    dependents: (contract, at) => staleTasks(store, hub, contract, at),
    rebuild: (...asked) => rebuiltTasks(store, ...asked),
    write: contractMail(mail, events, hub),
  });
  ends.push(() => contracts.close());
  const fileClaims = new FileClaims({
    ...{ store, events, clock, random, log, hub },
    write: (holder, notice) => mail.tell(holder, notice, []),
  });
  ends.push(() => fileClaims.close());
  ends.push(
    onDeparture(events, (departure) => {
      Promise.all([taskClaims, fileClaims, seats].map((claims) => claims.leave(departure))).catch(
        (error: unknown) => log.error('what somebody held who is gone is still held', { error }),
      );
    }),
  );
  ends.push(followFloorPanes({ events, log, floor, panes, adopted }));
  const unspoken = new Unspoken({
    ...{ store, events, log, hub, recorder: floor.recorder },
    tellsOfEsc: (id) => {
      const pane = panes.book.find(id) ?? adopted.book.find(id);
      return tellsOf(String(pane?.meta['agent.runtime']), 'interrupted');
    },
  });
  ends.push(() => unspoken.close());
  const named = new Named({
    ...{ store, events, clock, random, log, hub, credentials, safe, names, floor, mail, panes, seatMap },
    ...{ book: namedBook, budget, seatMs: config.floor.seat_lease, dispatch: () => dispatch },
  });
  ends.push(() => named.close());
  const confinement = new Confinement(isolation({ store, named, names, mail, people }));
  const permissions: Permissions = {
    registry,
    confine: (...asked) => confinement.confine(...asked),
    permitPane: permitSeat(seats, (...asked) =>
      permitPane({ book: panes.book, config, user: env, seatOf }, ...asked),
    ),
    ask,
  };
  const allowance = new Allowance(clock);
  const dispatch: Dispatch = hideAnswers(
    createDispatch({
      ...{ ...permissions, allowance, events, handlers, store, clock, log },
      admit: async (caller, action, params) => {
        await confinement.admit(caller, action, params);
        await named.charge(caller, action.name);
      },
    }),
    hidden,
  );
  const streams = new SseStreams({ events, view: eventView(panes.book, seatOf, confinement) });
  const startedAt = new Date(clock.now()).toISOString();
  const status = statusOf({
    ...{ store, panes, approvals, session, intake, mail, config, rules, places },
    about: { version, pid: process.pid, startedAt, socket: places.socket, path: env.PATH },
    url: () => address.url,
    readers: () => ({ eventReaders: streams.readers, floorReaders: floorStreams.readers }),
    extensionProblems: () => extensions.problems,
  });

  const closed = Promise.withResolvers<void>();
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= events
      .append([draft(hub, 'server:shutdown', {})])
      .catch((error: unknown) => log.error('the end could not be told of', { error }))
      .then(closeAll)
      .then(closed.resolve, closed.reject);
    return closing;
  };

  registerPaneActions({ registry, panes, events, dispatch });
  registerSessionActions(registry, session, panes);
  registerShellActions({ registry, log, env });
  registerAgentActions({
    registry,
    events,
    clock,
    states,
    rules,
    adopted,
    panes: agentPanes(panes, adopted, (...asked) => seats.mayType(...asked), seatOf),
  });
  registerApprovalActions(registry, approvals);
  registerMailActions(registry, mail);
  registerTaskActions(registry, { tasks, claims: taskClaims }, holders);
  registerContractActions(registry, contracts, holders);
  registerFileActions(registry, fileClaims, holders);
  registerFloorActions(registry, floor, holders);
  registerAdviceActions({
    ...{ registry, store, holders, dispatch, map: seatMap, write: adviceMail(mail) },
    ...{ sessions: floor.sessions, recorder: floor.recorder },
  });
  registerSeatActions({ registry, sessions: floor.sessions, seats, holders, ask });
  registerRecoverActions({
    ...{ registry, holders, store, book: names, sessions: floor.sessions },
    revive: reviveJournal(journal, intake),
    recovery: new Recovery({
      ...{ store, events, clock, hub, story: floor.story, recorder: floor.recorder },
      ...{ agentIn: floorAgents(panes, adopted), shownAs: holders.shownAs },
      ...recoverSources({
        store,
        clock,
        intake,
        env,
        envOf: (pane) => panes.book.find(pane)?.fixedEnv ?? {},
      }),
    }),
  });
  registerPersonActions(registry, people);
  registerNamedActions({
    ...{ registry, names, holders, agents: named.agents, membership: named.membership },
    knowledge: new Knowledge(places.knowledge),
    handOn: handsOn(mail, namedBook),
    confinedTo: (caller) => named.confinementOf(caller)?.project,
  });
  registerServerActions({
    ...{ registry, store, status },
    database: places.database,
    endAll: async () => {
      await panes.closeAll();
      // Another hub may have panes there.
      if (!(await panes.tmux.isShared())) await session.stop();
      await panes.link.stop();
    },
    stop: () => void close(),
  });
  const extensions = createExtensions({
    ...{ registry, handlers, events, dispatch, log },
    directory: places.extensions,
    hub: user,
    cwd: process.cwd(),
  });
  ends.push(() => extensions.close());
  registerExtensionActions(registry, extensions);
  await extensions.load();

  await panes.adopt();
  await adopted.begin();
  for (const pane of [...panes.book.list(), ...adopted.book.list()]) states.meet(pane);
  await taskClaims.start(isGone);
  await fileClaims.start(isGone);
  await seats.start(isGone);
  await contracts.start();
  await floor.sessions.start(hasFloorPane(panes, adopted), ({ statements, drafts = [] }) =>
    events.append(drafts, statements),
  );
  const delivery = { store, events, clock, log, hub, mail, panes, states, rules, seatMap };
  courier = createCourier({ ...delivery, inboxes: places.inboxes, quietMs: settings.quietMs });
  ends.push(() => courier?.close());
  const exitLetters = await ExitLetters.open({
    ...{ store, events, log },
    ownerOf: (paneId) => exitLetterOwner(panes.book, mail, paneId),
    tell: (...notice) => mail.tell(...notice),
  });
  ends.push(() => exitLetters.close());
  const openRoutes = [
    exchangeRoute(async (ticket) => (await people.accept(ticket)) ?? credentials.exchange(ticket)),
    ...webFiles(options.web),
  ];
  const notifier = new Notifier({
    ...{ events, log, env, wanted: config.notify },
    placeOf: (paneId) => {
      const pane = panes.book.find(paneId) ?? adopted.book.find(paneId);
      return pane && { vendor: String(pane.meta['agent.runtime']), title: pane.title, cwd: pane.cwd };
    },
    terminals: () => session.terminals(),
  });
  const sessions = paneStreams(panes, permissions, notifier, seatMap);
  const mcp = new McpEdge({
    ...{ dispatch, version, passes: mail, identities: mail },
    actions: () => registry.list(),
    tmux: {
      hub: session,
      onChange: (change) => audit.info('a tool of tmux was used', change),
      driven: drivenPanes(panes, adopted, seats, seatMap, session.socketPath),
    },
  });
  ends.push(() => mcp.close());
  const floorEvents = new EventStream(store, (project) => names.shownAs(project));
  const floorStreams = new FloorStreams({ events, log, reader: floorEvents });
  const closeDoors = await openDoors({
    ...{ credentials, streams, places, settings, log, dispatch, openRoutes, mcp, floorStreams },
    panes: sessions,
    routes: hubRoutes({
      ...{ dispatch, registry, streams, credentials, version },
      emit: createEmit({ allowance, events, store, clock }),
      more: [
        ...sessionRoutes({ dispatch, sessions }),
        ...projectRoutes({ dispatch, streams: floorStreams, pages: floorEvents }),
        ...namedRoutes(dispatch),
        mcp.route,
        ...webSocketRoutes,
      ],
      openRoutes,
      health: async () => ({ status: 'ok', ...(await status()) }),
      warn: (message) => log.warn(message),
    }),
    onEntry: entry.note,
    onPort: (port, url) => Object.assign(address, { port, url }),
  });
  ends.push(closeDoors);
  ends.push(() => approvals.close());
  ends.push(
    keepHouse({
      ...{ store, clock, log, database: places.database, onLost: options.onBroken },
      forgetMore: async () => {
        await mail.retention.run();
        await tasks.forget();
        await floor.forgetting.run();
      },
    }),
  );
  await named.begin();
  await events.append([draft(hub, 'server:started', {})], [], { onFullDisk: true });
  const { url } = address;
  const discovery = {
    socket: places.socket,
    ...(url && { url }),
    pid: process.pid,
    startTime: startedAt,
    version,
  };
  writePrivate(places.discovery, `${JSON.stringify(discovery)}\n`);
  ends.push(() => rmSync(places.discovery, { force: true }));
  log.info('ready', discovery);
  return { close, closed: closed.promise, blame: extensions.blame };
}
