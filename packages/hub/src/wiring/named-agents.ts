import { foldName, PolyError } from '@polyphony/protocol';
import { launch } from '../agents/launch.ts';
import { noteOf } from '../agents/state/agent-states.ts';
import { draft, type EventLog, type Source } from '../events/event-log.ts';
import type { Floor } from '../floor/floor.ts';
import type { Budget } from '../floor/named/budget.ts';
import { type HostedPanes, Hosting } from '../floor/named/hosting.ts';
import { Membership } from '../floor/named/membership.ts';
import { NamedAgents } from '../floor/named/named-agents.ts';
import type { NamedBook } from '../floor/named/named-book.ts';
import type { MemberRow, NamedRecord } from '../floor/named/named-record.ts';
import type { SecretSafe } from '../floor/named/secret-safe.ts';
import { Watching } from '../floor/named/watching.ts';
import type { ProjectBook } from '../floor/project-book.ts';
import type { SeatMap } from '../floor/seat/seat-map.ts';
import { callerOf } from '../mail/agent-record.ts';
import type { Mail } from '../mail/mail.ts';
import { familyOf } from '../panes/pane-record.ts';
import type { Panes } from '../panes/panes.ts';
import type { People } from '../people/people.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Random } from '../platform/random.ts';
import { type Caller, isPerson } from '../registry/caller.ts';
import type { Credentials } from '../registry/credentials.ts';
import type { Dispatch } from '../registry/dispatch.ts';
import type { Store } from '../store/store.ts';
import type { Confined, ConfinementOptions } from './confinement.ts';

export interface NamedOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly hub: Source;
  readonly credentials: Credentials;
  readonly book: NamedBook;
  readonly budget: Budget;
  readonly safe: SecretSafe;
  readonly names: ProjectBook;
  readonly floor: Floor;
  readonly mail: Mail;
  readonly panes: Panes;
  readonly seatMap: SeatMap;
  readonly seatMs: number;
  readonly dispatch: () => Dispatch;
}

/** What says something to others: of a named agent it counts against its budget. */
const spoken: ReadonlySet<string> = new Set([
  ...['mail:send', 'mail:send-by-id', 'mail:broadcast', 'mail:broadcast-to-role'],
  ...['floor:advise', 'floor:reply', 'floor:hand-on'],
]);

/** What may make members of agents, or take that from them. */
const stirring: ReadonlySet<string> = new Set([
  ...['project:created', 'project:tagged', 'project:archived', 'project:deleted', 'mail:registered'],
  ...[
    'floor:agent-added',
    'floor:agent-changed',
    'floor:agent-removed',
    'floor:agent-joined',
    'floor:agent-left',
  ],
  'floor:deleted',
]);

/** Introduces named agents to panes, mail and the floor. */
export class Named {
  readonly agents: NamedAgents;
  readonly membership: Membership;
  readonly #hosting: Hosting;
  readonly #watching: Watching;
  readonly #options: NamedOptions;
  #stopListening: () => void = () => undefined;

  constructor(options: NamedOptions) {
    this.#options = options;
    const { mail, names, floor } = options;
    const shownAs = (project: string): string => names.shownAs(project);
    this.agents = new NamedAgents({
      ...{ ...options, shownAs },
      isHere: (agent, project) => {
        const record = mail.book.find(project, agent);
        return record !== undefined && mail.presence.livenessOf(record) === 'alive';
      },
    });
    this.membership = new Membership({
      ...{ ...options, agents: this.agents, projects: floor.projects },
      registered: () => mail.book.members().map(({ name, projectKey }) => ({ name, project: projectKey })),
      async unregister(name, project) {
        const record = mail.book.find(project, name);
        if (!record || record.leftAt !== undefined) return;
        const asker = { caller: callerOf(record), signal: new AbortController().signal };
        await options.dispatch()('mail:unregister', {}, asker);
      },
      onChange: () => void this.#hosting.look(),
    });
    this.#hosting = new Hosting({
      ...options,
      panes: hostedPanes(options),
      isClosed: (project) => this.membership.isClosed(project),
    });
    this.#watching = new Watching({
      ...{ ...options, shownAs },
      async tell({ agent, project }, notice, statements) {
        const record = mail.book.find(project, agent);
        if (!record || record.leftAt !== undefined) return false;
        await mail.tell(record.id, notice, statements);
        return true;
      },
    });
  }

  /** Brings everything up to date, and keeps it so. */
  async begin(): Promise<void> {
    const { events } = this.#options;
    this.#stopListening = events.listen((batch) => {
      // Whoever has written it puts it into the books first.
      setImmediate(() => {
        for (const { event, payload } of batch)
          if (/^pane:(created|exited|removed)$/.test(event))
            this.#hosting.heard((payload as { readonly paneId: string }).paneId);
        if (batch.some(({ event }) => stirring.has(event))) void this.membership.reconcile();
      });
    });
    await this.membership.reconcile();
    await this.#hosting.begin();
    this.#watching.start();
  }

  async close(): Promise<void> {
    this.#stopListening();
    await this.membership.close();
    await this.#hosting.close();
    await this.#watching.close();
    await this.#options.budget.close();
  }

  /** The named agent that somebody is, and where: by the pane the hub runs it in, or whatever that has started, else by its name in mail. */
  of(caller: Caller): { readonly record: NamedRecord; readonly member: MemberRow } | undefined {
    const { book, panes, mail } = this.#options;
    if (book.isEmpty || isPerson(caller)) return undefined;
    const member = book.members().find(({ pane }) => {
      const place = pane === null ? undefined : panes.book.find(pane);
      return place && caller.family !== undefined && familyOf(place) === caller.family;
    });
    const registered = caller.agent ? mail.book.get(caller.agent.id) : mail.book.inPane(caller.birth);
    const row = member ?? (registered && book.member(registered.name, registered.projectKey));
    const record = row && book.get(row.agent);
    return row && record && { record, member: row };
  }

  /** The project that somebody is kept to, who is isolated. */
  confinementOf(caller: Caller): Confined | undefined {
    const found = this.of(caller);
    return found?.record.isolated ? { name: found.record.name, project: found.member.project } : undefined;
  }

  /** Counts what a named agent says, and refuses it with when it may go on; people have no budget. */
  async charge(caller: Caller, action: string): Promise<void> {
    if (!spoken.has(action)) return;
    const { events, hub, clock, budget: said } = this.#options;
    const found = this.of(caller);
    if (!found) return;
    const { name, budget } = found.record;
    const { project } = found.member;
    const over = said.take(name, project, budget);
    if (!over) return;
    const until = new Date(clock.now() + over.waitMs).toISOString();
    if (over.isNew)
      await events.append([draft(hub, 'floor:agent-throttled', { name, projectKey: project, until })]);
    const seconds = Math.ceil(over.waitMs / 1000);
    throw new PolyError(
      'too_many_requests',
      `agent:${name} has said ${budget} things within a minute in this project, which is its budget.`,
      {
        hint: `Wait ${seconds} seconds, until ${until}, and say several things at once then.`,
        details: { reason: 'over_budget', retry_after_s: seconds, until },
      },
    );
  }
}

