import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { type AgentStatus, participantOf } from '@polyphony/protocol';
import { Inbox } from '../agents/inbox.ts';
import { type Terminal, typeMessage } from '../agents/message.ts';
import type { ScreenRules } from '../agents/screens/screen-rules.ts';
import type { AgentStates } from '../agents/state/agent-states.ts';
import type { VendorName } from '../agents/vendors/vendor.ts';
import { recogniseVendor } from '../agents/vendors/vendors.ts';
import type { Capture } from '../capture/intake.ts';
import { Courier, type CourierOptions } from '../delivery/courier.ts';
import { noPane, type Target } from '../delivery/door.ts';
import type { Ran } from '../delivery/doors/codex-queue.ts';
import { createGuard, type Sight } from '../delivery/guard.ts';
import { createLadder } from '../delivery/ladder.ts';
import type { HeardTurn, Whereabouts } from '../delivery/rounds.ts';
import type { SeatMap } from '../floor/seat/seat-map.ts';
import type { Mail } from '../mail/mail.ts';
import { environmentOf, foregroundOf, variableOf } from '../panes/foreground.ts';
import type { PaneRecord } from '../panes/pane-record.ts';
import type { Panes } from '../panes/panes.ts';
import type { Caller } from '../registry/caller.ts';

export interface DeliveryOptions extends Pick<CourierOptions, 'store' | 'events' | 'clock' | 'log' | 'hub'> {
  readonly mail: Pick<Mail, 'book' | 'presence'>;
  readonly seatMap: SeatMap;
  readonly panes: Panes;
  readonly states: AgentStates;
  readonly rules: ScreenRules;
  /** The folder of all inboxes. */
  readonly inboxes: string;
  readonly quietMs: number;
}

/** How long the screen of an agent may take to show what was typed. */
const echoMs = 5_000;
/** How long it may take between two frames to show its composer. */
const readyMs = 1_000;

