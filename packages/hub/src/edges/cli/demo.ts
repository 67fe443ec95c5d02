import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BuiltInEvents, PolyError, type PolyEvent } from '@polyphony/protocol';
import { demoFolder, launcher } from './build.ts';
import type { Call } from './command.ts';
import { hubEvents } from './follow-events.ts';
import { shown } from './output.ts';

const contract = 'openapi.yaml';
/** The one who is written to comes first. */
const agents = ['bruno', 'ada'] as const;

/** Lets two scripted agents work in panes of the hub, and tells what happens between them, as the log has it. */
export async function showDemo({ env, hub, out, json }: Call): Promise<number> {
  const project = `demo-${randomBytes(3).toString('hex')}`;
  const folder = join(realpathSync(tmpdir()), project);
  mkdirSync(folder, { mode: 0o700 });
  try {
    copyFileSync(join(demoFolder, contract), join(folder, contract));
    const { url } = await hub.call('server:status', {});
    const { seq: since } = await hub.emit('demo', { folder });
    const panes = new Map<string, string>();
    for (const name of agents) {
      const argv = ['sh', join(demoFolder, 'agents.sh'), name];
      const started = { argv, cwd: folder, title: `${name} (demo)`, env: { POLY: launcher } };
      panes.set((await hub.call('pane:new', { ...started, backend: 'pty' })).id, name);
    }
    if (!json) {
      out.line(
        `Two agents work in ${folder}: ${[...panes].map(([id, name]) => `${name} in ${id}`).join(', ')}.`,
      );
      out.line(
        url === undefined ? 'Watch one of them: poly attach <pane>' : 'Watch them on the page: poly open',
      );
      out.line();
    }
    const story = new Story(project);
    const include = 'mail:*,task:*,contract:*,pane:exited';
    const onAway = (): void => out.note('poly: the hub is away; waiting for it.');
    for await (const { data } of hubEvents(env, { include, since, onAway })) {
      const told = JSON.parse(data) as PolyEvent;
      const line = story.tell(told);
      if (line !== undefined && json) out.line(data);
      else if (line !== undefined)
        out.line(`${out.paint('dim', new Date(told.at).toTimeString().slice(0, 8))}  ${shown(line, 300)}`);
      if (told.event !== 'pane:exited') continue;
      const { paneId, exitCode } = told.payload as BuiltInEvents['pane:exited'];
      const name = panes.get(paneId);
      if (name === undefined) continue;
      if (exitCode !== 0)
        throw new PolyError('internal', `${name} could not go on: it ended with ${exitCode}.`, {
          hint: `See why: poly read ${paneId}`,
        });
      panes.delete(paneId);
      if (panes.size === 0) break;
    }
    if (!json) {
      out.line();
      out.line('Both have ended; what they did stays to be read: poly ls, poly mail status, poly task list.');
      out.line('poly prune takes ended panes away.');
    }
    return 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Says events of one project in words. */
class Story {
  readonly #project: string;
  readonly #names = new Map<string, string>();

  constructor(project: string) {
    this.#project = project;
  }

  tell({ event, payload }: PolyEvent): string | undefined {
    if (event === 'mail:registered') {
      const { agentId, name, project } = payload as BuiltInEvents['mail:registered'];
      if (project === this.#project) this.#names.set(agentId, name);
    }
    const words = sentences[event as keyof typeof sentences] as Words | undefined;
    const { project = this.#project } = payload as { readonly project?: string };
    return project === this.#project ? words?.(payload, (id) => this.#names.get(id)) : undefined;
  }
}

const bare = (participant: string): string => participant.replace('agent:', '');

type NameOf = (agentId: string) => string | undefined;
type Words = (payload: unknown, nameOf: NameOf) => string | undefined;

const sentences: {
  readonly [Name in keyof BuiltInEvents]?: (
    payload: BuiltInEvents[Name],
    nameOf: NameOf,
  ) => string | undefined;
} = {
  'mail:registered': ({ name }) => `${name} is there.`,
  'mail:sent': ({ from, recipients }, nameOf) =>
    `${bare(from)} writes to ${recipients.map((id) => nameOf(id) ?? id).join(', ')}.`,
  'mail:read': ({ recipient }, nameOf) => nameOf(recipient) && `${nameOf(recipient)} has read it.`,
  'task:added': ({ title }) => `A task: ${title}.`,
  'task:claimed': ({ owner }) => `${bare(owner)} takes it.`,
  'contract:changed': ({ name, version, breaking, changes: [first] }) =>
    `${name} is at version ${version}${breaking ? ', which breaks the one before' : ''}${first ? `: ${first.message}` : ''}.`,
  'task:stale': ({ contract: name, builtOn }) =>
    `The task is stale: it is built on version ${builtOn} of ${name}.`,
  'contract:acknowledged': ({ name, version }) => `Version ${version} of ${name} is acknowledged.`,
  'task:completed': ({ owner }) => `${bare(owner)} has completed the task.`,
};
