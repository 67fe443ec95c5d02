import type { PaneLine, PaneReadParams, PaneSearchParams, PaneSearchResult } from '@polyphony/protocol';
import { type FormEvent, type JSX, useState } from 'react';
import { harmless } from './harmless.ts';
import type { HubState } from './hub-state.ts';

interface SearchPanelProps {
  readonly hub: HubState;
  readonly paneId: string;
  /** Shows a line where it stands on the terminal; answers whether it still stands there. */
  readonly onGo: (line: PaneLine) => Promise<boolean>;
  readonly onClose: () => void;
}

/** A match with the lines around it. */
interface Context {
  readonly n: number;
  readonly lines: readonly PaneLine[];
  /** It was found on the terminal, too. */
  readonly stands: boolean;
}

const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/** What means something in a regular expression. */
const signs = /[\\^$.*+?()[\]{}|]/;

/** Lines before and after a match that are shown with it. */
const around = 6;
const limit = 100;

/** Finds lines in everything a pane has printed and still keeps, the newest first. */
export function SearchPanel({ hub, paneId, onGo, onClose }: SearchPanelProps): JSX.Element {
  const [pattern, setPattern] = useState('');
  const [isRegex, setRegex] = useState(false);
  const [ignoreCase, setIgnoreCase] = useState(true);
  const [found, setFound] = useState<PaneSearchResult>();
  const [context, setContext] = useState<Context>();
  /** What was found was looked for letter by letter, though it looks like a regular expression. */
  const [tookSigns, setTookSigns] = useState(false);

  const search = async (before?: number): Promise<void> => {
    if (pattern === '') return;
    const params: PaneSearchParams = { paneId, pattern, literal: !isRegex, ignoreCase, limit, before };
    const ask = async (): Promise<void> => {
      const { matches, ...rest } = await hub.client.call('pane:search', params);
      const kept = before === undefined ? [] : (found?.matches ?? []);
      setFound({ matches: [...kept, ...matches], ...rest });
      setTookSigns(!isRegex && signs.test(pattern));
      if (before === undefined) setContext(undefined);
    };
    await hub.attempt(ask());
  };
  const look = async (line: PaneLine): Promise<void> => {
    const { n } = line;
    const first = Math.max(1, n - around);
    const params: PaneReadParams = { paneId, fromLine: first, limit: n - first + 1 + around };
    const read = async (): Promise<void> => {
      const [{ lines = [] }, stands] = await Promise.all([hub.client.call('pane:read', params), onGo(line)]);
      setContext({ n, lines, stands });
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
        const step = steps[event.key];
        if (step !== undefined && stepThroughMatches(event.currentTarget, step)) event.preventDefault();
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
      <output className="dim">{found && summaryOf(found, tookSigns)}</output>
      {found && (
        <ol className="matches" aria-label="Matches">
          {found.matches.map(({ n, text }) => (
            <li key={n}>
              <button
                type="button"
                className="mono"
                aria-expanded={context?.n === n}
                onClick={() => void look({ n, text })}
              >
                <span className="dim">{n}</span> {harmless(text).slice(0, 500)}
              </button>
              {context?.n === n && !context.stands && (
                <p className="dim">
                  It is not on the terminal now: it was cleared, or stands behind a full-screen program.
                </p>
              )}
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

/** From the pattern to the first match and on, and back; answers whether there was one to go to. */
function stepThroughMatches(panel: Element, step: number): boolean {
  const stops = [...panel.querySelectorAll<HTMLElement>('input[type=search], .matches button')];
  const next = stops[stops.indexOf(document.activeElement as HTMLElement) + step];
  next?.focus();
  return next !== undefined;
}

function summaryOf({ matches, more, complete }: PaneSearchResult, tookSigns: boolean): string {
  const count = matches.length === 1 ? '1 line' : `${matches.length} lines`;
  if (matches.length === 0) {
    const none = complete ? 'Nothing found.' : 'Nothing found so far; the search was cut short.';
    return tookSigns ? `${none} The text is a regular expression only with .* ticked.` : none;
  }
  return `${count}${more ? ', and older ones' : ''}${complete || more ? '' : '; the search was cut short'}`;
}