/** Introduces mail, panes and agents to what brings mail to agents. */
export function createCourier(options: DeliveryOptions): Courier {
  const { mail, panes, states, rules, clock, inboxes, quietMs, seatMap } = options;

  /** Whose program has the terminal of a pane: the agent it was made for, or one that was started in its shell. */
  const agentIn = (
    pane: PaneRecord,
  ): { readonly vendor: VendorName; readonly argv: readonly string[]; readonly pid: number } => {
    const own = recogniseVendor(pane.argv).name;
    if (own !== 'generic') return { vendor: own, argv: pane.argv, pid: pane.pid };
    const front = foregroundOf(pane.pid);
    const argv = front ? programIn(front.argv) : pane.argv;
    return { vendor: recogniseVendor(argv).name, argv, pid: front?.pid ?? pane.pid };
  };

  const targetIn = (recipient: string, pane: PaneRecord): Target => {
    const { status, evidence = 'nothing tells' } = states.describe(pane);
    const told = states.told(pane.id);
    const sessionId = pane.meta['agent.sessionId'];
    return {
      ...{ recipient, pane: { id: pane.id, birth: pane.tokenHash }, status, evidence, cwd: pane.cwd },
      hooked: states.isHeard(pane.id),
      // One that rests, and of whose turn no hook told the end, was broken off, or its hook is on its way.
      interrupted:
        told?.evidence.startsWith('hook: Interrupt') || (told?.status === 'running' && restful.has(status)),
      ...agentIn(pane),
      sessionId: typeof sessionId === 'string' ? sessionId : undefined,
    };
  };

  const whereIs = (recipient: string): Whereabouts => {
    if (isSession(recipient)) return whereSessionIs(recipient);
    const record = mail.book.get(recipient);
    if (!record)
      return recipient.startsWith('user:')
        ? { kind: 'person' }
        : { kind: 'nowhere', state: 'failed', reason: 'unknown_recipient: nobody of that id has registered' };
    const { pane: place, name } = record;
    if (record.leftAt !== undefined)
      return { kind: 'nowhere', state: 'failed', reason: 'recipient_left: it has left its project' };
    if (!place && mail.presence.channelOf(record))
      return { kind: 'agent', name, target: { ...byConnection, recipient } };
    if (!place)
      return { kind: 'nowhere', state: 'queued', reason: `${noPane}; it reads its inbox by itself` };
    const pane = panes.book.find(place.id);
    if (pane?.tokenHash !== place.birth)
      return { kind: 'nowhere', state: 'failed', reason: 'pane_reassigned: its pane is another by now' };
    if (pane.status !== 'running')
      return { kind: 'nowhere', state: 'failed', reason: 'pane_dead: its program has ended' };
    return { kind: 'agent', name, target: targetIn(recipient, pane) };
  };

  const whereSessionIs = (session: string): Whereabouts => {
    const place = seatMap.paneOf(session);
    const pane = place === undefined ? undefined : panes.book.find(place);
    if (!pane) return { kind: 'later', reason: 'no_pane: no pane of this hub feeds the session now' };
    if (pane.status !== 'running')
      return { kind: 'later', reason: 'pane_dead: the program that feeds the session has ended' };
    return { kind: 'agent', name: session, target: targetIn(session, pane) };
  };

  /** Why a pane is no longer what it was, or its agent does not read. */
  const troubleOf = ({ pane: place, vendor, pid }: Target): string | undefined => {
    if (!place) return noPane;
    const pane = panes.book.find(place.id);
    if (pane?.tokenHash !== place.birth) return 'pane_reassigned: its pane is another by now';
    if (pane.status !== 'running') return 'pane_dead: its program has ended';
    const front = foregroundOf(pane.pid);
    if (!front) return 'no_terminal: nobody can tell which program has its terminal';
    const isIt = front.isFirst ? pid === pane.pid : recogniseVendor(programIn(front.argv)).name === vendor;
    if (!isIt) return `backgrounded: ${basename(front.argv[0] ?? 'another program')} has its terminal`;
    return front.stopped ? 'stopped: its process is stopped, and reads nothing' : undefined;
  };

  const see = async (target: Target): Promise<Sight> => {
    const id = target.pane?.id ?? '';
    const common = { drawnAt: states.drawnAt(id), typedAt: panes.gate.typedAt(id) };
    const trouble = troubleOf(target);
    const unseen = { ...common, status: 'unknown', evidence: '', draft: undefined, text: '' };
    if (trouble) return { ...unseen, trouble };
    try {
      const screen = await panes.screen(id);
      const pane = panes.book.get(id);
      const reading = rules.readScreen(target.vendor as VendorName, screen, pane.meta['agent.version']);
      // Of an agent that nobody watches the screen is all there is.
      const watched = pane.meta['agent.runtime'] !== undefined;
      const { status, evidence } = watched ? states.describe(pane) : reading;
      return {
        ...{ ...common, trouble: undefined, text: screen.lines.join('\n') },
        status: reading.status === 'blocked' ? 'blocked' : status,
        evidence: evidence ?? reading.evidence,
        draft: screen.bracketedPaste === false ? undefined : reading.composer?.draft,
      };
    } catch (error) {
      return { ...unseen, trouble: `no_screen: ${error instanceof Error ? error.message : String(error)}` };
    }
  };

  const ladder = createLadder({
    inboxOf: (pane) => new Inbox(inboxes, pane),
    guard: createGuard({
      clock,
      quietMs,
      see,
      troubleOf,
      typedAt: ({ pane }) => pane && panes.gate.typedAt(pane.id),
    }),
    variableOf,
    run: runBeside,
    channelOf(recipient) {
      const record = mail.book.get(recipient);
      return record && mail.presence.channelOf(record);
    },
    async typeAt({ pane, argv }, text, check) {
      if (!pane) return { state: 'failed', reason: noPane };
      const { id, birth } = pane;
      // What is for an agent is typed as its own: into a session that another drives it is not typed at all.
      const own: Caller = {
        ...{ participant: participantOf('agent', id), scopes: new Set(), pane: id, birth },
      };
      const terminal: Terminal = {
        argv,
        read: (vendor, screen) => rules.readScreen(vendor, screen, panes.book.get(id).meta['agent.version']),
        ended: () => panes.book.find(id)?.status !== 'running',
        screen: () => panes.screen(id),
        hold: (work) => panes.gate.hold(id, own, (type) => work((typed) => type(Buffer.from(typed)))),
      };
      try {
        const { state, reason = '' } = await typeMessage(terminal, text, { readyMs, echoMs, check });
        return { state: state === 'written' || state === 'uncertain' ? state : 'failed', reason };
      } catch (error) {
        return { state: 'failed', reason: error instanceof Error ? error.message : String(error) };
      }
    },
  });

  return new Courier({
    ...options,
    whereIs,
    doorsOf: ladder,
    recipientsIn: (paneId) =>
      [mail.book.inPane(panes.book.find(paneId)?.tokenHash)?.id, seatMap.in(paneId)?.id].filter(
        (one) => one !== undefined,
      ),
    settled: () => seatMap.current(),
  });
}

