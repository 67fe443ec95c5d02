import type { TimelineEntry } from '@polyphony/protocol';
import type { JSX } from 'react';
import { harmless } from '../page/harmless.ts';

/** What can be put on an entry. */
export type Mark = 'star' | 'tag' | 'decision';

interface EntryMarksProps {
  readonly entry: TimelineEntry;
  readonly onMark: (mark: Mark) => void;
  readonly onUntag: (tag: string) => void;
  readonly onUndecide: () => void;
}

/** What was put on an entry, and buttons to put something there. */
export function EntryMarks({ entry, onMark, onUntag, onUndecide }: EntryMarksProps): JSX.Element {
  const { starred, tags = [], decision } = entry;
  return (
    <>
      {(tags.length > 0 || decision !== undefined) && (
        <ul className="marks" aria-label="Marks">
          {decision !== undefined && (
            <li className="decision">
              <span className="word">decided</span> <bdi>{harmless(decision)}</bdi>{' '}
              <button type="button" aria-label="Take the decision away" onClick={onUndecide}>
                ×
              </button>
            </li>
          )}
          {tags.map((tag) => (
            <li key={tag} className="tag">
              <bdi>{harmless(tag)}</bdi>{' '}
              <button
                type="button"
                aria-label={`Take the tag ${harmless(tag)} away`}
                onClick={() => onUntag(tag)}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      <div className="mark-tools" role="toolbar" aria-label="Mark">
        <button type="button" aria-pressed={starred === true} title="Star (*)" onClick={() => onMark('star')}>
          <span aria-hidden="true">{starred ? '★' : '☆'}</span>
          <span className="unseen">Star</span>
        </button>
        <button type="button" title="Tag (#)" onClick={() => onMark('tag')}>
          <span aria-hidden="true">#</span>
          <span className="unseen">Tag</span>
        </button>
        <button type="button" title="What was decided here (d)" onClick={() => onMark('decision')}>
          <span aria-hidden="true">◆</span>
          <span className="unseen">Decision</span>
        </button>
      </div>
    </>
  );
}
