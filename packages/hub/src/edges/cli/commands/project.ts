import { PolyError, type Project } from '@polyphony/protocol';
import { age } from '../age.ts';
import { type Command, command } from '../command.ts';
import { confirm } from '../confirm.ts';
import { exportFormats, exportProject } from '../export-timeline.ts';
import { choice, text, toggle } from '../flag.ts';
import type { Output } from '../output.ts';

const about = `What a group of people and agents share: mail, tasks, contracts and the sessions of agents. A project is there
once somebody names it. Under another name it keeps everything, and every name it had leads to it.`;

const words = (help: string) => ({
  ...{ help, value: 'TAG', repeated: true },
  read: (given: readonly string[]) => given.flatMap((word) => word.split(',')).filter((word) => word !== ''),
});

export const projectCommands: readonly Command[] = [
  command({
    name: 'project create',
    about,
    summary: 'Makes a project.',
    args: ['<name>'],
    flags: { tag: words('A tag it gets.') },
    examples: ['poly project create shop', 'poly project create shop --tag web,data'],
    async run({ args: [name = ''], flags: { tag }, hub, out, json }) {
      const made = await hub.call('project:create', { name, ...(tag && { tags: tag }) });
      if (json) return out.json(made);
      out.line(made.name);
    },
  }),
  command({
    name: 'project list',
    summary: 'Lists projects, that with the newest activity first.',
    flags: {
      archived: toggle('Those that are archived.'),
      tag: text('Only those with this tag.', { value: 'TAG' }),
    },
    examples: ['poly project list', 'poly project list --tag data --json'],
    async run({ flags, hub, out, json }) {
      const { projects } = await hub.call('project:list', { ...flags });
      if (json) return out.json(projects);
      if (projects.length === 0)
        return out.note('There are no such projects. One is made by: poly join NAME');
      const header = ['PROJECT', 'SESSIONS', 'ACTIVE', 'TAGS'].map((name) => out.paint('dim', name));
      const rows = projects.map((one) => [
        out.paint('cyan', one.name),
        String(one.sessions),
        one.last_activity_at === undefined ? '' : age(Date.parse(one.last_activity_at)),
        one.tags.join(', '),
      ]);
      out.table([...(out.isTerminal ? [header] : []), ...rows], { cut: 3 });
    },
  }),
  command({
    name: 'project show',
    summary: 'Shows a project, by any name it has or had.',
    args: ['<project>'],
    examples: ['poly project show shop'],
    async run({ args: [project = ''], hub, out, json }) {
      const found = await hub.call('project:show', { project });
      if (json) return out.json(found);
      show(found, out);
    },
  }),
  command({
    name: 'project rename',
    summary: 'Gives a project another name; those it had still lead to it.',
    args: ['<project>', '<name>'],
    examples: ['poly project rename shop boutique'],
    async run({ args: [project = '', name = ''], hub, out, json }) {
      const renamed = await hub.call('project:rename', { project, name });
      if (json) return out.json(renamed);
      const { earlier_names: before } = renamed;
      const lead = before.length === 1 ? 'leads' : 'lead';
      out.line(`It is ${renamed.name} now; ${before.join(', ')} still ${lead} to it.`);
    },
  }),
  command({
    name: 'project tag',
    summary: 'Puts tags on a project, or takes them away.',
    args: ['<project>', '[tag…]'],
    flags: { remove: words('A tag to take away.') },
    examples: ['poly project tag shop data', 'poly project tag shop --remove data'],
    async run({ args: [project = '', ...add], flags: { remove }, hub, out, json }) {
      const tagged = await hub.call('project:tag', { project, add, ...(remove && { remove }) });
      if (json) return out.json(tagged);
      out.line(tagged.tags.length === 0 ? `${tagged.name} has no tags.` : tagged.tags.join(', '));
    },
  }),
  command({
    name: 'project archive',
    summary: 'Puts a project away; all of it is kept.',
    args: ['<project>'],
    flags: { undo: toggle('Take it out again.') },
    examples: ['poly project archive shop', 'poly project archive shop --undo'],
    async run({ args: [project = ''], flags: { undo }, hub, out, json }) {
      const done = await hub.call('project:archive', { project, ...(undo && { undo }) });
      if (json) return out.json(done);
      out.line(undo ? `${done.name} is there again.` : `${done.name} is archived.`);
    },
  }),
  command({
    name: 'project delete',
    summary: 'Forgets all sessions of a project and what was captured for them, for good.',
    args: ['<project>'],
    flags: { yes: toggle('Do not ask.', { short: 'y' }) },
    examples: ['poly project delete shop --yes'],
    async run({ args: [project = ''], flags: { yes }, hub, out, json }) {
      const { name, sessions } = await hub.call('project:show', { project });
      const what = `${name} with ${sessions} sessions and everything in them`;
      if (
        !(await confirm({ yes, json }, { would: `forget ${what}`, question: `Forget ${what}, for good?` }))
      ) {
        out.note('Nothing was forgotten.');
        return 1;
      }
      const done = await hub.call('project:delete', { project });
      if (json) out.json(done);
      else out.line(`${done.sessions} sessions with ${done.entries} entries are forgotten.`);
      return 0;
    },
  }),
  command({
    name: 'project retention',
    summary: 'Says for how many days what happens in a project is kept.',
    args: ['<project>', '<days>'],
    examples: ['poly project retention shop 90', 'poly project retention shop forever'],
    async run({ args: [project = '', given = ''], hub, out, json }) {
      if (!/^(\d{1,5}|forever)$/.test(given))
        throw new PolyError('invalid_arguments', `"${given}" is no number of days.`, {
          hint: 'Say a number, or forever.',
        });
      const days = given === 'forever' ? null : Number(given);
      const kept = await hub.call('project:retention', { project, days });
      if (json) return out.json(kept);
      out.line(days === null ? `${kept.name} keeps everything.` : `${kept.name} keeps ${days} days.`);
    },
  }),
  command({
    name: 'project export',
    summary: 'Prints the timelines of all sessions of a project.',
    args: ['<project>'],
    flags: { format: choice('As what; markdown when left out.', exportFormats) },
    examples: ['poly project export shop > shop.md', 'poly project export shop --format json > shop.json'],
    run: ({ args: [project = ''], flags, hub, out, json }) =>
      exportProject(hub, out, project, json ? 'json' : flags.format),
  }),
];

function show(project: Project, out: Output): void {
  const { name, key, earlier_names, tags, sessions, last_activity_at, archived_at, retention_days } = project;
  const facts: readonly (readonly [string, string])[] = [
    ['project', name],
    ...(earlier_names.length > 0 ? [['also', earlier_names.join(', ')] as const] : []),
    ['key', key],
    ['sessions', String(sessions)],
    ...(last_activity_at === undefined
      ? []
      : [['active', `${age(Date.parse(last_activity_at))} ago`] as const]),
    ...(tags.length > 0 ? [['tags', tags.join(', ')] as const] : []),
    ['kept', retention_days === undefined ? 'for ever' : `${retention_days} days`],
    ...(archived_at === undefined ? [] : [['archived', archived_at] as const]),
  ];
  out.table(facts.map(([fact, value]) => [out.paint('dim', fact), value]));
}
