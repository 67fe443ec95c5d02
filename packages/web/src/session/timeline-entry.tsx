import type { TimelineEntry, TimelineKind } from '@polyphony/protocol';
import type { JSX } from 'react';
import { harmless, harmlessLines } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { timeOf } from '../page/stretch.ts';
import { Who } from '../page/who.tsx';
import { AdviceState } from './advice-state.tsx';

interface EntryProps {
  readonly hub: HubState;
  readonly entry: TimelineEntry;
  readonly now: number;
  readonly you: string | undefined;
}

/** How an entry is shown: as words of somebody, as something done, or as a line that divides the story. */
type Look = 'words' | 'tool' | 'line';

interface Kind {
  readonly look: Look;
  readonly tone?: 'good' | 'busy' | 'wait' | 'bad' | 'off';
  /** What stands before its text, or beside who said it. */
  readonly word?: string;
}

const kinds: Readonly<Record<TimelineKind, Kind>> = {
  prompt: { look: 'words' },
  answer: { look: 'words' },
  said: { look: 'words', word: 'on the way' },
  tool: { look: 'tool' },
  tool_result: { look: 'tool' },
  asked: { look: 'line', tone: 'wait', word: 'asks' },
  approved: { look: 'line', tone: 'good', word: 'approved' },
  rejected: { look: 'line', tone: 'bad', word: 'rejected' },
  interrupt: { look: 'line', tone: 'bad', word: 'interrupted' },
  failure: { look: 'line', tone: 'bad', word: 'failed' },
  compaction: { look: 'line', tone: 'off', word: 'compaction' },
  subagent: { look: 'line', tone: 'busy', word: 'sub-agent' },
  notice: { look: 'line', tone: 'off', word: 'notice' },
  session_start: { look: 'line', tone: 'off', word: 'began' },
  session_end: { look: 'line', tone: 'off', word: 'ended' },
  joined: { look: 'line', tone: 'off', word: 'joined' },
  left: { look: 'line', tone: 'off', word: 'left' },
  handoff: { look: 'line', tone: 'wait', word: 'seat' },
  advice: { look: 'words', word: 'advises' },
  reply: { look: 'words', word: 'replies' },
  gap: { look: 'line', tone: 'bad', word: 'gap' },
  other: { look: 'line', tone: 'off', word: 'other' },
};

/** One entry of a timeline. */
export function TimelineEntryView(props: EntryProps): JSX.Element {
  const Shown = looks[kinds[props.entry.kind].look];
  return <Shown {...props} />;
}

function Words({ hub, entry, now, you }: EntryProps): JSX.Element {
  const { kind, sender, text, data } = entry;
  const { word } = kinds[kind];
  return (
    <div className="message" data-kind={kind} data-by={sender.split(':')[0]}>
      <p className="envelope">
        <Who id={sender} you={you} />
        {word !== undefined && <span className="dim">{word}</span>}
        <span className="space" />
        <Time entry={entry} />
      </p>
      <pre className="body" dir="auto">
        {harmlessLines(text)}
      </pre>
      {typeof data.message_id === 'string' && <AdviceState hub={hub} message={data.message_id} now={now} />}
    </div>
  );
}

const outcomes = {
  done: ['✓', 'good'],
  failed: ['✗', 'bad'],
  open: ['…', 'busy'],
} as const;

/** A tool with what it was given and what came of it, folded. */
function Tool({ entry, you }: EntryProps): JSX.Element {
  const { text, data, result } = entry;
  const failed = (result?.error ?? data.error) !== undefined;
  const ended = result !== undefined || entry.kind === 'tool_result';
  const [sign, tone] = outcomes[failed ? 'failed' : ended ? 'done' : 'open'];
  const named = `${data.tool}: `;
  const [first = '', ...more] = harmlessLines(text.startsWith(named) ? text.slice(named.length) : text).split(
    '\n',
  );
  const answer = result?.text ?? (entry.kind === 'tool_result' ? text : '');
  return (
    <details className="tool">
      <summary>
        <span
          className={`state ${tone}`}
          role="img"
          aria-label={failed ? 'failed' : ended ? 'done' : 'not ended'}
        >
          {sign}
        </span>
        <span className="tool-name">
          {data.subagent !== undefined && (
            <>
              <Who id={entry.sender} you={you} />{' '}
            </>
          )}
          <bdi>{harmless(data.tool ?? 'tool')}</bdi>
        </span>
        <bdi className="mono input">{entry.kind === 'tool' ? first : ''}</bdi>
        <Time entry={entry} />
      </summary>
      <div className="folded">
        {entry.kind === 'tool' && more.length > 0 && <pre dir="auto">{[first, ...more].join('\n')}</pre>}
        {data.input !== undefined && more.length === 0 && <pre dir="auto">{harmlessLines(data.input)}</pre>}
        {answer !== '' && (
          <pre dir="auto" className="result">
            {harmlessLines(answer)}
          </pre>
        )}
        {failed && (
          <pre dir="auto" className="state bad">
            {harmlessLines(result?.error ?? data.error ?? '')}
          </pre>
        )}
        {!ended && <p className="dim">It has not ended yet, as far as the hub was told.</p>}
      </div>
    </details>
  );
}

function Line({ entry, you }: EntryProps): JSX.Element {
  const { kind, sender, text } = entry;
  const { tone = 'off', word } = kinds[kind];
  return (
    <div className="line" data-kind={kind}>
      <span className={`dot ${tone}`} />
      <span className={`state ${tone} word`}>{word}</span>
      {showsWho.has(kind) && <Who id={sender} you={you} />}
      <bdi className="told">{harmlessLines(text)}</bdi>
      <Time entry={entry} />
    </div>
  );
}

/** Where the text does not say it itself. */
const showsWho: ReadonlySet<TimelineKind> = new Set([
  ...(['asked', 'approved', 'rejected', 'interrupt', 'subagent'] as const),
]);

const looks: Readonly<Record<Look, (props: EntryProps) => JSX.Element>> = {
  words: Words,
  tool: Tool,
  line: Line,
};

function Time({ entry: { at, reconstructed } }: { readonly entry: TimelineEntry }): JSX.Element {
  return (
    <time
      className="age"
      dateTime={at}
      title={`${new Date(at).toLocaleString()}${reconstructed ? ', put together later from what the agent itself had kept' : ''}`}
    >
      {reconstructed && '↺ '}
      {timeOf(at)}
    </time>
  );
}
