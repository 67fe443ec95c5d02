import {
  type AgentExplanation,
  type AgentInfo,
  type AgentPane,
  type AgentStatus,
  blockedReasons,
  type Client,
  type Delivery,
  didYouMean,
  listed,
  PolyError,
  reasonText,
  screenStatuses,
} from '@polyphony/protocol';
import { age } from '../age.ts';
import { statusColours } from '../agent-colours.ts';
import { type Command, command } from '../command.ts';
import { choice, pairs, text, time, toggle } from '../flag.ts';
import { shown } from '../output.ts';
import { callOnPane } from '../panes.ts';
import { standardInput } from '../standard-input.ts';
import { startProgram } from '../start-program.ts';
import { showKnown } from './agent-adopt.ts';

/** Of what is blocked, also on what. */
const recordedStates: readonly string[] = screenStatuses.flatMap((status) =>
  status === 'blocked' ? [status, ...blockedReasons.map((reason) => `${status}-${reason}`)] : [status],
);

export const agentCommands: readonly Command[] = [
  command({
    name: 'agent create',
    summary: 'Starts a coding agent in a new pane, here in this folder.',
    startsHub: true,
    args: ['[agent…]'],
    rest: '<agent> [args…]',
    flags: {
      model: text('haiku, sonnet or opus for claude; a model’s name for others.', { value: 'MODEL' }),
      permissions: choice('Whether it asks before it acts; ask when left out.', ['ask', 'auto']),
      prompt: text('What it starts with.'),
      name: text('An id of your own for its pane.', { value: 'ID' }),
      cwd: text('Where it starts; here when left out.', { value: 'FOLDER' }),
      env: pairs('A variable for it, beside those of this command.'),
      meta: pairs('A note to keep with the pane.'),
    },
    examples: [
      'poly agent create claude --model sonnet --prompt "Fix the failing test"',
      'poly agent create --name review -- codex',
    ],
    async run({ flags, args, rest = [], hub, env, out, json }) {
      const argv = [...args, ...rest];
      if (argv.length === 0)
        throw new PolyError('invalid_arguments', `agent create needs an agent: ${listed(known, 'or')}.`);
      const made = await startProgram<AgentPane>('agent:create', argv, { flags, env, hub }).catch(
        noAgent(argv),
      );
      if (json) return out.json(made);
      out.line(made.id);
      if (made.notice) out.note(made.notice);
    },
  }),
  command({
    name: 'agent list',
    summary: 'Lists the agents and what they are doing.',
    examples: ['poly agent list', 'poly agent list --json'],
    async run({ hub, out, json }) {
      const agents = await listAgents(hub);
      if (json) return out.json(agents);
      if (agents.length === 0) return out.note('No agents yet. Start one with: poly agent create claude');
      const header = ['AGENT', 'STATUS', 'SINCE', 'VENDOR', 'WHY'].map((name) => out.paint('dim', name));
      const rows = agents.map((agent) => [
        out.paint('cyan', agent.id),
        out.paint(statusColours[agent.status] ?? 'dim', agent.status),
        agent.since === undefined ? '' : age(Date.parse(agent.since)),
        agent.vendor,
        shown(why(agent), 200),
      ]);
      out.table([...(out.isTerminal ? [header] : []), ...rows], { cut: 4 });
    },
  }),
  command({
    name: 'agent explain',
    summary: 'Says why an agent is taken to do what it does.',
    args: ['<agent>'],
    completes: 'agent',
    examples: ['poly agent explain review', 'poly agent explain review --json'],
    async run({ args: [paneId = ''], hub, out, json }) {
      const explained = await callOnPane<AgentExplanation>(hub, 'agent:explain', { paneId });
      if (json) return out.json(explained);
      const { id, status, since, vendor, rule, signals, gaps } = explained;
      const lasting = since === undefined ? '' : ` for ${age(Date.parse(since))}`;
      const does = out.paint(statusColours[status] ?? 'dim', says[status] ?? `is ${status}`);
      out.line(`${out.paint('cyan', id)} (${vendor}) ${does}${lasting}`);
      if (explained.reason) out.line(`  ${shown(reasonText(explained.reason), 500)}`);
      for (const option of explained.reason?.options ?? []) out.line(`  - ${shown(option, 200)}`);
      out.line(`  Known ${rule}.`);
      if (signals.length > 0) out.line();
      out.table(
        signals.map(({ authority, status: said, evidence, ageMs, decides }) => [
          decides ? '→' : ' ',
          authority,
          said,
          `${age(Date.now() - ageMs)} ago`,
          out.paint('dim', shown(evidence, 200)),
        ]),
        { cut: 4 },
      );
      if (explained.adopted) showKnown(out, explained.adopted, status === 'gone');
      if (status === 'gone') {
        if (explained.sessionId !== undefined) out.note(`To take it up again: poly agent resume ${id}`);
        return;
      }
      for (const gap of gaps) out.note(out.paint('dim', `Not told by ${vendor}: ${gap}.`));
    },
  }),
  command({
    name: 'agent resume',
    summary: 'Starts an agent that has ended again, with its conversation.',
    startsHub: true,
    args: ['[agent…]'],
    flags: { all: toggle('Every agent that has ended and whose conversation is known.') },
    completes: 'agent',
    examples: ['poly agent resume review', 'poly agent resume --all'],
    async run({ args, flags: { all }, hub, out, json }) {
      if (args.length === 0 && all !== true)
        throw new PolyError('invalid_arguments', 'agent resume needs an agent, or --all.', {
          hint: 'poly agent list shows the agents that have ended.',
        });
      const panes = all === true ? await resumable(hub) : args;
      const back: AgentPane[] = [];
      for (const paneId of panes) {
        const pane = await callOnPane<AgentPane>(hub, 'agent:resume', { paneId });
        back.push(pane);
        if (!json) out.line(pane.id);
      }
      if (json) out.json(back);
      else if (back.length === 0) out.note('No agent has ended whose conversation is known.');
    },
  }),
  command({
    name: 'agent message',
    summary: 'Gives an agent a message, and says how far it got.',
    args: ['<agent>', '<text>'],
    flags: {
      timeout: time('For how long it may show no place for text; 60 when left out.', 's', {
        most: 3_600_000,
      }),
    },
    completes: 'agent',
    examples: [
      'poly agent message review "Please look at the diff again"',
      'poly agent message review "When you are up: run the tests" --timeout 5m',
      'git diff | poly agent message review -',
    ],
    async run({ args: [paneId = '', given = ''], flags: { timeout }, hub, out, json }) {
      const text = given === '-' ? await standardInput() : given;
      const message = { paneId, text, ...(timeout !== undefined && { timeoutMs: timeout }) };
      const delivery = await callOnPane<Delivery>(hub, 'agent:message', message);
      if (json) out.json(delivery);
      else out.line(howFar(delivery, paneId));
      return delivery.state === 'failed' ? 1 : 0;
    },
  }),
  command({
    name: 'agent record',
    summary: 'Saves what an agent shows now, so that the rules for its screens can be checked and mended.',
    args: ['<pane>'],
    flags: {
      state: choice('What it is doing; what its hooks told when left out.', recordedStates),
      dir: text('Where to; screens, with a folder for each agent, when left out.', { value: 'FOLDER' }),
    },
    completes: 'pane',
    examples: ['poly agent record review', 'poly agent record review --state blocked-permission'],
    run: async (call) => (await import('../record-screen.ts')).recordScreen(call),
  }),
  command({
    name: 'agent check',
    summary: 'Reads recorded screens by the rules, and says which are read as something else.',
    args: ['[folder]'],
    completes: 'file',
    examples: ['poly agent check', 'poly agent check ~/src/recordings'],
    run: async (call) => (await import('../record-screen.ts')).checkScreens(call),
  }),
];

