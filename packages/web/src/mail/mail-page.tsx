import type { MailThread, MailThreadsParams, MailThreadsResult } from '@polyphony/protocol';
import { type JSX, useCallback, useEffect, useRef, useState } from 'react';
import { harmless } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { ageOf } from '../page/pane-state.ts';
import { ProjectChoice } from '../page/project-choice.tsx';
import { Rows } from '../page/rows.tsx';
import { Teaching } from '../page/teaching.tsx';
import { useCommands } from '../page/use-commands.ts';
import { useLive } from '../page/use-live.ts';
import { Who } from '../page/who.tsx';
import { MailThreadView } from './mail-thread.tsx';

interface MailPageProps {
  readonly hub: HubState;
  /** The thread that is open. */
  readonly open: string | undefined;
  /** How many messages are new to the user, in all threads. */
  readonly unread: number;
  readonly now: number;
  readonly onOpen: (thread: string | undefined) => void;
  readonly onWrite: () => void;
}

const pageSize = 50;
const most = 200;

/** Everything that is written, by threads; those of the user and those of agents among themselves. */
export function MailPage({ hub, open, unread, now, onOpen, onWrite }: MailPageProps): JSX.Element {
  const [query, setQuery] = useState('');
  const [project, setProject] = useState('');
  const [limit, setLimit] = useState(pageSize);
  const searchField = useRef<HTMLInputElement>(null);
  const words = query.trim();
  const params: MailThreadsParams = { limit, ...(words && { query: words }), ...(project && { project }) };
  const found = useLive(hub, ['mail'], params, async (): Promise<MailThreadsResult> => {
    // What holds no word finds nothing, and is no mistake while somebody still types.
    if (words && !/[\p{L}\p{N}]/u.test(words)) return { threads: [], has_more: false };
    return hub.client.call('mail:threads', params);
  });
  const projects = useLive(hub, ['mail'], 'projects', async () => {
    const { agents } = await hub.client.call('mail:agents', { limit: most });
    return [...new Set(agents.map((agent) => agent.project))].sort();
  });
  const threads = found?.threads ?? [];
  const { see, isNew } = useSeen(hub, threads, unread);
  const readAll = (): void => {
    const last = Math.max(0, ...threads.map((thread) => thread.last.event_id));
    if (last > 0) void hub.attempt(hub.client.call('mail:seen', { up_to_event_id: last }));
  };
  useCommands({
    filter: () => searchField.current?.focus(),
    new: onWrite,
    read: readAll,
  });

  const isEmpty = found && threads.length === 0 && !words && !project && open === undefined;
  if (isEmpty)
    return (
      <main className="view whole">
        <Teaching title="No mail yet" command='poly mail send AGENT "How far are you?"'>
          Agents that have registered a name, and you, write to each other here; every message says how far it
          has got. Write to one from a terminal, or with c:
        </Teaching>
      </main>
    );
  return (
    <main className="view" data-shows={open === undefined ? 'list' : 'item'}>
      <nav className="side" aria-label="Threads">
        <div className="side-tools">
          <input
            ref={searchField}
            type="search"
            aria-label="Search the mail"
            placeholder="Search  ( / )"
            value={query}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => setQuery(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Escape') setQuery('');
              if (!leaving.has(event.key)) return;
              event.preventDefault();
              event.stopPropagation();
              document.getElementById('rows')?.focus();
            }}
          />
          <button type="button" className="primary" title="Write a message (c)" onClick={onWrite}>
            Write
          </button>
          <ProjectChoice projects={projects ?? []} chosen={project} onChoose={setProject} />
          {unread > 0 && (
            <button type="button" title="Take everything as read (R)" onClick={readAll}>
              Take {unread} as read
            </button>
          )}
        </div>
        <Rows label="Threads" items={threads} idOf={({ thread_id }) => thread_id} open={open} onOpen={onOpen}>
          {(thread) => <ThreadLine thread={thread} isNew={isNew(thread)} now={now} />}
        </Rows>
        {found && threads.length === 0 && <p className="empty dim">Nothing found.</p>}
        {found?.has_more && limit < most && (
          <button type="button" className="more" onClick={() => setLimit(most)}>
            Older threads
          </button>
        )}
      </nav>
      <div className="item">
        {open === undefined ? (
          <p className="empty dim">Choose a thread from the list, or write with c.</p>
        ) : (
          <MailThreadView
            key={open}
            hub={hub}
            threadId={open}
            now={now}
            onShown={see}
            onBack={() => onOpen(undefined)}
          />
        )}
      </div>
    </main>
  );
}

const leaving: ReadonlySet<string> = new Set(['Escape', 'Enter', 'ArrowDown']);

interface Seen {
  /** The messages of a thread up to this number stand before somebody. */
  see(threadId: string, upTo: number): void;
  isNew(thread: MailThread): boolean;
}

/** The hub knows one place up to which the user has read: it moves on when everything before it has been shown here. */
function useSeen(hub: HubState, threads: readonly MailThread[], unread: number): Seen {
  const [seen, setSeen] = useState<ReadonlyMap<string, number>>(new Map());
  const isNew = ({ thread_id, unread, last }: MailThread): boolean =>
    unread > 0 && (seen.get(thread_id) ?? 0) < last.event_id;
  const withNew = threads.filter((thread) => thread.unread > 0);
  const isAllHere = withNew.reduce((sum, thread) => sum + thread.unread, 0) === unread;
  const upTo =
    isAllHere && !withNew.some(isNew) ? Math.max(0, ...withNew.map(({ last }) => last.event_id)) : 0;
  useEffect(() => {
    // Where the hub is away, what is new stays so.
    if (upTo > 0) void hub.client.call('mail:seen', { up_to_event_id: upTo }).catch(() => undefined);
  }, [hub, upTo]);
  const see = useCallback((threadId: string, last: number): void => {
    setSeen((before) => ((before.get(threadId) ?? 0) < last ? new Map(before).set(threadId, last) : before));
  }, []);
  return { see, isNew };
}

function ThreadLine({
  thread,
  isNew,
  now,
}: {
  readonly thread: MailThread;
  readonly isNew: boolean;
  readonly now: number;
}): JSX.Element {
  const { subject, from, to, project, messages, pending, failed, last } = thread;
  return (
    <>
      <span className={`dot ${isNew ? 'busy' : 'none'}`} title={isNew ? 'new' : undefined} />
      <span className="title" data-new={isNew}>
        <bdi>{harmless(subject ?? last.excerpt)}</bdi>
      </span>
      <span className="age" title={new Date(last.sent_at).toLocaleString()}>
        {ageOf(last.sent_at, now)}
      </span>
      <span className="command">
        <Who id={from} /> → <Who id={to} />
        {messages > 1 && <span>, {messages} messages</span>}
      </span>
      {subject !== undefined && <bdi className="command">{harmless(last.excerpt)}</bdi>}
      <span className="facts">
        <bdi>{harmless(project)}</bdi>
        {failed > 0 && <span className="state bad">{failed} did not arrive</span>}
        {pending > failed && <span>{pending - failed} unread</span>}
      </span>
    </>
  );
}
