import { type NamedAgent, PolyError } from '@polyphony/protocol';
import { age } from '../age.ts';
import { type Command, command } from '../command.ts';
import { confirm } from '../confirm.ts';
import { choice, type Flag, text, toggle, wholeNumber } from '../flag.ts';
import { type Output, shown } from '../output.ts';
import { shellWord } from '../shell-word.ts';
import { standardInput } from '../standard-input.ts';

/** Words that may be given one by one, or with commas; an empty one alone takes all away. */
const words = (help: string, value: string): Flag<readonly string[]> => ({
  ...{ help, value, repeated: true },
  read: (given) => given.flatMap((word) => word.split(',')).filter((word) => word !== ''),
});

const parts = {
  'display-name': text('As people see it.', { value: 'NAME' }),
  icon: text('An emoji, or two letters.', { value: 'ICON' }),
  description: text('What it is for.'),
  skill: words('Something it is good at.', 'SKILL'),
  tag: words('Projects with this tag have it as a member.', 'TAG'),
  hosting: choice('Who runs it: who has its name, or the hub what stands behind --.', ['self', 'hub']),
  cwd: text('Where the hub runs it; your home when left out.', { value: 'FOLDER' }),
  budget: wholeNumber('So many messages a minute in each project.', { least: 1, most: 600 }),
  isolated: toggle('In one project it knows nothing of the others.'),
  drives: toggle('It takes the seat of its own session where that is open.'),
  watch: words('It hears of entries of this kind in its projects, like failure or prompt.', 'KIND'),
  'watch-word': words('Of those only with one of these words.', 'WORD'),
};

interface Given {
  readonly 'display-name'?: string;
  readonly skill?: readonly string[];
  readonly tag?: readonly string[];
  readonly watch?: readonly string[];
  readonly 'watch-word'?: readonly string[];
  readonly [more: string]: unknown;
}

/** What flags and a program say of an agent, as the actions take it. */
function partsOf(flags: Given, argv: readonly string[] | undefined): Record<string, unknown> {
  const { 'display-name': display_name, skill, tag, watch, 'watch-word': watchWords, ...more } = flags;
  if (watchWords && !watch)
    throw new PolyError('invalid_arguments', '--watch-word needs a --watch.', {
      hint: 'For example: --watch failure --watch-word sql',
    });
  return {
    ...more,
    ...(display_name !== undefined && { display_name }),
    ...(skill && { skills: skill }),
    ...(tag && { tags: tag }),
    ...(watch && { watch: { kinds: watch, ...(watchWords && { words: watchWords }) } }),
    ...(argv && { command: argv, hosting: more.hosting ?? 'hub' }),
  };
}

