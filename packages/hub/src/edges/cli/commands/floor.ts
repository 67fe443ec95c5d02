import { conversationIn, type FloorSession, type FloorStatus } from '@polyphony/protocol';
import { age } from '../age.ts';
import { type Command, command } from '../command.ts';
import { confirm } from '../confirm.ts';
import type { Env } from '../env.ts';
import { text, toggle, wholeNumber } from '../flag.ts';
import { type Output, shown } from '../output.ts';

const project = text('The project; needed where several have a session of that name.', { value: 'PROJECT' });
const pane = text('The pane of the agent; the one you are in when left out.', { value: 'PANE' });
const limit = (most: number, otherwise: number) =>
  wholeNumber(`At most so many; ${otherwise} when left out.`, { least: 1, most });

const about = `Sessions of agents in projects, and what happens in them. An agent that has joined a session puts what it does
there, where others follow, search, advise and take over.`;

/** The agent that is meant where none is named: the one in this pane, or the one this was started by. */
const feedIn = (env: Env, given: string | undefined) => {
  if (given !== undefined) return { pane: given };
  return env.POLY_PANE === undefined ? (conversationIn(env) ?? {}) : {};
};

export const floorCommands: readonly Command[] = [
  command({
    name: 'join',
    summary: 'Puts what an agent does into a session of a project.',
    args: ['<project>'],
    flags: {
      session: text('One that is there, or the name of a new one.', { value: 'SESSION' }),
      agent: text('Whose words those of the agent are.', { value: 'NAME' }),
      label: text('What it is about.'),
      pane,
    },
    examples: ['poly join shop', 'poly join shop --session design', 'poly join shop --pane pty_1f3c22aa'],
    async run({ args: [name = ''], flags, env, hub, out, json }) {
      const { pane: given, ...more } = flags;
      const joined = await hub.call('floor:join', { project: name, ...more, ...feedIn(env, given) });
      if (json) return out.json(joined);
      const { session, status, hint } = joined;
      const did = { created: 'Began', joined: 'Joined', again: 'Already in' }[status];
      out.line(`${did} ${out.paint('cyan', `${session.project}/${session.slug}`)}.`);
      out.note(hint);
    },
  }),
  command({
    name: 'leave',
    summary: 'Stops putting what an agent does into its session.',
    flags: { pane },
    examples: ['poly leave'],
    async run({ flags, env, hub, out, json }) {
      const { session } = await hub.call('floor:leave', { ...feedIn(env, flags.pane) });
      if (json) return out.json({ session: session ?? null });
      out.line(session ? `Left ${session.project}/${session.slug}.` : 'There was no session to leave.');
    },
  }),
  command({
    name: 'floor status',
    about,
    summary: 'Says which session this pane feeds, who drives it, and what there is on the floor.',
    flags: {
      pane,
      line: toggle('Only project, session and driver, for a status line; nothing while no hub answers.'),
    },
    examples: ['poly floor status', 'poly floor status --line'],
    async run({ flags, env, hub, out, json }) {
      const feed = feedIn(env, flags.pane);
      if (flags.line) return (await import('../status-line.ts')).statusLine(env, feed, out);
      const status = await hub.call('floor:status', { ...feed });
      const overview = await hub.call('floor:overview', {});
      if (json) return out.json({ ...status, overview });
      showStatus(status, out);
      const { projects, sessions, live, entries } = overview;
      out.line(`${projects} projects, ${sessions} sessions, ${live} of them live, ${entries} entries.`);
    },
  }),
  command({
    name: 'floor sessions',
    summary: 'Lists sessions, that with the newest activity first.',
    flags: {
      project: text('Only of this project.', { value: 'PROJECT' }),
      archived: toggle('Those that are archived.'),
      live: toggle('Only those that an agent feeds now.'),
      limit: limit(500, 100),
    },
    examples: ['poly floor sessions', 'poly floor sessions --project shop --live'],
    async run({ flags, hub, out, json }) {
      const { sessions, has_more } = await hub.call('floor:sessions', { ...flags });
      if (json) return out.json(sessions);
      if (sessions.length === 0)
        return out.note('There are no such sessions. One begins with: poly join PROJECT');
      const header = ['SESSION', 'DRIVER', 'AGENT', 'PROMPTS', 'ACTIVE', 'LABEL'];
      const rows = sessions.map((one) => rowOf(one, out));
      out.table([...(out.isTerminal ? [header.map((name) => out.paint('dim', name))] : []), ...rows], {
        cut: 5,
      });
      if (has_more) out.note('There are more: say --limit, or --project.');
    },
  }),
  command({
    name: 'floor label',
    summary: 'Says in a few words what a session is about.',
    args: ['<session>', '[label]'],
    flags: { project },
    examples: ['poly floor label s-7a3f "The basket"'],
    async run({ args: [session = '', label], flags, hub, out, json }) {
      const changed = await hub.call('floor:label', { session, ...flags, label: label ?? null });
      if (json) return out.json(changed);
      out.line(
        `${changed.project}/${changed.slug}${changed.label ? `: ${changed.label}` : ' has no label.'}`,
      );
    },
  }),
  command({
    name: 'floor rename',
    summary: 'Gives the project of your session another name; those it had still lead to it.',
    args: ['<name>'],
    examples: ['poly floor rename boutique'],
    async run({ args: [name = ''], hub, out, json }) {
      const renamed = await hub.call('floor:rename', { name });
      if (json) return out.json(renamed);
      out.line(`It is ${renamed.name} now.`);
    },
  }),
  command({
    name: 'floor reply',
    summary: 'Says something to everybody who follows a session.',
    args: ['<text>'],
    flags: { session: text('The session; the one you feed when left out.', { value: 'SESSION' }), project },
    examples: [
      'poly floor reply "Half of it is done."',
      'poly floor reply "Look at the tests." --session s-7a3f',
    ],
    async run({ args: [message = ''], flags, hub, out, json }) {
      const said = await hub.call('floor:reply', { message, ...flags });
      if (json) return out.json(said);
      out.line(said.entry_id);
    },
  }),
  command({
    name: 'floor archive',
    summary: 'Puts a session away; all of it is kept.',
    args: ['<session>'],
    flags: { project, undo: toggle('Take it out again.') },
    examples: ['poly floor archive s-7a3f'],
    async run({ args: [session = ''], flags, hub, out, json }) {
      const done = await hub.call('floor:archive', { session, ...flags });
      if (json) return out.json(done);
      out.line(`${done.project}/${done.slug} ${flags.undo ? 'is there again' : 'is archived'}.`);
    },
  }),
  command({
    name: 'floor delete',
    summary: 'Forgets a session and what was captured for it, for good.',
    args: ['<session>'],
    flags: { project, yes: toggle('Do not ask.', { short: 'y' }) },
    examples: ['poly floor delete s-7a3f --yes'],
    async run({ args: [session = ''], flags: { yes, ...flags }, hub, out, json }) {
      const found = await hub.call('floor:session', { session, ...flags });
      const what = `${found.project}/${found.slug} with ${found.entries} entries`;
      if (
        !(await confirm({ yes, json }, { would: `forget ${what}`, question: `Forget ${what}, for good?` }))
      ) {
        out.note('Nothing was forgotten.');
        return 1;
      }
      const done = await hub.call('floor:delete', { session: found.session_id });
      if (json) out.json(done);
      else out.line(`${done.entries} entries are forgotten.`);
      return 0;
    },
  }),
  command({
    name: 'floor team',
    summary: 'Lists people and agents.',
    flags: { project: text('Only of this project.', { value: 'PROJECT' }) },
    examples: ['poly floor team', 'poly floor team --project shop'],
    async run({ flags, hub, out, json }) {
      const { team } = await hub.call('floor:team', { ...flags });
      if (json) return out.json(team);
      out.table(
        team.map((one) => [
          out.paint('cyan', one.participant),
          one.liveness ?? '',
          shown(one.display_name ?? '', 80),
          one.projects.join(', '),
          one.sessions.join(', '),
        ]),
        { cut: 4 },
      );
    },
  }),
];

function rowOf(session: FloorSession, out: Output): readonly string[] {
  const {
    project: where,
    slug,
    driver = 'open seat',
    agent = '',
    prompts,
    last_activity_at,
    bindings,
  } = session;
  const live = bindings.length > 0;
  return [
    out.paint(live ? 'green' : 'cyan', `${where}/${slug}`),
    driver,
    agent,
    String(prompts),
    last_activity_at === undefined ? '' : age(Date.parse(last_activity_at)),
    shown(session.label ?? '', 80),
  ];
}

function showStatus({ session, you, connected }: FloorStatus, out: Output): void {
  if (!connected || !session) {
    out.line(`${you} feeds no session: poly join PROJECT`);
    return;
  }
  const { project: where, slug, driver = 'nobody', agent = 'nobody yet', label } = session;
  out.line(`${out.paint('cyan', `${where}/${slug}`)}${label === undefined ? '' : `  ${shown(label, 80)}`}`);
  out.line(`${driver} drives, ${agent} works, ${session.prompts} prompts, ${session.entries} entries.`);
}
