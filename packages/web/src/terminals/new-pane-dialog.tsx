import type { PaneNewResult } from '@polyphony/protocol';
import { type FormEvent, type JSX, useSyncExternalStore } from 'react';
import type { HubState } from '../page/hub-state.ts';
import { Modal } from '../page/modal.tsx';
import { useOneAtATime } from '../page/one-at-a-time.ts';
import { Trouble } from '../page/trouble.tsx';
import { commandLine } from './command-line.ts';

interface NewPaneDialogProps {
  readonly hub: HubState;
  /** The size of the tile it will be shown in. */
  readonly size: { readonly cols: number; readonly rows: number } | undefined;
  readonly onStarted: (paneId: string) => void;
  readonly onClose: () => void;
}

/** Starts a program in a new pane. */
export function NewPaneDialog({ hub, size, onStarted, onClose }: NewPaneDialogProps): JSX.Element {
  const { busy, run } = useOneAtATime();
  const { trouble } = useSyncExternalStore(hub.subscribe, hub.snapshot);
  const start = async (form: FormData): Promise<void> => {
    const given = (name: string): string => String(form.get(name) ?? '').trim();
    const argv = commandLine(given('command'));
    const done = await hub.attempt(
      hub.client
        .call('pane:new', {
          ...(given('name') && { id: given('name') }),
          ...(argv && { argv }),
          ...(argv?.[0] === 'sh' && { title: given('command').slice(0, 200) }),
          ...(given('title') && { title: given('title') }),
          ...(given('cwd') && { cwd: given('cwd') }),
          ...(given('backend') && { backend: given('backend') as 'pty' | 'tmux' }),
          ...size,
        })
        .then(({ id }: PaneNewResult) => onStarted(id)),
    );
    if (done) onClose();
  };
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    void run(() => start(form));
  };
  return (
    <Modal title="New pane" onClose={onClose}>
      <form onSubmit={submit}>
        <label>
          Command
          <input
            name="command"
            className="mono"
            placeholder="your shell"
            autoComplete="off"
            spellCheck={false}
          />
        </label>
        <label>
          Folder
          <input name="cwd" className="mono" placeholder="your home" autoComplete="off" spellCheck={false} />
        </label>
        <div className="row">
          <label>
            Name
            <input
              name="name"
              className="mono"
              placeholder="made by the hub"
              maxLength={64}
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
            />
          </label>
          <label>
            Title
            <input name="title" placeholder="the command" maxLength={200} autoComplete="off" />
          </label>
        </div>
        <label>
          Lives in
          <select name="backend">
            <option value="">tmux if it is up, else pty</option>
            <option value="pty">pty</option>
            <option value="tmux">tmux</option>
          </select>
        </label>
        {trouble && <Trouble trouble={trouble} onRead={() => hub.report(undefined)} />}
        <div className="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={busy}>
            Start
          </button>
        </div>
      </form>
    </Modal>
  );
}