/** States whose names alone say too little. */
const says: Readonly<Partial<Record<AgentStatus, string>>> = {
  blocked: 'is blocked: it waits for you',
  done: 'is done, and nobody has looked yet',
  error: 'has failed (error)',
  gone: 'has ended (gone)',
};

const known = ['claude', 'codex', 'gemini', 'opencode'];

async function resumable(hub: Client): Promise<readonly string[]> {
  const [panes, agents] = await Promise.all([hub.call('pane:list', {}), hub.call('agent:list', {})]);
  return [
    ...panes.filter(({ status, meta }) => status === 'exited' && typeof meta['agent.sessionId'] === 'string'),
    ...agents.filter(({ status, adopted }) => status === 'gone' && adopted?.resume),
  ].map(({ id }) => id);
}

/** A program that is not there is mostly the name of an agent, mistyped; one that is known is not installed. */
function noAgent([program = '']: readonly string[]): (error: unknown) => never {
  return (error) => {
    if (
      !(error instanceof PolyError) ||
      error.code !== 'spawn_failed' ||
      !error.message.includes('no program')
    )
      throw error;
    const hint = known.includes(program)
      ? `Install ${program} first, so that your PATH has it.`
      : didYouMean(program, known);
    throw new PolyError(error.code, error.message, { hint, details: error.details, cause: error });
  };
}

