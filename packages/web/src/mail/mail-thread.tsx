import type { MailThreadResult } from '@polyphony/protocol';
import { type JSX, useEffect, useRef, useState } from 'react';
import { harmless, harmlessLines } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { ageOf } from '../page/pane-state.ts';
import { useCommands } from '../page/use-commands.ts';
import { useLive } from '../page/use-live.ts';
import { Who } from '../page/who.tsx';
import { AnswerBox } from './answer-box.tsx';
import { Receipts } from './receipts.tsx';

interface MailThreadViewProps {
  readonly hub: HubState;
  readonly threadId: string;
  readonly now: number;
  /** It stands before somebody, up to this number. */
  readonly onShown: (threadId: string, upTo: number) => void;
  readonly onBack: () => void;
}

type ThreadMessage = MailThreadResult['messages'][number];

const pageSize = 50;
const most = 200;

/** One thread: what was written, how far each message has got, and a box to answer. */
export function MailThreadView({ hub, threadId, now, onShown, onBack }: MailThreadViewProps): JSX.Element {
  const [limit, setLimit] = useState(pageSize);
  const thread = useLive(hub, ['mail'], [threadId, limit], () =>
    hub.client.call('mail:thread', { thread_id: threadId, limit }),
  );
  const messages = thread?.messages ?? [];
  const last = messages.at(-1)?.event_id ?? 0;
  const end = useRef<HTMLLIElement>(null);
  const answer = useRef<HTMLTextAreaElement>(null);
  useCommands({ answer: () => answer.current?.focus() });
  useEffect(() => {
    if (last === 0) return;
    end.current?.scrollIntoView({ block: 'nearest' });
    const look = (): void => {
      if (document.visibilityState === 'visible') onShown(threadId, last);
    };
    look();
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, [threadId, last, onShown]);
  const [first] = messages;
  return (
    <article className="sheet thread" aria-label="Thread">
      <header>
        <button type="button" className="back" aria-label="Back to the list" onClick={onBack}>
          ‹
        </button>
        <h2>
          <bdi>
            {harmless(messages.find(({ subject }) => subject !== undefined)?.subject ?? 'No subject')}
          </bdi>
        </h2>
        {first && <bdi className="dim">{harmless(first.project)}</bdi>}
        <span className="space" />
        {messages.length > 0 && (
          <button type="button" title="Answer (r)" onClick={() => answer.current?.focus()}>
            Answer
          </button>
        )}
      </header>
      <ol className="messages" aria-label="Messages" aria-live="polite">
        {thread?.has_more && limit < most && (
          <li>
            <button type="button" onClick={() => setLimit(most)}>
              Older messages
            </button>
          </li>
        )}
        {messages.map((message) => (
          <li key={message.message_id} ref={message.event_id === last ? end : null}>
            <Message message={message} now={now} />
          </li>
        ))}
      </ol>
      {messages.length > 0 && <AnswerBox hub={hub} messages={messages} field={answer} />}
    </article>
  );
}

function Message({ message, now }: { readonly message: ThreadMessage; readonly now: number }): JSX.Element {
  const { from, to, sent_at, trust, importance, need_reply, subject, body, statuses } = message;
  return (
    <section className="message" data-trust={trust} aria-label={`Message of ${harmless(from)}`}>
      <p className="envelope">
        <Who id={from} /> <span className="dim">to</span> <Who id={to} />
        {importance !== 'normal' && <span className={`importance ${importance}`}>{importance}</span>}
        {need_reply && <span className="dim">wants an answer</span>}
        <span className="space" />
        <time className="age" dateTime={sent_at} title={new Date(sent_at).toLocaleString()}>
          {ageOf(sent_at, now)} ago
        </time>
      </p>
      {subject !== undefined && (
        <p className="subject">
          <bdi>{harmless(subject)}</bdi>
        </p>
      )}
      <pre className="body" dir="auto">
        {harmlessLines(body)}
      </pre>
      <Receipts statuses={statuses} now={now} />
    </section>
  );
}
