import { type Client, PolyError, type Task, type TaskHeld } from '@polyphony/protocol';
import { type Call, type Command, command } from '../command.ts';
import { choice, text, time, toggle, wholeNumber } from '../flag.ts';
import { type Output, shown } from '../output.ts';
import { uniqueId } from '../unique-id.ts';

const project = text('Project it belongs to; that of this folder when left out.', { value: 'NAME' });
const fence = wholeNumber('The number that claiming answered.', { least: 1 });
const lease = time('For how long it is claimed; an hour when left out.', 's', { most: 86_400_000 });

/** A flag that may be given more than once, or with commas between. */
const several = (help: string, value: string) => ({
  ...{ help, value, repeated: true },
  read: (words: readonly string[]) => words.flatMap((word) => word.split(',')).filter((word) => word !== ''),
});

export const taskCommands: readonly Command[] = [
  command({
    name: 'task add',
    summary: 'Adds a task for whoever claims it.',
    args: ['<title>'],
    flags: {
      project,
      description: text('What is to be done.'),
      'depends-on': several('Task that must be completed first.', 'TASK'),
      contract: several('Contract it is built on, with @VERSION or as it is now.', 'NAME'),
    },
    examples: [
      'poly task add "Write the parser"',
      'poly task add "Wire it up" --depends-on tsk_1f3c22aa --contract api/openapi.yaml',
    ],
    async run({ args: [title = ''], flags, hub, out, json }) {
      const needs = await Promise.all((flags['depends-on'] ?? []).map((start) => idOf(hub, start)));
      const contracts = (flags.contract ?? []).map(contractOf);
      const added = await hub.call('task:add', {
        ...{ title, ...projectOf(flags) },
        ...(flags.description !== undefined && { description: flags.description }),
        ...(needs.length > 0 && { depends_on: needs }),
        ...(contracts.length > 0 && { contracts }),
      });
      if (json) return out.json(added);
      out.line(added.task_id);
    },
  }),
  command({
    name: 'task list',
    summary: 'Lists tasks, the oldest first.',
    flags: {
      project,
      all: toggle('Of every project.'),
      status: choice('Only those.', ['pending', 'in_progress', 'completed']),
      ready: toggle('Only those that can be claimed now.'),
      mine: toggle('Only those that you hold or have completed.'),
      limit: wholeNumber('How many at most; 100 when left out.', { least: 1, most: 500 }),
    },
    examples: ['poly task list', 'poly task list --ready --json'],
    async run({ flags: { project, all, ...flags }, hub, out, json }) {
      const { tasks, has_more } = await hub.call('task:list', {
        ...(flags as object),
        ...(all ? {} : projectOf({ project })),
      });
      if (json) return out.json(tasks);
      if (tasks.length === 0) return out.note('There are no such tasks.');
      out.table(
        tasks.map((task) => rowOf(task, out)),
        { cut: 3 },
      );
      if (has_more) out.note('There are more: say --limit, or --ready.');
    },
  }),
  command({
    name: 'task claim',
    summary: 'Claims a task for you alone, for a time.',
    args: ['<task>'],
    flags: { lease },
    examples: ['poly task claim tsk_1f3c22aa', 'poly task claim tsk_1f3 --lease 30m'],
    run: (call) => hold(call, 'task:claim', { ...leaseOf(call.flags) }),
  }),
  command({
    name: 'task heartbeat',
    summary: 'Keeps a task that you hold for a further time.',
    args: ['<task>'],
    flags: { lease, fence },
    examples: ['poly task heartbeat tsk_1f3c22aa --lease 30m'],
    run: (call) => hold(call, 'task:heartbeat', { ...leaseOf(call.flags), ...fenceOf(call.flags) }),
  }),
  command({
    name: 'task reassign',
    summary: 'Hands a task to another agent of its project.',
    args: ['<task>', '<agent>'],
    flags: { lease, fence },
    examples: ['poly task reassign tsk_1f3c22aa reviewer'],
    run: (call) =>
      hold(call, 'task:reassign', { to: call.args[1], ...leaseOf(call.flags), ...fenceOf(call.flags) }),
  }),
  command({
    name: 'task release',
    summary: 'Gives a task back that you hold; the user may give back any.',
    args: ['<task>'],
    flags: { fence },
    examples: ['poly task release tsk_1f3c22aa'],
    run: async ({ args: [start = ''], flags, hub, out, json }) => {
      const done = await hub.call('task:release', { task_id: await idOf(hub, start), ...fenceOf(flags) });
      if (json) return out.json(done);
      out.line(`${done.task_id} can be claimed again.`);
    },
  }),
  command({
    name: 'task depend',
    summary: 'Lets a task wait for further tasks.',
    args: ['<task>', '<needed…>'],
    examples: ['poly task depend tsk_1f3c22aa tsk_77e0b1c2'],
    async run({ args: [start = '', ...needed], hub, out, json }) {
      const ids = await Promise.all(needed.map((one) => idOf(hub, one)));
      const done = await hub.call('task:depend', { task_id: await idOf(hub, start), depends_on: ids });
      if (json) return out.json(done);
      out.line(`${done.task_id} waits for ${ids.join(', ')}.`);
    },
  }),
  command({
    name: 'task complete',
    summary: 'Completes a task that you hold.',
    args: ['<task>'],
    flags: {
      fence,
      result: text('What came of it.'),
      'result-json': text('The same as JSON.', { value: 'JSON' }),
    },
    examples: ['poly task complete tsk_1f3c22aa --result "merged as 1f3c22a"'],
    async run({ args: [start = ''], flags, hub, out, json }) {
      const result = resultOf(flags);
      const done = await hub.call('task:complete', {
        ...{ task_id: await idOf(hub, start), ...fenceOf(flags) },
        ...(result !== undefined && { result }),
      });
      if (json) return out.json(done);
      out.line(`${done.task_id} is completed.`);
    },
  }),
];

