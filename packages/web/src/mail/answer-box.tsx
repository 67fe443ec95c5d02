import type { MailThreadResult } from '@polyphony/protocol';
import { type FormEvent, type JSX, type RefObject, useRef, useState } from 'react';
import { harmless } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { useOneAtATime } from '../page/one-at-a-time.ts';
import { onCtrlEnter } from '../page/submit-key.ts';
import { type Choice, newKey, sendTo } from './recipients.ts';

interface AnswerBoxProps {
  readonly hub: HubState;
  readonly messages: readonly MailThreadResult['messages'][number][];
  readonly field: RefObject<HTMLTextAreaElement | null>;
}

/** Answers the last message of a thread. */
export function AnswerBox({ hub, messages, field }: AnswerBoxProps): JSX.Element | null {
  const choices = choicesOf(messages);
  const [chosen, setChosen] = useState<string>();
  const [text, setText] = useState('');
  const { busy, run } = useOneAtATime();
  const key = useRef(newKey());
  const to = choices.find(({ label }) => label === chosen) ?? choices[0];
  const last = messages.at(-1);
  if (!to || !last) return null;
  const send = async (): Promise<void> => {
    const draft = { body: text, reply_to: last.message_id, need_reply: true };
    if (!(await hub.attempt(sendTo(hub.client, to.recipient, draft, key.current)))) return;
    key.current = newKey();
    setText('');
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (text.trim() !== '') void run(send);
  };
  return (
    <form className="answer" aria-label="Answer" onSubmit={submit}>
      <textarea
        ref={field}
        aria-label="Your answer"
        placeholder={`Answer ${harmless(to.label)}  ( r )`}
        rows={3}
        dir="auto"
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          // What was changed is another message.
          key.current = newKey();
        }}
        onKeyDown={(event) => {
          onCtrlEnter(event);
          if (event.key === 'Escape') document.getElementById('rows')?.focus();
        }}
      />
      <div className="actions">
        {choices.length > 1 && (
          <select aria-label="To" value={to.label} onChange={(event) => setChosen(event.currentTarget.value)}>
            {choices.map(({ label }) => (
              <option key={label} value={label}>
                {harmless(label)}
              </option>
            ))}
          </select>
        )}
        <button type="submit" className="primary" title="Send (Ctrl-Enter)" disabled={busy}>
          Send
        </button>
      </div>
    </form>
  );
}

/** Whom an answer can be for, the likeliest first: who wrote last, else whoever it was for. */
function choicesOf(messages: readonly MailThreadResult['messages'][number][]): readonly Choice[] {
  const found = new Map<string, Choice>();
  const add = (label: string, recipient: Choice['recipient']): void => {
    if (!found.has(label)) found.set(label, { label, recipient });
  };
  for (const { from, from_agent_id: id } of messages.toReversed())
    if (id !== undefined) add(from.replace(/^agent:/, ''), { kind: 'agent', id });
  for (const { kind, to, project, trust } of messages.toReversed()) {
    if (trust !== 'user') continue;
    if (kind === 'broadcast') add(`everyone in ${project}`, { kind: 'all', project });
    if (kind === 'role') {
      const role = to.replace(/^role /, '');
      add(`everyone who is ${role}`, { kind: 'role', project, role });
    }
  }
  for (const { statuses } of messages.toReversed())
    for (const { agent_id: id, name } of statuses)
      if (id.startsWith('agt_')) add(name, { kind: 'agent', id });
  return [...found.values()];
}
