import { type FormEvent, type JSX, useSyncExternalStore } from 'react';
import type { HubState } from '../page/hub-state.ts';
import { Modal } from '../page/modal.tsx';
import { useOneAtATime } from '../page/one-at-a-time.ts';
import { Trouble } from '../page/trouble.tsx';

interface MarkDialogProps {
  readonly hub: HubState;
  readonly session: string;
  readonly entry: string;
  readonly kind: 'tag' | 'decision';
  readonly onClose: () => void;
}

const asks = {
  tag: ['Tag', 'The tag', 64],
  decision: ['Decision', 'What was decided, in a sentence', 2000],
} as const;

/** Tags an entry, or says what was decided there. */
export function MarkDialog({ hub, session, entry, kind, onClose }: MarkDialogProps): JSX.Element {
  const [title, label, maxLength] = asks[kind];
  const { busy, run } = useOneAtATime();
  const { trouble } = useSyncExternalStore(hub.subscribe, hub.snapshot);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const value = String(new FormData(event.currentTarget).get('value') ?? '').trim();
    void run(async () => {
      const marking = hub.client.call('floor:annotate', { session, entry, kind, value });
      if (await hub.attempt(marking)) onClose();
    });
  };
  return (
    <Modal title={title} onClose={onClose}>
      <form onSubmit={submit}>
        <label>
          {label}
          <input name="value" required maxLength={maxLength} autoComplete="off" dir="auto" />
        </label>
        {trouble && <Trouble trouble={trouble} onRead={() => hub.report(undefined)} />}
        <div className="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={busy}>
            Save
          </button>
        </div>
      </form>
    </Modal>
  );
}
