import { type Action, foldName, PolyError, type PolyEvent } from '@polyphony/protocol';
import type { Caller } from '../registry/caller.ts';

/** How an action is kept to one project: what it does is the caller's own anyway, or the project is said for it. */
type Bound = 'own' | 'project' | 'to_project' | 'task';

/**
 * What an agent may do that is kept to one project, and how each is kept there. What is not in this table it may not do:
 * an action that is added is refused until somebody has thought about it.
 */
const bounds: Readonly<Record<string, Bound>> = {
  ...ofEach('own', 'pane', ['new', 'close', 'restart', 'prune', 'close-all', 'list', 'get-meta', 'set-meta']),
  ...ofEach('own', 'pane', ['delete-meta', 'update-meta', 'activate', 'write', 'keys', 'read', 'search']),
  ...ofEach('own', 'pane', ['screen', 'wait', 'resize']),
  ...ofEach('own', 'agent', [
    'create',
    'list',
    'explain',
    'message',
    'resume',
    'seen',
    'record',
    'set-state',
  ]),
  ...ofEach('own', 'mail', ['inbox', 'search', 'status', 'overview', 'send-by-id', 'unregister']),
  ...ofEach('project', 'mail', ['agents', 'register', 'reconnect', 'broadcast', 'broadcast-to-role']),
  'mail:send': 'to_project',
  ...ofEach('project', 'task', ['add', 'list']),
  ...ofEach('task', 'task', ['claim', 'heartbeat', 'release', 'depend', 'complete']),
  ...ofEach('project', 'contract', ['register', 'get', 'diff', 'list', 'history', 'subscribe', 'ack']),
  'contract:pending': 'own',
  ...ofEach('own', 'file', ['claim', 'release']),
  'project:show': 'project',
  ...ofEach('own', 'floor', ['leave', 'status', 'hand-on', 'agent']),
  ...ofEach('project', 'floor', [
    'join',
    'open',
    'sessions',
    'session',
    'activity',
    'label',
    'links',
    'record',
  ]),
  ...ofEach('project', 'floor', ['reply', 'context', 'team', 'timeline', 'search', 'changes', 'annotate']),
  ...ofEach('project', 'floor', [
    'annotations',
    'decisions',
    'claim',
    'handoff',
    'digest',
    'advise',
    'inject',
  ]),
  ...ofEach('project', 'floor', ['agents', 'knowledge', 'knowledge-read']),
};

function ofEach(bound: Bound, noun: string, verbs: readonly string[]): Readonly<Record<string, Bound>> {
  return Object.fromEntries(verbs.map((verb) => [`${noun}:${verb}`, bound]));
}

/** Somebody who is kept to one project. */
export interface Confined {
  readonly name: string;
  /** The key of the project. */
  readonly project: string;
}

export interface ConfinementOptions {
  /** Which project somebody is kept to; nothing for most. */
  readonly of: (caller: Caller) => Confined | undefined;
  /** The key of the project of a name. */
  readonly keyOf: (name: string) => string;
  /** Whether somebody of that name, with or without @, is in the project, or is a person. */
  readonly knows: (project: string, name: string) => boolean;
  /** The key of the project that a task is in. */
  readonly projectOfTask: (task: string) => Promise<string | undefined>;
}

type Given = Readonly<Record<string, unknown>>;

/** Keeps isolated agents to their project: what they ask for, and which events they see. */
export class Confinement {
  readonly #options: ConfinementOptions;

  constructor(options: ConfinementOptions) {
    this.#options = options;
  }

  confine(caller: Caller, { name }: Action, given: unknown): unknown {
    const confined = this.#options.of(caller);
    if (!confined) return given;
    const bound = bounds[name];
    if (bound === undefined)
      throw refusal(confined, `${name} is not for agents that are kept to one project.`);
    const asked = given === undefined ? {} : given;
    // What is no object is told of by its schema.
    if (bound === 'own' || typeof asked !== 'object' || asked === null) return given;
    const params = asked as Given;
    if (name === 'mail:register') this.#ownName(confined, params.name);
    this.#knownRecipient(confined, name, params);
    return bound === 'task' ? given : this.#within(confined, params, bound);
  }

  /** The same of what only the record knows. */
  async admit(caller: Caller, { name }: Action, params: unknown): Promise<void> {
    if (bounds[name] !== 'task') return;
    const confined = this.#options.of(caller);
    if (!confined) return;
    const { task_id: task = '' } = params as { readonly task_id?: string };
    const project = await this.#options.projectOfTask(task);
    if (project !== undefined && project !== confined.project)
      throw new PolyError('not_found', `there is no task ${task} in your project.`, {
        hint: 'task_list shows those of your project.',
      });
  }

  /** Only what is told of its project, or of nobody's. */
  sees(caller: Caller, { event, payload }: PolyEvent): boolean {
    const confined = this.#options.of(caller);
    if (!confined) return true;
    const { projectKey, project } = (payload ?? {}) as {
      readonly projectKey?: string;
      readonly project?: string;
    };
    const told = projectKey ?? (project === undefined ? undefined : this.#options.keyOf(project));
    return told === undefined ? event.startsWith('server:') : told === confined.project;
  }

  /** The project is said for them; another is refused. */
  #within({ name, project }: Confined, params: Given, bound: Bound): Given {
    const words = bound === 'to_project' ? ['to_project', 'to_team'] : ['project', 'team'];
    for (const word of words) {
      const said = params[word];
      if (typeof said === 'string' && this.#options.keyOf(said) !== project)
        throw refusal(
          { name, project },
          `you are kept to your project, and "${said.slice(0, 80)}" is another.`,
        );
    }
    const { project_dir: _, [words[1] ?? '']: __, ...kept } = params;
    return { ...kept, [words[0] ?? '']: project };
  }

  #ownName({ name, project }: Confined, given: unknown): void {
    if (typeof given === 'string' && foldName(given) !== name)
      throw refusal({ name, project }, `you are ${name}, and not "${given.slice(0, 80)}".`);
  }

  /** Whom they write to is in their project, or a person; of others they hear nothing, not even that they are there. */
  #knownRecipient({ project }: Confined, action: string, params: Given): void {
    const { to_agent_name, text, to } = params;
    const [, spoken] =
      action === 'floor:advise' && typeof text === 'string' ? (/^@([\w.:-]+)/.exec(text) ?? []) : [];
    const given = action === 'mail:send' ? to_agent_name : action === 'floor:handoff' ? to : spoken;
    if (typeof given !== 'string' || this.#options.knows(project, given)) return;
    throw new PolyError('not_found', `nobody called "${given.slice(0, 80)}" is in your project.`, {
      hint: 'list_agents shows who is.',
      details: { reason: 'unknown_recipient' },
    });
  }
}

const refusal = ({ name }: Confined, why: string): PolyError =>
  new PolyError('forbidden', why, {
    hint: `agent:${name} is isolated: in one project it knows nothing of the others. Your user decides that: poly agent edit ${name}`,
    details: { reason: 'isolated' },
  });
