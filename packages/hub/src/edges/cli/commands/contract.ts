import {
  type ContractChange,
  type ContractDiff,
  type ContractInfo,
  PolyError,
  type ProjectChoice,
} from '@polyphony/protocol';
import { type Command, command } from '../command.ts';
import { text, toggle, wholeNumber } from '../flag.ts';
import { type Output, shown } from '../output.ts';

const project = text('Project it belongs to; that of this folder when left out.', { value: 'NAME' });
const version = wholeNumber('Which version; the latest when left out.');

export const contractCommands: readonly Command[] = [
  command({
    name: 'contract watch',
    summary: 'Makes a file the contract: every change of it is a version that all who depend on it hear of.',
    args: ['<file>'],
    flags: { project, name: text('What it is called; the path of the file when left out.') },
    completes: 'file',
    examples: ['poly contract watch api/openapi.yaml', 'poly contract watch schema/order.json --name order'],
    async run({ args: [file = ''], flags, hub, out, json }) {
      const { resolve } = await import('node:path');
      const { name } = flags;
      const asked = { path: resolve(file), ...projectOf(flags), ...(name !== undefined && { name }) };
      const info = await hub.call('contract:watch', asked);
      if (json) return out.json(info);
      out.line(`${info.name} is watched, and at version ${info.version}.`);
    },
  }),
  command({
    name: 'contract unwatch',
    summary: 'Leaves the file of a contract alone; its versions stay.',
    args: ['<name>'],
    flags: { project },
    examples: ['poly contract unwatch api/openapi.yaml'],
    async run({ args: [name = ''], flags, hub, out, json }) {
      const info = await hub.call('contract:unwatch', { name, ...projectOf(flags) });
      if (json) return out.json(info);
      out.line(`${info.name} is no longer watched.`);
    },
  }),
  command({
    name: 'contract list',
    summary: 'Lists contracts, with the files that are watched.',
    flags: { project, all: toggle('Of every project.') },
    examples: ['poly contract list', 'poly contract list --all --json'],
    async run({ flags: { all, ...flags }, hub, out, json }) {
      const { contracts } = await hub.call('contract:list', all ? {} : projectOf(flags));
      if (json) return out.json(contracts);
      if (contracts.length === 0) return out.note('There are no contracts.');
      out.table(contracts.map((one) => rowOf(one, out)));
    },
  }),
  command({
    name: 'contract register',
    summary: 'Makes the document in a file the next version of a contract.',
    args: ['<name>', '<file>'],
    flags: { project, note: text('What changed, for people.') },
    examples: ['poly contract register order order.schema.json --note "prices in cents"'],
    async run({ args: [name = '', file = ''], flags, hub, out, json }) {
      const { note } = flags;
      const schema = await readObject(file);
      const result = await hub.call('contract:register', {
        name,
        schema,
        ...projectOf(flags),
        ...(note && { note }),
      });
      if (json) return out.json(result);
      out.line(
        result.changed
          ? `${name} is at version ${result.version}.`
          : `${name} says so already, in version ${result.version}.`,
      );
      if (result.diff) show(result.diff, out);
    },
  }),
  command({
    name: 'contract get',
    summary: 'Prints a contract.',
    args: ['<name>'],
    flags: { project, version },
    examples: ['poly contract get order', 'poly contract get order --version 1'],
    async run({ args: [name = ''], flags, hub, out, json }) {
      const found = await hub.call('contract:get', {
        ...{ name, ...projectOf(flags) },
        ...(flags.version !== undefined && { version: flags.version }),
      });
      if (json) return out.json(found);
      out.line(JSON.stringify(found.schema, null, 2));
    },
  }),
  command({
    name: 'contract diff',
    summary: 'Tells how two versions of a contract differ, and what breaks.',
    args: ['<name>', '<from>', '<to>'],
    flags: { project },
    examples: ['poly contract diff order 1 2'],
    async run({ args: [name = '', from = '', to = ''], flags, hub, out, json }) {
      const [from_version = 0, to_version = 0] = [from, to].map(toVersion);
      const diff = await hub.call('contract:diff', { name, from_version, to_version, ...projectOf(flags) });
      if (json) return out.json(diff);
      show(diff, out);
    },
  }),
  command({
    name: 'contract subscribe',
    summary: 'Lets you hear of every new version of a contract.',
    args: ['<name>'],
    flags: { project, off: toggle('No longer.') },
    examples: ['poly contract subscribe order', 'poly contract subscribe order --off'],
    async run({ args: [name = ''], flags, hub, out, json }) {
      const asked = { name, ...projectOf(flags), unsubscribe: flags.off === true };
      const result = await hub.call('contract:subscribe', asked);
      if (json) return out.json(result);
      const at =
        result.current_version === null ? 'which is still to come' : `at version ${result.current_version}`;
      out.line(flags.off ? `You no longer hear of ${name}.` : `You hear of ${name}, ${at}.`);
    },
  }),
  command({
    name: 'contract pending',
    summary: 'Lists new versions that you have not acknowledged.',
    examples: ['poly contract pending'],
    async run({ hub, out, json }) {
      const { events } = await hub.call('contract:pending', {});
      if (json) return out.json(events);
      if (events.length === 0) return out.note('Nothing is to be acknowledged.');
      for (const { name, version, breaking, diff } of events) {
        out.line(
          `${out.paint('cyan', name)} is at version ${version}${breaking ? ', which breaks the one before' : ''}.`,
        );
        if (diff) show(diff, out);
      }
    },
  }),
  command({
    name: 'contract ack',
    summary: 'Says that you know a new version: your tasks are built on it from then on.',
    args: ['<name>'],
    flags: { project, version, task: text('Only for this task.', { value: 'TASK' }) },
    examples: ['poly contract ack api/openapi.yaml'],
    async run({ args: [name = ''], flags, hub, out, json }) {
      const result = await hub.call('contract:ack', {
        ...{ name, ...projectOf(flags) },
        ...(flags.version !== undefined && { version: flags.version }),
        ...(flags.task !== undefined && { task_id: flags.task }),
      });
      if (json) return out.json(result);
      const tasks = result.tasks.length > 0 ? ` Built on it now: ${result.tasks.join(', ')}.` : '';
      out.line(`Version ${result.version} of ${result.name} is acknowledged.${tasks}`);
    },
  }),
];