/** What keeps isolated agents to their project needs to know of the others. */
export function isolation({
  store,
  named,
  names,
  mail,
  people,
}: Pick<NamedOptions, 'store' | 'names' | 'mail'> & {
  readonly named: Named;
  readonly people: Pick<People, 'everybody'>;
}): ConfinementOptions {
  return {
    of: (caller) => named.confinementOf(caller),
    keyOf: (name) => names.keyOf(name),
    knows(project, given) {
      const [, kind, name = ''] = /^@?(?:(user|agent):)?(.*)$/s.exec(foldName(given)) ?? [];
      const isPerson = name === 'user' || people.everybody.some((one) => one === `user:${name}`);
      const agent = mail.book.find(project, name);
      return (
        (kind !== 'agent' && isPerson) ||
        (kind !== 'user' && agent !== undefined && agent.leftAt === undefined)
      );
    },
    async projectOfTask(task) {
      const sql = 'SELECT project_key FROM tasks WHERE id = ?';
      const [row] = await store.query<{ readonly project_key: string }>(sql, [task]);
      return row?.project_key;
    },
  };
}

/** Panes in which the hub runs named agents. */
function hostedPanes(options: NamedOptions): HostedPanes {
  const { panes, credentials, clock, names, mail, seatMap, dispatch, events, hub } = options;
  const never = new AbortController().signal;
  return {
    find(id) {
      const record = panes.book.find(id);
      if (!record) return undefined;
      const { status, createdAt, exitCode, exitSignal } = record;
      const ending =
        exitSignal === null ? `it ended with ${exitCode ?? 'nobody knows what'}` : `${exitSignal} ended it`;
      return { isRunning: status === 'running', startedAt: createdAt, ending };
    },
    async start(id, { name, command = [], cwd }, { project }) {
      const asker = { caller: credentials.user, signal: never };
      const launched = launch({ argv: command });
      if (panes.book.find(id)) {
        await panes.starting.restart(id, { argv: launched.argv }, asker, 'floor:agent-invite');
        return;
      }
      const meta = { ...noteOf('starting', clock.now()), 'agent.runtime': launched.vendor };
      const fixedEnv = { ...launched.env, POLY_AGENT: name, POLY_PROJECT: project };
      const title = `${name} in ${names.shownAs(project)}`;
      const params = {
        id,
        argv: launched.argv,
        backend: 'pty',
        title,
        meta,
        ...(cwd !== undefined && { cwd }),
      } as const;
      await panes.starting.create(params, asker, { action: 'floor:agent-invite', drawn: true, fixedEnv });
      await events.append([draft(hub, 'agent:created', { paneId: id })]);
    },
    async settle(id, { name, displayName, drives }, { project, session }) {
      const birth = panes.book.get(id).tokenHash;
      const caller = credentials.inPane(birth);
      if (!caller) throw new PolyError('pane_exited', `${id} has ended.`);
      const run = (action: string, params: object) => dispatch()(action, params, { caller, signal: never });
      if (mail.book.inPane(birth)?.name !== name)
        await run('mail:register', { name, project, display_name: displayName });
      await seatMap.current();
      if (seatMap.in(id)?.id !== session) await run('floor:join', { project, session, agent: name });
      await seatMap.current();
      if (drives && seatMap.in(id)?.driver === null) await run('floor:claim', { session });
    },
    end: (id) => (panes.book.find(id) ? panes.close(id, { cleanup: true, from: hub }) : Promise.resolve()),
    hosted: () =>
      panes.book.list().flatMap(({ id, fixedEnv }) => (fixedEnv?.POLY_AGENT === undefined ? [] : id)),
  };
}
