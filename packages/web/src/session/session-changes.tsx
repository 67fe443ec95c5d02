import type { TimelineEntry } from '@polyphony/protocol';
import type { JSX } from 'react';
import { harmless } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { ageOf } from '../page/pane-state.ts';
import { useLive } from '../page/use-live.ts';
import { Who } from '../page/who.tsx';
import { SessionLinks } from './session-links.tsx';

interface SessionChangesProps {
  readonly hub: HubState;
  readonly session: string;
  readonly now: number;
  readonly you: string | undefined;
  readonly onEntry: (entry: string) => void;
  readonly onLink: (address: string) => void;
}

/** What happened in a session since whoever looks on last drove it. */
export function SessionChanges(props: SessionChangesProps): JSX.Element {
  const { hub, session, now, you, onEntry, onLink } = props;
  const changes = useLive(hub, ['floor'], session, () => hub.client.call('floor:changes', { session }));
  if (!changes) return <div className="panel" />;
  const { since, drivers, counts, prompts, last_answer, open, failures, decisions, files, links } = changes;
  const told = Object.entries(counts).map(([kind, count]) => `${count} ${plural(kind, count)}`);
  return (
    <div className="panel">
      <h3>{since === undefined ? 'Since it began' : `Since you last drove, ${ageOf(since, now)} ago`}</h3>
      {told.length === 0 ? (
        <p className="dim">Nothing has happened.</p>
      ) : (
        <p className="dim">{told.join(', ')}</p>
      )}
      {drivers.length > 0 && (
        <p>
          <span className="dim">Asked for by </span>
          {drivers.map((one, index) => (
            <span key={one}>
              {index > 0 && ', '}
              <Who id={one} you={you} />
            </span>
          ))}
        </p>
      )}
      <Entries title="Waits for an answer" entries={open} tone="wait" onEntry={onEntry} />
      <Entries title="Went wrong" entries={failures} tone="bad" onEntry={onEntry} />
      <Entries title="Decided" entries={decisions} of={({ decision }) => decision} onEntry={onEntry} />
      <Entries title="Asked for" entries={prompts} onEntry={onEntry} />
      <Entries title="Last answer" entries={last_answer ? [last_answer] : []} onEntry={onEntry} />
      {files.length > 0 && (
        <section aria-label="Files">
          <h3>Files</h3>
          <ul className="mono files">
            {files.map((file) => (
              <li key={file}>
                <bdi>{harmless(file)}</bdi>
              </li>
            ))}
          </ul>
        </section>
      )}
      <SessionLinks links={links} onEntry={onEntry} onLink={onLink} />
    </div>
  );
}

const plural = (kind: string, count: number): string => {
  const word = kind.replaceAll('_', ' ');
  return count === 1 || word.endsWith('ed') || word === 'left' || word === 'advice'
    ? word
    : `${word}s`.replace(/ys$/, 'ies');
};

interface EntriesProps {
  readonly title: string;
  readonly entries: readonly TimelineEntry[];
  readonly tone?: string;
  readonly of?: (entry: TimelineEntry) => string | undefined;
  readonly onEntry: (entry: string) => void;
}

function Entries({ title, entries, tone = '', of, onEntry }: EntriesProps): JSX.Element | null {
  if (entries.length === 0) return null;
  return (
    <section aria-label={title}>
      <h3 className={`state ${tone}`}>{title}</h3>
      <ul className="brief">
        {entries.map((entry) => (
          <li key={entry.entry_id}>
            <button type="button" onClick={() => onEntry(entry.entry_id)}>
              <bdi>{harmless(of?.(entry) ?? entry.text)}</bdi>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
