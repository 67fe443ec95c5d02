import { type NamedAgent, watchableKinds } from '@polyphony/protocol';
import { type FormEvent, type JSX, useState, useSyncExternalStore } from 'react';
import { harmless } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { Modal } from '../page/modal.tsx';
import { useOneAtATime } from '../page/one-at-a-time.ts';
import { Trouble } from '../page/trouble.tsx';
import { commandLine } from '../terminals/command-line.ts';
import { AgentPlaces } from './agent-places.tsx';
import { AgentSecrets } from './agent-secrets.tsx';

interface AgentDialogProps {
  readonly hub: HubState;
  /** The one that is changed; a new one when left out. */
  readonly agent: NamedAgent | undefined;
  readonly onAdded: (name: string) => void;
  readonly onSession: (session: string) => void;
  readonly onClose: () => void;
}

const listIn = (text: string): readonly string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');

/** What a form says of an agent. What is empty is taken away from one that is there, and not said of a new one. */
function partsIn(form: FormData, isNew: boolean) {
  const given = (name: string): string => String(form.get(name) ?? '').trim();
  const nothing = isNew ? undefined : null;
  const kinds = watchableKinds.filter((kind) => form.getAll('watch').includes(kind));
  const words = listIn(given('words'));
  return {
    ...(given('display_name') !== '' && { display_name: given('display_name') }),
    icon: given('icon') || nothing,
    description: given('description') || nothing,
    skills: listIn(given('skills')),
    tags: listIn(given('tags')),
    hosting: given('hosting') as 'self' | 'hub',
    command: commandLine(given('command')) ?? nothing,
    cwd: given('cwd') || nothing,
    budget: Number(given('budget')),
    isolated: form.get('isolated') === 'on',
    drives: form.get('drives') === 'on',
    watch: kinds.length === 0 ? nothing : { kinds, ...(words.length > 0 && { words }) },
  };
}

/** A command as one would type it. */
function typed(argv: readonly string[] | undefined): string {
  if (!argv) return '';
  if (argv[0] === 'sh' && argv[1] === '-c' && argv.length === 3) return argv[2] ?? '';
  return argv.map((word) => (/^[\w@%+:,./-]+$/.test(word) ? word : `'${word}'`)).join(' ');
}

/** Adds a named agent, or changes, moves and removes one. */
export function AgentDialog({ hub, agent, onAdded, onSession, onClose }: AgentDialogProps): JSX.Element {
  const { busy, run } = useOneAtATime();
  const [hosting, setHosting] = useState(agent?.hosting ?? 'self');
  const [removing, setRemoving] = useState(false);
  const { trouble } = useSyncExternalStore(hub.subscribe, hub.snapshot);
  const save = async (form: FormData): Promise<void> => {
    if (agent) {
      const { name } = agent;
      const parts = partsIn(form, false);
      if (await hub.attempt(hub.client.call('floor:agent-edit', { name, ...parts }))) onClose();
      return;
    }
    const name = String(form.get('name') ?? '').trim();
    const { icon, description, command, cwd, watch, ...parts } = partsIn(form, true);
    const more = {
      ...{ icon: icon ?? undefined, description: description ?? undefined, cwd: cwd ?? undefined },
      ...{ command: command ?? undefined, watch: watch ?? undefined },
    };
    const adding = hub.client.call('floor:agent-add', { name, ...parts, ...more });
    await hub.attempt(adding.then((added) => onAdded(added.name)));
  };
  const remove = async (name: string): Promise<void> => {
    if (await hub.attempt(hub.client.call('floor:agent-remove', { name }))) onClose();
  };
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    void run(() => save(form));
  };
  const title = agent ? `Agent ${harmless(agent.name)}` : 'Add an agent';
  const plain = { autoComplete: 'off', spellCheck: false } as const;
  return (
    <Modal title={title} onClose={onClose}>
      <form key={agent?.name ?? ''} onSubmit={submit}>
        <div className="row">
          {!agent && (
            <label>
              Name
              <input
                name="name"
                className="mono"
                required
                maxLength={64}
                placeholder="dean, or dean.sql"
                {...plain}
              />
            </label>
          )}
          <label>
            Shown as
            <input name="display_name" maxLength={80} defaultValue={agent?.display_name} {...plain} />
          </label>
          <label className="short">
            Icon
            <input name="icon" maxLength={32} defaultValue={agent?.icon} placeholder="🦉" {...plain} />
          </label>
        </div>
        <label>
          What it is for
          <input name="description" maxLength={500} defaultValue={agent?.description} {...plain} />
        </label>
        <div className="row">
          <label>
            Skills, with commas
            <input name="skills" defaultValue={agent?.skills.join(', ')} {...plain} />
          </label>
          <label>
            Joins projects tagged
            <input name="tags" defaultValue={agent?.tags.join(', ')} {...plain} />
          </label>
        </div>
        <div className="row">
          <label>
            Run by
            <select
              name="hosting"
              value={hosting}
              onChange={(event) => setHosting(event.currentTarget.value as 'self' | 'hub')}
            >
              <option value="self">itself: whoever registers with its name</option>
              <option value="hub">the hub: its command, in a pane of each project</option>
            </select>
          </label>
          <label className="short">
            Messages a minute
            <input name="budget" type="number" min={1} max={600} defaultValue={agent?.budget ?? 60} />
          </label>
        </div>
        <div className="row" hidden={hosting !== 'hub'}>
          <label>
            Command
            <input name="command" className="mono" defaultValue={typed(agent?.command)} {...plain} />
          </label>
          <label>
            Folder
            <input name="cwd" className="mono" placeholder="your home" defaultValue={agent?.cwd} {...plain} />
          </label>
        </div>
        <div className="row">
          <label className="check">
            <input name="isolated" type="checkbox" defaultChecked={agent?.isolated} />
            Isolated: in one project it knows nothing of the others
          </label>
          <label className="check">
            <input name="drives" type="checkbox" defaultChecked={agent?.drives} />
            Drives its own sessions
          </label>
        </div>
        <details open={agent?.watch !== undefined}>
          <summary>Watches</summary>
          <div className="row kinds">
            {watchableKinds.map((kind) => (
              <label key={kind} className="check">
                <input
                  name="watch"
                  type="checkbox"
                  value={kind}
                  defaultChecked={agent?.watch?.kinds.includes(kind)}
                />
                {kind}
              </label>
            ))}
          </div>
          <label>
            Only with one of these words, with commas
            <input name="words" defaultValue={agent?.watch?.words?.join(', ')} {...plain} />
          </label>
        </details>
        {trouble && <Trouble trouble={trouble} onRead={() => hub.report(undefined)} />}
        <div className="actions">
          {agent && (
            <button
              type="button"
              className="danger"
              disabled={busy}
              onClick={() => (removing ? void run(() => remove(agent.name)) : setRemoving(true))}
            >
              {removing ? 'Really remove it, and its secrets' : 'Remove'}
            </button>
          )}
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={busy}>
            {agent ? 'Save' : 'Add'}
          </button>
        </div>
      </form>
      {agent && <AgentPlaces hub={hub} agent={agent} onSession={onSession} />}
      {agent && agent.hosting === 'hub' && <AgentSecrets hub={hub} agent={agent} />}
    </Modal>
  );
}