export const namedCommands: readonly Command[] = [
  command({
    name: 'agent add',
    summary: 'Gives an agent a name that is its own in every project; what stands behind -- the hub runs.',
    args: ['<name>'],
    rest: '<program> [args…]',
    flags: parts,
    examples: [
      'poly agent add dean --icon 🐘 --skill sql,postgres --tag data',
      'poly agent add dean.sql --tag data --isolated -- claude --model opus',
    ],
    async run({ args: [name = ''], flags, rest, hub, out, json }) {
      const added = await hub.call('floor:agent-add', { ...partsOf(flags, rest), name });
      if (json) return out.json(added);
      out.line(added.participant);
      if (added.tags.length > 0)
        out.note(`poly: it joins projects that are tagged ${added.tags.join(', ')}.`);
    },
  }),
  command({
    name: 'agent edit',
    summary: 'Changes what is known of a named agent; what is left out stays.',
    args: ['<name>'],
    rest: '<program> [args…]',
    flags: { ...parts, clear: words('Take away: icon, description, command, cwd or watch.', 'PART') },
    examples: ['poly agent edit dean --budget 10', 'poly agent edit dean --clear watch,icon'],
    async run({ args: [name = ''], flags: { clear = [], ...flags }, rest, hub, out, json }) {
      const cleared = Object.fromEntries(clear.map((part) => [part, null]));
      const edited = await hub.call('floor:agent-edit', { ...partsOf(flags, rest), ...cleared, name });
      if (json) return out.json(edited);
      show(edited, out);
    },
  }),
  command({
    name: 'agent named',
    summary: 'Lists the named agents: what each is good at, and where it is.',
    flags: {
      project: text('Only those in this project.', { value: 'PROJECT' }),
      skill: text('Only those with a skill that has these letters.'),
    },
    examples: ['poly agent named', 'poly agent named --skill sql --json'],
    async run({ flags, hub, out, json }) {
      const { agents } = await hub.call('floor:agents', { ...flags });
      if (json) return out.json(agents);
      if (agents.length === 0) return out.note('There are no such agents. Add one with: poly agent add NAME');
      const header = ['AGENT', 'SHOWN AS', 'HOSTING', 'PROJECTS', 'SKILLS'].map((one) =>
        out.paint('dim', one),
      );
      const rows = agents.map((one) => [
        out.paint('cyan', one.name),
        shown([one.icon, one.shown_as].filter(Boolean).join(' '), 80),
        one.hosting,
        one.members.map(({ project, state }) => `${project} (${state})`).join(', '),
        shown(one.skills.join(', '), 200),
      ]);
      out.table([...(out.isTerminal ? [header] : []), ...rows], { cut: 4 });
    },
  }),
  command({
    name: 'agent show',
    summary: 'Shows a named agent, and how it stands with it in each project.',
    args: ['<name>'],
    examples: ['poly agent show dean'],
    async run({ args: [name = ''], hub, out, json }) {
      const found = await hub.call('floor:agent', { name: name.replace(/^@?(agent:)?/, '') });
      if (json) return out.json(found);
      show(found, out);
    },
  }),
  command({
    name: 'agent remove',
    summary:
      'Takes the name of an agent back with its secrets, and ends what the hub runs of it; what it said stays.',
    args: ['<name>'],
    flags: { yes: toggle('Do not ask.', { short: 'y' }) },
    examples: ['poly agent remove dean --yes'],
    async run({ args: [name = ''], flags: { yes }, hub, out, json }) {
      const { participant, members, secrets = [] } = await hub.call('floor:agent', { name });
      const what = `${participant}, a member of ${members.length} projects, with ${secrets.length} secrets`;
      if (!(await confirm({ yes, json }, { would: `remove ${what}`, question: `Remove ${what}?` }))) {
        out.note('Nothing was removed.');
        return 1;
      }
      const removed = await hub.call('floor:agent-remove', { name });
      if (json) out.json(removed);
      else out.line(`${removed.participant} has its name no longer.`);
      return 0;
    },
  }),
  command({
    name: 'agent invite',
    summary: 'Makes a named agent a member of a project, with a session of its own there.',
    args: ['<name>', '<project>'],
    examples: ['poly agent invite dean shop'],
    async run({ args: [name = '', project = ''], hub, out, json }) {
      const invited = await hub.call('floor:agent-invite', { name, project });
      if (json) return out.json(invited);
      const place = invited.members.find((one) => one.project === project) ?? invited.members.at(-1);
      out.line(
        `${invited.participant} is in ${place?.project ?? project}, in the session ${place?.session}.`,
      );
    },
  }),
  command({
    name: 'agent dismiss',
    summary: 'Takes a named agent out of a project; its session stays.',
    args: ['<name>', '<project>'],
    examples: ['poly agent dismiss dean shop'],
    async run({ args: [name = '', project = ''], hub, out, json }) {
      const left = await hub.call('floor:agent-dismiss', { name, project });
      if (json) return out.json(left);
      out.line(`${left.participant} has left ${project}.`);
    },
  }),
  command({
    name: 'agent secret',
    summary:
      'Keeps a secret for what the hub runs of a named agent, from standard input; it is shown nowhere.',
    args: ['<name>', '<variable>'],
    flags: { remove: toggle('Delete it.') },
    examples: [
      'poly agent secret dean DATABASE_TOKEN < token.txt',
      'poly agent secret dean DATABASE_TOKEN --remove',
    ],
    async run({ args: [name = '', variable = ''], flags: { remove }, hub, out, json }) {
      // The end of the line is how files and people end it, and no part of the secret.
      const value = remove ? null : (await standardInput()).replace(/\r?\n$/, '');
      const { secrets } = await hub.call('floor:agent-secret', { name, variable, value });
      if (json) return out.json({ secrets });
      out.line(secrets.length === 0 ? `${name} has no secrets.` : `${name} has ${secrets.join(', ')}.`);
      if (value !== null) out.note('poly: it is given to it at its next start.');
    },
  }),
];

function show(agent: NamedAgent, out: Output): void {
  const { participant, display_name, shown_as, icon, description, skills, tags, hosting, subagents } = agent;
  const { budget, isolated, drives, watch, command: argv, cwd, secrets = [] } = agent;
  const facts: readonly (readonly [string, string] | false)[] = [
    ['agent', participant],
    ['name', shown([icon, display_name].filter(Boolean).join(' '), 80)],
    shown_as !== display_name && ['shown as', shown(shown_as, 80)],
    description !== undefined && ['for', shown(description, 500)],
    skills.length > 0 && ['skills', shown(skills.join(', '), 500)],
    tags.length > 0 && ['joins', tags.join(', ')],
    ['hosting', hosting],
    argv !== undefined && ['command', shown(argv.map(shellWord).join(' '), 500)],
    cwd !== undefined && ['in', shown(cwd, 500)],
    subagents.length > 0 && ['below it', subagents.join(', ')],
    ['budget', `${budget} a minute in each project`],
    isolated && ['isolated', 'in one project it knows nothing of the others'],
    drives && ['drives', 'its own sessions, where their seat is open'],
    watch !== undefined && ['watches', shown([...watch.kinds, ...(watch.words ?? [])].join(', '), 500)],
    secrets.length > 0 && ['secrets', secrets.join(', ')],
  ];
  out.table(facts.filter((fact) => fact !== false).map(([fact, value]) => [out.paint('dim', fact), value]));
  out.table(
    agent.members.map((one) => [
      out.paint('cyan', `${one.project}/${one.session}`),
      one.state,
      one.pane ?? '',
      `${age(Date.parse(one.since))}`,
      shown(
        [
          one.reason,
          one.next_at && `is started again at ${one.next_at}`,
          one.throttled_until && `over its budget until ${one.throttled_until}`,
        ]
          .filter(Boolean)
          .join('; '),
        300,
      ),
    ]),
    { cut: 4 },
  );
}