interface ProjectFlags {
  readonly project?: string | undefined;
}

const projectOf = ({ project }: ProjectFlags): ProjectChoice => ({
  project_dir: process.cwd(),
  ...(project !== undefined && { project }),
});

function toVersion(word: string): number {
  if (/^\d+$/.test(word)) return Number(word);
  throw new PolyError('invalid_arguments', `a version is a number, not "${word}".`);
}

async function readObject(file: string): Promise<Readonly<Record<string, unknown>>> {
  const { readFile } = await import('node:fs/promises');
  const { fileTrouble } = await import('../file-trouble.ts');
  const given = await readFile(file, 'utf8').catch((error: unknown) => {
    throw fileTrouble(file, 'read', error);
  });
  try {
    const value: unknown = /^\s*\{/.test(given) ? JSON.parse(given) : (await import('yaml')).parse(given);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch (cause) {
    const [problem = ''] = (cause as Error).message.split('\n', 1);
    throw new PolyError('invalid_arguments', `${file} is neither JSON nor YAML: ${problem}`, { cause });
  }
  throw new PolyError('invalid_arguments', `${file} holds no object.`, {
    hint: 'A contract is a JSON Schema or an OpenAPI document.',
  });
}

/** What breaks comes first. */
function show({ added, removed, changed }: ContractDiff, out: Output): void {
  const all = [...removed, ...added, ...changed].toSorted((a, b) => Number(b.breaking) - Number(a.breaking));
  if (all.length === 0) return void out.note('They say the same.');
  out.table(all.map((change) => changeRow(change, out)));
}

function changeRow({ path, message, breaking }: ContractChange, out: Output): readonly string[] {
  const mark = breaking ? out.paint('red', 'breaking') : out.paint('dim', 'fine');
  return [`  ${mark}`, shown(path || '/', 200), shown(message, 200)];
}

function rowOf({ name, version, format, watch, problem }: ContractInfo, out: Output): readonly string[] {
  const trouble = problem === undefined ? '' : out.paint('red', shown(problem, 200));
  return [out.paint('cyan', name), `version ${version}`, format ?? '', watch ?? '', trouble];
}