async function hold(
  { args: [start = ''], hub, out, json }: Call,
  action: 'task:claim' | 'task:heartbeat' | 'task:reassign',
  more: object,
): Promise<void> {
  const held = (await hub.call(action, { task_id: await idOf(hub, start), ...more } as never)) as TaskHeld;
  if (json) return out.json(held);
  out.line(`${held.task_id} is held by ${held.owner} until ${held.lease_until}, fence ${held.fence}.`);
  for (const { name, version, current } of held.stale)
    out.note(
      `It is built on version ${version} of ${name}, which is at ${current}: poly contract diff ${name} ${version} ${current}`,
    );
}

/** Of a whole id nothing need be known before. */
async function idOf(hub: Client, start: string): Promise<string> {
  if (/^tsk_[0-9a-f]{8}$/.test(start)) return start;
  const { tasks } = await hub.call('task:list', { limit: 500 });
  return uniqueId(
    start,
    tasks.map(({ task_id }) => task_id),
  );
}

const projectOf = ({ project }: { readonly project?: string | undefined }) =>
  project === undefined ? { project_dir: process.cwd() } : { project };
const leaseOf = ({ lease }: { readonly lease?: number | undefined }) =>
  lease === undefined ? {} : { lease_s: Math.max(1, Math.ceil(lease / 1000)) };
const fenceOf = ({ fence }: { readonly fence?: number | undefined }) =>
  fence === undefined ? {} : { fence };

function contractOf(word: string): { readonly name: string; readonly version?: number } {
  const [, name = word, version] = /^(.+)@(\d+)$/.exec(word) ?? [];
  return { name, ...(version !== undefined && { version: Number(version) }) };
}

function resultOf(flags: { readonly result?: string; readonly 'result-json'?: string }): unknown {
  const { result, 'result-json': given } = flags;
  if (given === undefined) return result;
  if (result !== undefined)
    throw new PolyError('invalid_arguments', '--result and --result-json exclude each other.');
  try {
    return JSON.parse(given);
  } catch (cause) {
    throw new PolyError('invalid_arguments', `--result-json is not JSON: ${(cause as Error).message}`, {
      cause,
    });
  }
}

function rowOf(
  { task_id, status, owner, title, stale, ready, waits_for }: Task,
  out: Output,
): readonly string[] {
  const state = stale
    ? 'stale'
    : ready
      ? 'ready'
      : status === 'pending'
        ? `waits for ${waits_for.length}`
        : status;
  return [out.paint('cyan', task_id), state, owner ?? '', shown(title, 200)];
}