/** What is known of an agent that is in no pane: only Claude Code has channels. */
const byConnection: Omit<Target, 'recipient'> = {
  ...{ pane: undefined, vendor: 'claude', status: 'unknown', evidence: 'it is in no pane' },
  ...{ interrupted: false, hooked: false, sessionId: undefined, argv: [], cwd: '/', pid: 0 },
};

/** How an agent is after a turn that came to its end, or was broken off. */
const restful: ReadonlySet<AgentStatus> = new Set(['idle', 'done']);

const isSession = (recipient: string): boolean => recipient.startsWith('ses_');

/** The words that name a program, without the runtime it is a script of. */
function programIn(argv: readonly string[]): readonly string[] {
  return /^(node|bun|deno)$/.test(basename(argv[0] ?? '')) ? argv.slice(1) : argv;
}

/** Kinds of events that come only when a model was asked since the one before. */
const afterModel: ReadonlySet<string> = new Set(['said', 'tool_started', 'turn_ended']);

/** Why what a turn had been given was not seen by it, by the kind of event that tells of its end. */
const failures: Partial<Readonly<Record<Capture['normalised']['kind'], (error: string) => string>>> = {
  turn_failed: (error) => `turn_failed: the turn it came with failed (${error})`,
  interrupted: () => 'interrupted: the turn was broken off, and what waited for its end waits for the next',
};

/** What an event of an agent's hooks proves about mail; nothing where it is not of the agent itself. */
export function heardTurn({ agent, pane, occurredAt, normalised }: Capture): HeardTurn | undefined {
  const { kind, text, error, subagent } = normalised;
  if (pane === null || subagent !== undefined) return undefined;
  return {
    ...{ pane, at: occurredAt },
    prompt: kind === 'prompt' ? (text ?? '') : undefined,
    // OpenCode 1.18.33 tells of a prompt before it begins a turn with it, and may lose it.
    stored: agent === 'opencode',
    modelWasAsked: afterModel.has(kind),
    failure: failures[kind]?.(error ?? 'no reason given'),
    began: kind === 'session_started',
  };
}

const mostOutput = 64 * 1024;

function runBeside(
  pid: number,
  [program = '', ...args]: readonly string[],
  { cwd, timeoutMs }: { readonly cwd: string; readonly timeoutMs: number },
): Promise<Ran> {
  const options = {
    ...{ cwd, timeout: timeoutMs, maxBuffer: mostOutput, encoding: 'utf8' as const },
    ...{ killSignal: 'SIGKILL' as const, env: environmentOf(pid) ?? process.env },
  };
  return new Promise((resolve, reject) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      const output = `${stderr}\n${stdout}`;
      if (!error) resolve({ code: 0, output });
      else if (typeof error.code === 'number') resolve({ code: error.code, output });
      else if (error.killed) resolve({ code: undefined, output });
      else reject(error);
    }).stdin?.end();
  });
}

/** Who hears of the end of a pane by mail: the agent that started it, unless a plugin of its own tells it. */
export function exitLetterOwner(
  book: Panes['book'],
  mail: Pick<Mail, 'book'>,
  paneId: string,
): string | undefined {
  const pane = book.find(paneId);
  if (!pane?.createdBy || pane.meta['opencode.sessionID'] !== undefined) return undefined;
  return mail.book.inPane(pane.createdBy)?.id ?? mail.book.get(pane.createdBy)?.id;
}
