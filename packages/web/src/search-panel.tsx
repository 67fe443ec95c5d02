import type { PaneLine, PaneReadParams } from '@polyphony/protocol';
import { type FormEvent, type JSX, useState } from 'react';
import { harmless } from './harmless.ts';
import type { HubState } from './hub-state.ts';

interface SearchPanelProps {
  readonly hub: HubState;
  readonly paneId: string;
  readonly onClose: () => void;
}

interface Found {
  readonly matches: readonly PaneLine[];
  /** There are older ones. */
  readonly more: boolean;
  /** Everything that is kept was looked at. */
  readonly complete: boolean;
}

/** Lines before and after a match that are shown with it. */
const around = 6;
const limit = 100;

/** Finds lines in everything a pane has printed and still keeps, the newest first. */
export function SearchPanel({ hub, paneId, onClose }: SearchPanelProps): JSX.Element {
  const [pattern, setPattern] = useState('');
  const [isRegex, setRegex] = useState(false);
  const [ignoreCase, setIgnoreCase] = useState(true);
  const [found, setFound] = useState<Found>();
  const [context, setContext] = useState<{ readonly n: number; readonly lines: readonly PaneLine[] }>();

  const search = async (before?: number): Promise<void> => {
    if (pattern === '') return;
    const params = {
      paneId,
      pattern,
      literal: !isRegex,
      ignoreCase,
      limit,
      ...(before !== undefined && { before }),
    };
    await hub.attempt(
      hub.client.call('pane:search' as string, params).then((answer) => {
        const { matches, ...rest } = answer as Found;
        const kept = before === undefined ? [] : (found?.matches ?? []);
        setFound({ matches: [...kept, ...matches], ...rest });
        if (before === undefined) setContext(undefined);
      }),
    );
  };
  const look = async (n: number): Promise<void> => {
    const first = Math.max(1, n - around);
    const params: PaneReadParams = { paneId, fromLine: first, limit: n - first + 1 + around };
    const read = async (): Promise<void> => {
      const { lines = [] } = await hub.client.call('pane:read', params);
      setContext({ n, lines });
    };
    await hub.attempt(read());
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void search();
  };

  return (
    <search
      className="search"
      aria-label="Search what the pane printed"
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose();
        event.stopPropagation();
      }}
    >
      <form onSubmit={submit}>
        <input
          // biome-ignore lint/a11y/noAutofocus: the panel was asked for by a key, to type into it.
          autoFocus
          type="search"
          className="mono"
          aria-label="Pattern"
          placeholder={isRegex ? 'regular expression' : 'text'}
          value={pattern}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => setPattern(event.currentTarget.value)}
        />
        <label className="check" title="Regular expression">
          <input
            type="checkbox"
            checked={isRegex}
            onChange={(event) => setRegex(event.currentTarget.checked)}
          />{' '}
          .*
        </label>
        <label className="check" title="Upper and lower case are the same">
          <input
            type="checkbox"
            checked={ignoreCase}
            onChange={(event) => setIgnoreCase(event.currentTarget.checked)}
          />{' '}
          aA
        </label>
        <button type="submit">Search</button>
        <button type="button" aria-label="Close the search" onClick={onClose}>
          ×
        </button>
      </form>
      <output className="dim">{found && summaryOf(found)}</output>
      {found && (
        <ol className="matches" aria-label="Matches">
          {found.matches.map(({ n, text }) => (
            <li key={n}>
              <button
                type="button"
                className="mono"
                aria-expanded={context?.n === n}
                onClick={() => void look(n)}
              >
                <span className="dim">{n}</span> {harmless(text).slice(0, 500)}
              </button>
              {context?.n === n && (
                <pre className="context">
                  {context.lines.map((line) => (
                    <span key={line.n} className={line.n === n ? 'hit' : undefined}>
                      {`${line.n}  ${harmless(line.text)}\n`}
                    </span>
                  ))}
                </pre>
              )}
            </li>
          ))}
          {found.more && (
            <li>
              <button type="button" onClick={() => void search(found.matches.at(-1)?.n)}>
                Older matches
              </button>
            </li>
          )}
        </ol>
      )}
    </search>
  );
}

function summaryOf({ matches, more, complete }: Found): string {
  const count = matches.length === 1 ? '1 line' : `${matches.length} lines`;
  if (matches.length === 0)
    return complete ? 'Nothing found.' : 'Nothing found so far; the search was cut short.';
  return `${count}${more ? ', and older ones' : ''}${complete || more ? '' : '; the search was cut short'}`;
}
