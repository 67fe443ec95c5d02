import {
  type Importance,
  importances,
  type Liveness,
  type MailDelivery,
  type MailMessage,
  type MailOverview,
  type MailSendResult,
  PolyError,
} from '@polyphony/protocol';
import { age } from '../age.ts';
import { type Call, type Command, command } from '../command.ts';
import { choice, text, time, toggle, wholeNumber } from '../flag.ts';
import { type Output, shown } from '../output.ts';
import { revealedLine } from '../revealed.ts';
import { standardInput } from '../standard-input.ts';

const project = text('The project; that of this folder when left out.', { value: 'PROJECT' });

const about = `Agents and people write to each other. An agent has a name in a project; what is sent to it stays in its inbox
until it is read, whether it runs or not. Outside panes you are yourself; in a pane, or with an agent's secret as
POLY_TOKEN, you are that agent. A name, everyone, role:NAME or user is whom you can write to.`;

export const mailCommands: readonly Command[] = [
  command({
    name: 'mail send',
    about,
    summary: 'Writes to an agent, to everyone, to a role, or to the user.',
    args: ['<to>', '<text>'],
    flags: {
      subject: text('One line that says what it is about.', { short: 's' }),
      project,
      'reply-to': text('The message this answers.', { value: 'MESSAGE' }),
      importance: choice('How much it matters; normal when left out.', importances),
      'no-reply': toggle('No answer is expected, and nobody is told if it stays unread.'),
      quiet: toggle('Put it into the inbox and wake nobody.'),
      wait: time('Wait until it was read, at most so long.', 's', { most: 30_000 }),
    },
    examples: [
      'poly mail send reviewer "The tests pass now." --subject tests',
      'poly mail send everyone "I change the schema." --project shop',
      'git diff | poly mail send role:tester -',
    ],
    async run(call) {
      const sent = await send(call);
      if (call.json) return call.out.json(sent);
      const names = sent.deliveries.map(({ name }) => name).join(', ');
      const read = sent.ack && (sent.ack.status === 'read' ? ' It was read.' : ' It was not read yet.');
      call.out.line(`${call.out.paint('cyan', sent.message_id)} is in the inbox of ${names}.${read ?? ''}`);
      return sent.ack?.status === 'not_yet' ? timedOut : 0;
    },
  }),
  command({
    name: 'mail inbox',
    summary: 'Reads what is new for you; it counts as read then.',
    flags: {
      limit: wholeNumber('At most so many; 50 when left out.', { least: 1, most: 200 }),
      peek: toggle('Only look: it stays new.'),
      since: wholeNumber('Only look at what came behind this event_id.', { value: 'EVENT_ID' }),
      thread: text('Only look at one thread.', { value: 'MESSAGE' }),
    },
    examples: [
      'poly mail inbox',
      'poly mail inbox --peek',
      "poly mail inbox --since 0 --json | jq '.messages[].body'",
    ],
    async run({ flags, hub, out, json }) {
      const { limit, peek, since, thread } = flags;
      const page = await hub.call('mail:inbox', {
        ...{ limit, peek },
        ...(since !== undefined && { since_event_id: since }),
        ...(thread !== undefined && { thread_id: thread }),
      });
      if (json) return out.json(page);
      if (page.messages.length === 0) return out.note('Nothing new.');
      for (const message of page.messages) show(message, out);
      if (page.has_more) out.note('There is more: poly mail inbox');
    },
  }),
  command({
    name: 'mail search',
    summary: 'Finds what you have received or sent by its words; a word may end in *.',
    args: ['<words…>'],
    flags: { limit: wholeNumber('At most so many; 50 when left out.', { least: 1, most: 200 }) },
    examples: ['poly mail search schema', 'poly mail search "migrat*" users'],
    async run({ args, flags, hub, out, json }) {
      const found = await hub.call('mail:search', { query: args.join(' '), limit: flags.limit });
      if (json) return out.json(found);
      if (found.messages.length === 0) return out.note('Nothing has these words.');
      for (const message of found.messages) show(message, out);
    },
  }),
  command({
    name: 'mail status',
    summary: 'Says how far a message has got; without one, how it stands with all mail.',
    args: ['[message]'],
    examples: ['poly mail status', 'poly mail status msg_0123456789abcdef'],
    async run({ args: [id], hub, out, json }) {
      if (id === undefined) {
        const overview = await hub.call('mail:overview', {});
        return json ? out.json(overview) : showOverview(overview, out);
      }
      const status = await hub.call('mail:status', { message_id: id });
      if (json) return out.json(status);
      for (const one of status.statuses) {
        out.table([[out.paint('cyan', one.name), ...howFar(one)]]);
        // One alone says no more than the line above.
        if (one.steps.length > 1)
          out.table(one.steps.map((step) => [`  ${step.at}`, step.state, shown(byWhat(step), 200)]));
      }
    },
  }),
  command({
    name: 'mail agents',
    summary: 'Lists who can be written to, and whether they run.',
    flags: {
      project: text('Only of this project.', { value: 'PROJECT' }),
      role: text('Only with this role.', { value: 'ROLE' }),
    },
    examples: ['poly mail agents', 'poly mail agents --project shop --json'],
    async run({ flags, hub, out, json }) {
      const { agents } = await hub.call('mail:agents', { ...flags, limit: 200 });
      if (json) return out.json(agents);
      if (agents.length === 0)
        return out.note(
          'No agents yet. One registers with: poly mail register NAME, or the tool register_agent.',
        );
      const header = ['AGENT', 'PROJECT', 'RUNS', 'SEEN', 'UNREAD', 'ROLE'].map((name) =>
        out.paint('dim', name),
      );
      const rows = agents.map((agent) => [
        out.paint('cyan', agent.name),
        agent.project,
        out.paint(colours[agent.liveness], agent.liveness),
        age(Date.parse(agent.last_seen_at)),
        agent.unread === undefined ? '' : String(agent.unread),
        shown([agent.role, agent.client, agent.model].filter(Boolean).join(', '), 80),
      ]);
      out.table([...(out.isTerminal ? [header] : []), ...rows], { cut: 5 });
    },
  }),
  command({
    name: 'mail register',
    summary: 'Gives an agent a name in a project: the pane you are in, or whoever has the secret.',
    args: ['<name>'],
    flags: {
      project,
      role: text('What it does there.', { value: 'ROLE' }),
      secret: text('As an earlier registration answered it.', { value: 'SECRET' }),
      'take-over': toggle('Take the name from whoever holds it, who is told.'),
    },
    examples: [
      'poly mail register reviewer',
      'export POLY_TOKEN=$(poly mail register bot --json | jq -r .secret)',
    ],
    async run({ args: [name = ''], flags, hub, out, json, env }) {
      const { project, role, secret } = flags;
      const made = await hub.call('mail:register', {
        ...{ name, project, role, secret, take_over: flags['take-over'] },
        project_dir: process.cwd(),
      });
      // What a pane shows stays there, and the pane itself proves who it is.
      const { secret: proof, ...rest } = made;
      const isShown = proof !== undefined && !env.POLY_PANE;
      if (json) return out.json(isShown ? made : rest);
      out.line(`${made.participant} is ${made.agent_id} in ${made.project}.`);
      if (isShown) out.line(`Its secret, shown once: ${proof}`);
      out.note(made.hint);
    },
  }),
  command({
    name: 'mail rename',
    summary: 'Gives an agent another name: yourself, or as the user the one named first. Mail and id stay.',
    args: ['<name>', '[new-name]'],
    flags: { project },
    examples: ['poly mail rename reviewer', 'poly mail rename reviewer tester --project shop'],
    async run({ args: [first = '', second], flags, hub, out, json }) {
      const renamed = await hub.call('mail:rename', {
        name: second ?? first,
        ...(second !== undefined && { agent_name: first }),
        ...{ project: flags.project, project_dir: process.cwd() },
      });
      if (json) return out.json(renamed);
      out.line(`${renamed.before} is ${renamed.participant} in ${renamed.project} now.`);
    },
  }),
  command({
    name: 'mail unregister',
    summary: 'Leaves the project, as the agent you are; its mail is kept.',
    examples: ['poly mail unregister'],
    async run({ hub, out, json }) {
      const left = await hub.call('mail:unregister', {});
      if (json) out.json(left);
      else out.line(`${left.name} has left ${left.project}.`);
    },
  }),
];