type AgentRow = Pick<AgentInfo, 'id' | 'vendor' | 'since' | 'reason' | 'evidence' | 'title'> & {
  readonly status: string;
};

/** What it waits for, or what shows that it does what it does. */
const why = ({ reason, evidence, title }: Pick<AgentRow, 'reason' | 'evidence' | 'title'>): string =>
  reason ? reasonText(reason) : [title, evidence].filter(Boolean).join(': ');

/** Who needs somebody comes first. */
const urgency = ['blocked', 'error', 'done'];

async function listAgents(hub: Client): Promise<readonly AgentRow[]> {
  const agents = await askForAgents(hub);
  const rank = ({ status }: AgentRow): number =>
    (urgency.indexOf(status) + urgency.length + 1) % (urgency.length + 1);
  return agents.toSorted((a, b) => rank(a) - rank(b));
}

async function askForAgents(hub: Client): Promise<readonly AgentRow[]> {
  try {
    return (await hub.call('agent:list' as string, {})) as readonly AgentRow[];
  } catch (error) {
    if (!(error instanceof PolyError) || error.code !== 'unknown_action') throw error;
  }
  // A hub from before that action keeps it in the notes of panes.
  return (await hub.call('pane:list', {}))
    .filter(({ meta }) => Object.keys(meta).some((key) => key.startsWith('agent.')))
    .map((pane) => ({
      ...pane,
      vendor: String(pane.meta['agent.runtime'] ?? ''),
      status: String(pane.meta['agent.status'] ?? 'unknown'),
    }));
}

/** The hub's reasons that somebody at a command line can do something about. */
const refusals: readonly (readonly [reason: RegExp, says: (pane: string, why: string) => string])[] = [
  [
    /^it waits for an answer[^:]*: (.*)$/s,
    (pane, why) => `Not sent: ${pane} asks something first ("${why}"). Answer it: poly attach ${pane}`,
  ],
  [
    /^it shows no place for text: (.*)$/s,
    (pane) => `Not sent: ${pane} shows no input line now. Look: poly attach ${pane}`,
  ],
  [
    /^(\S+) would run the message as a command$/,
    (pane, shell) =>
      `Not sent: ${pane} runs ${shell}, no agent, which would run it as a command. If that is wanted: poly send ${pane} …`,
  ],
  [/^(.*)$/s, (pane, why) => `Not sent: ${why}. Look: poly attach ${pane}`],
];

function howFar({ state, reason = '' }: Delivery, pane: string): string {
  const why = shown(reason, 200);
  const more = why && `; ${why}`;
  switch (state) {
    case 'failed': {
      const [pattern, says] = refusals.find(([one]) => one.test(why)) ?? [];
      return says?.(pane, pattern?.exec(why)?.[1] ?? '') ?? 'Not sent.';
    }
    case 'uncertain':
      return `Nobody knows whether ${pane} got it${more}. Look: poly attach ${pane}`;
    case 'queued':
      return `Waits to be typed into ${pane}${more}`;
    case 'written':
      return `Typed into ${pane}${more}`;
    case 'seen':
      return `${pane} has read it${more}`;
  }
}
