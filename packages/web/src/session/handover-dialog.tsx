import type { FloorSession } from '@polyphony/protocol';
import { type FormEvent, type JSX, useSyncExternalStore } from 'react';
import { harmless } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { Modal } from '../page/modal.tsx';
import { useOneAtATime } from '../page/one-at-a-time.ts';
import { Trouble } from '../page/trouble.tsx';
import { useLive } from '../page/use-live.ts';

interface HandoverDialogProps {
  readonly hub: HubState;
  readonly session: FloorSession;
  readonly you: string | undefined;
  readonly onClose: () => void;
}

/** Gives the seat of a session to somebody, or leaves it open. */
export function HandoverDialog({ hub, session, you, onClose }: HandoverDialogProps): JSX.Element {
  const { session_id, project, fence } = session;
  const { busy, run } = useOneAtATime();
  const { trouble } = useSyncExternalStore(hub.subscribe, hub.snapshot);
  const known = useLive(hub, ['floor', 'person', 'mail'], project, () =>
    hub.client.call('floor:team', { project }),
  );
  const others = (known?.team ?? []).filter(({ participant }) => participant !== you);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const to = String(new FormData(event.currentTarget).get('to') ?? '');
    void run(async () => {
      const giving = hub.client.call('floor:handoff', { session: session_id, fence, ...(to && { to }) });
      if (await hub.attempt(giving)) onClose();
    });
  };
  return (
    <Modal title="Hand over" onClose={onClose}>
      <form onSubmit={submit}>
        <label>
          To
          <select name="to">
            <option value="">nobody: whoever claims it</option>
            {others.map(({ participant, name, display_name, kind }) => (
              <option key={participant} value={participant}>
                {harmless(display_name ?? name)} ({kind === 'person' ? 'person' : 'agent'} {harmless(name)})
              </option>
            ))}
          </select>
        </label>
        <p className="dim">Who drives next is told what was done, what is open and what was decided.</p>
        {trouble && <Trouble trouble={trouble} onRead={() => hub.report(undefined)} />}
        <div className="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={busy}>
            Hand over
          </button>
        </div>
      </form>
    </Modal>
  );
}