const timedOut = 5;
const colours: Readonly<Record<Liveness, 'green' | 'red' | 'dim'>> = {
  alive: 'green',
  gone: 'red',
  unknown: 'dim',
};

interface SendFlags {
  readonly subject?: string;
  readonly project?: string;
  readonly importance?: string;
  readonly quiet?: boolean;
  readonly wait?: number;
  readonly 'reply-to'?: string;
  readonly 'no-reply'?: boolean;
}

async function send({
  args: [to = '', given = ''],
  flags,
  hub,
}: Pick<Call, 'args' | 'hub'> & { readonly flags: SendFlags }): Promise<MailSendResult> {
  const { subject, project, quiet, wait } = flags;
  const importance = flags.importance as Importance | undefined;
  const body = given === '-' ? await standardInput() : given;
  const writing = {
    ...{ subject, body, importance },
    reply_to: flags['reply-to'],
    ...(quiet && { auto_poke: false }),
  };
  const asking = {
    ...writing,
    ...(flags['no-reply'] && { need_reply: false }),
    ...(wait !== undefined && { await_ack_s: Math.ceil(wait / 1000) }),
  };
  const [, role] = /^role:(.*)$/s.exec(to) ?? [];
  if ((role !== undefined || to === 'everyone') && (flags['no-reply'] || wait !== undefined))
    throw new PolyError('invalid_arguments', 'what goes to many wants no answer and waits for none.', {
      hint: 'Leave out --no-reply and --wait, or write to one.',
    });
  const where = { project, project_dir: process.cwd() };
  if (role !== undefined) return hub.call('mail:broadcast-to-role', { to_role: role, ...where, ...writing });
  if (to === 'everyone') return hub.call('mail:broadcast', { ...where, ...writing });
  if (/^agt_/.test(to)) return hub.call('mail:send-by-id', { to_agent_id: to, ...asking });
  return hub.call('mail:send', {
    ...{ to_agent_name: to, to_project: project, project_dir: process.cwd() },
    ...asking,
  });
}

