import type { ErrorInfo } from '@polyphony/protocol';
import { type FormEvent, type JSX, useRef, useState, useSyncExternalStore } from 'react';
import { harmless } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { Modal } from '../page/modal.tsx';
import { useOneAtATime } from '../page/one-at-a-time.ts';
import { onCtrlEnter } from '../page/submit-key.ts';
import { Teaching } from '../page/teaching.tsx';
import { Trouble } from '../page/trouble.tsx';
import { useLive } from '../page/use-live.ts';
import { groupsOf, newKey, type Recipient, sendTo } from './recipients.ts';

interface WriteDialogProps {
  readonly hub: HubState;
  /** The agent with this id is meant. */
  readonly to: string | undefined;
  readonly onSent: (threadId: string) => void;
  readonly onClose: () => void;
}

const importances = ['low', 'normal', 'high', 'urgent'] as const;
const most = 200;
const nobodyYet: ErrorInfo = {
  code: 'invalid_arguments',
  message: 'who can be written to is not known yet: choose somebody, then send.',
};

/** Writes to one agent, to a role, or to all of a project. */
export function WriteDialog({ hub, to, onSent, onClose }: WriteDialogProps): JSX.Element {
  const { busy, run } = useOneAtATime();
  const { trouble } = useSyncExternalStore(hub.subscribe, hub.snapshot);
  const known = useLive(hub, ['mail'], 'recipients', () => hub.client.call('mail:agents', { limit: most }));
  const groups = groupsOf(known?.agents ?? []);
  const choices = groups.flatMap((group) => group.choices);
  const [chosen, setChosen] = useState<Recipient>();
  const meant: Recipient | undefined = to === undefined ? choices[0]?.recipient : { kind: 'agent', id: to };
  const recipient = chosen ?? meant;
  const value = JSON.stringify(recipient);
  const isListed = choices.some((choice) => JSON.stringify(choice.recipient) === value);
  const key = useRef(newKey());
  const send = async (form: FormData): Promise<void> => {
    const given = (name: string): string => String(form.get(name) ?? '');
    if (!recipient) return hub.report(nobodyYet);
    const draft = {
      body: given('body'),
      ...(given('subject') && { subject: given('subject') }),
      importance: importances.find((one) => one === given('importance')),
      need_reply: form.has('need_reply'),
    };
    let thread = '';
    const sending = sendTo(hub.client, recipient, draft, key.current).then((sent) => {
      thread = sent.thread_id;
    });
    if (!(await hub.attempt(sending))) return;
    onClose();
    onSent(thread);
  };
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    void run(() => send(form));
  };
  if (known && choices.length === 0 && to === undefined)
    return (
      <Modal title="Write" onClose={onClose}>
        <Teaching title="Nobody to write to yet" command="poly mcp install">
          An agent can be written to once it has registered a name. Give yours the tools, and tell it to call
          register_agent:
        </Teaching>
      </Modal>
    );
  return (
    <Modal title="Write" onClose={onClose}>
      {/* What was changed is another message. */}
      <form
        onSubmit={submit}
        onChange={() => {
          key.current = newKey();
        }}
      >
        <div className="row">
          <label>
            To
            <select
              name="to"
              value={value ?? ''}
              onChange={(event) => setChosen(JSON.parse(event.currentTarget.value) as Recipient)}
            >
              {to !== undefined && !isListed && <option value={value}>{harmless(to)}</option>}
              {groups.map((group) => (
                <optgroup key={group.label} label={harmless(group.label)}>
                  {group.choices.map((choice) => (
                    <option key={choice.label} value={JSON.stringify(choice.recipient)}>
                      {harmless(choice.label)}
                    </option>
                  ))}
                </optgroup>
              ))}
            </select>
          </label>
          <label>
            Importance
            <select name="importance" defaultValue="normal">
              {importances.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
        </div>
        <label>
          Subject
          <input name="subject" maxLength={200} autoComplete="off" dir="auto" />
        </label>
        <label>
          Message
          <textarea name="body" rows={8} required dir="auto" onKeyDown={onCtrlEnter} />
        </label>
        {recipient?.kind === 'agent' && (
          <label className="check">
            <input type="checkbox" name="need_reply" defaultChecked />
            It wants an answer: I am told if it stays unread
          </label>
        )}
        {trouble && <Trouble trouble={trouble} onRead={() => hub.report(undefined)} />}
        <div className="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" title="Send (Ctrl-Enter)" disabled={busy}>
            Send
          </button>
        </div>
      </form>
    </Modal>
  );
}
