import type { PaneInfo } from '@polyphony/protocol';
import { type JSX, useState, useSyncExternalStore } from 'react';
import type { HubState } from '../page/hub-state.ts';
import { Modal } from '../page/modal.tsx';
import { useOneAtATime } from '../page/one-at-a-time.ts';
import { commandOf, nameOf } from '../page/pane-state.ts';
import { Trouble } from '../page/trouble.tsx';

interface EndPaneDialogProps {
  readonly hub: HubState;
  readonly pane: PaneInfo;
  readonly onClose: () => void;
}

/** Asks before a program is killed, or before its output is forgotten. */
export function EndPaneDialog({ hub, pane, onClose }: EndPaneDialogProps): JSX.Element {
  const isRunning = pane.status === 'running';
  const { name, title = pane.id } = nameOf(pane);
  const { trouble } = useSyncExternalStore(hub.subscribe, hub.snapshot);
  const { busy, run } = useOneAtATime();
  const [forget, setForget] = useState(!isRunning);
  const end = async (): Promise<void> => {
    if (await hub.attempt(hub.client.call('pane:close', { paneId: pane.id, cleanup: forget }))) onClose();
  };
  return (
    <Modal title={isRunning ? 'End this pane?' : 'Forget this pane?'} onClose={onClose}>
      <p>
        <strong>
          <bdi>{name}</bdi>
        </strong>{' '}
        {title !== name && <bdi className="dim">{title}</bdi>}
      </p>
      <pre>{commandOf(pane)}</pre>
      <p>
        {isRunning
          ? 'Its program and everything it started are killed.'
          : 'Its record and everything it printed are deleted.'}
      </p>
      {isRunning && (
        <label className="check">
          <input
            type="checkbox"
            checked={forget}
            onChange={(event) => setForget(event.currentTarget.checked)}
          />
          Forget what it printed, too
        </label>
      )}
      {trouble && <Trouble trouble={trouble} onRead={() => hub.report(undefined)} />}
      <div className="actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" className="danger" disabled={busy} onClick={() => void run(end)}>
          {isRunning ? 'End it' : 'Forget it'}
        </button>
      </div>
    </Modal>
  );
}