/** Of what others wrote nothing reaches the terminal but what can be seen. */
function show(message: MailMessage, out: Output): void {
  const { message_id, from, project, to, sent_at, subject, importance, reply_to, need_reply, body } = message;
  const marks = [
    importance === 'normal' ? undefined : importance,
    need_reply ? 'wants an answer' : undefined,
    reply_to && `answers ${reply_to}`,
  ].filter(Boolean);
  out.line(
    `${out.paint('cyan', message_id)}  ${from} to ${to} in ${project}  ${out.paint('dim', [`${age(Date.parse(sent_at))} ago`, ...marks].join(', '))}`,
  );
  if (subject) out.line(`  ${out.paint('bold', shown(subject, 200))}`);
  for (const line of body.split(/\r?\n/)) out.line(`  ${revealedLine(line)}`);
}

const byWhat = ({
  door,
  reason,
}: {
  readonly door?: string | undefined;
  readonly reason?: string | undefined;
}): string => [door && `by ${door}`, reason].filter(Boolean).join(', ');

function howFar({ state, read, door, reason, attempts, next_attempt_at }: MailDelivery): readonly string[] {
  const next = next_attempt_at && `again at ${next_attempt_at}`;
  const how = [door && `by ${door}`, reason, attempts > 0 && `attempt ${attempts}`, next].filter(Boolean);
  return [read ? 'read' : 'not read', state, shown(how.join(', '), 200)];
}

function showOverview({ agents, last_event_id, unread, retention }: MailOverview, out: Output): void {
  out.line(`${agents} agents, ${last_event_id} messages so far, ${unread} new for you.`);
  if (!retention) return void out.line('Nothing old has been forgotten yet.');
  const { at, messages, unread: never, error } = retention;
  out.line(
    `Forgotten ${age(Date.parse(at))} ago: ${messages} old messages, ${never} of them not read by somebody.`,
  );
  if (error) out.line(`${out.paint('red', 'It failed')}: ${shown(error, 200)}`);
}
