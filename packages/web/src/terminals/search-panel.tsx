import type { PaneLine, PaneReadParams, PaneSearchParams, PaneSearchResult } from '@polyphony/protocol';
import { type FormEvent, type JSX, useState } from 'react';
import { harmless } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { useLatestWish } from '../page/latest-wish.ts';

interface SearchPanelProps {
  readonly hub: HubState;
  readonly paneId: string;
  /** Shows a line where it stands on the terminal; answers whether it still stands there. */
  readonly onGo: (line: PaneLine) => Promise<boolean>;
  readonly onClose: () => void;
}

/** What was looked for, and how much of it is here. */
interface Found extends PaneSearchResult {
  readonly params: PaneSearchParams;
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
  const [found, setFound] = useState<Found>();
  const [context, setContext] = useState<Context>();
  const askForMatches = useLatestWish(hub);
  const askForContext = useLatestWish(hub);

  const search = (params: PaneSearchParams, before: readonly PaneLine[] = []): Promise<void> =>
    askForMatches(params, async () => {
      const { matches, ...rest } = await hub.client.call('pane:search', params);
      return () => {
        setFound({ params, matches: [...before, ...matches], ...rest });
        if (before.length === 0) setContext(undefined);
      };
    });
  /** As it was looked for, whatever stands in the field by now. */
  const searchOlder = ({ params, matches }: Found): Promise<void> =>
    search({ ...params, before: matches.at(-1)?.n }, matches);
  const look = (line: PaneLine): Promise<void> => {
    const { n } = line;
    const first = Math.max(1, n - around);
    const params: PaneReadParams = { paneId, fromLine: first, limit: n - first + 1 + around };
    return askForContext(params, async () => {
      const [{ lines = [] }, stands] = await Promise.all([hub.client.call('pane:read', params), onGo(line)]);
      return () => setContext({ n, lines, stands });
    });
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (pattern !== '') void search({ paneId, pattern, literal: !isRegex, ignoreCase, limit });
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
            aria-label=".*: regular expression"
            checked={isRegex}
            onChange={(event) => setRegex(event.currentTarget.checked)}
          />{' '}
          .*
        </label>
        <label className="check" title="Upper and lower case are the same">
          <input
            type="checkbox"
            aria-label="aA: upper and lower case are the same"
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
                onClick={() => void look({ n, text })}
              >
                <span className="dim">{n}</span> {harmless(text).slice(0, 500)}
              </button>
              {context?.n === n && !context.stands && (
                <p className="dim">
                  It is not on the terminal now: it was cleared, stands behind a full-screen program, or is
                  older than a terminal can hold.
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
              <button type="button" onClick={() => void searchOlder(found)}>
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

function summaryOf({ params, matches, more, complete }: Found): string {
  const count = matches.length === 1 ? '1 line' : `${matches.length} lines`;
  if (matches.length === 0) {
    const none = complete ? 'Nothing found.' : 'Nothing found so far; the search was cut short.';
    return params.literal && signs.test(params.pattern)
      ? `${none} The text is a regular expression only with .* ticked.`
      : none;
  }
  return `${count}${more ? ', and older ones' : ''}${complete || more ? '' : '; the search was cut short'}`;
}
