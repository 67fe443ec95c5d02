import type { TimelineEntry } from '@polyphony/protocol';
import { Fragment, type JSX } from 'react';
import { harmless } from '../page/harmless.ts';
import { dayOf, timeOf } from '../page/stretch.ts';
import { Who } from '../page/who.tsx';

interface FoundEntryProps {
  readonly entry: TimelineEntry;
  readonly snippet: string;
  readonly query: string;
  readonly you: string | undefined;
}

/** An entry that was found, with the words that were looked for. */
export function FoundEntry({ entry, snippet, query, you }: FoundEntryProps): JSX.Element {
  const { sender, kind, at } = entry;
  return (
    <>
      <span className="envelope">
        <Who id={sender} you={you} /> <span className="dim">{kind.replaceAll('_', ' ')}</span>
        <span className="space" />
        <time className="age" dateTime={at}>
          {dayOf(at)}, {timeOf(at)}
        </time>
      </span>
      <bdi className="snippet">
        {marked(harmless(snippet), query).map(({ text, isHit, at: place }) =>
          isHit ? (
            <mark key={place} className="hit">
              {text}
            </mark>
          ) : (
            <Fragment key={place}>{text}</Fragment>
          ),
        )}
      </bdi>
    </>
  );
}

interface Part {
  readonly text: string;
  readonly isHit: boolean;
  readonly at: number;
}

/** A text in parts: those that were looked for, and what stands between them. */
function marked(text: string, query: string): readonly Part[] {
  const words = query.match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length === 0) return [{ text, isHit: false, at: 0 }];
  const parts = text.split(new RegExp(`(${words.join('|')})`, 'giu'));
  let at = 0;
  return parts.flatMap((part, index) => {
    const place = at;
    at += part.length;
    return part === '' ? [] : [{ text: part, isHit: index % 2 === 1, at: place }];
  });
}
