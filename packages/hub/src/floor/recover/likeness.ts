import { createHash } from 'node:crypto';
import type { TimelineKind } from '@polyphony/protocol';
import type { Told } from '../timeline/story.ts';

/** Something that two tellings of one event have in common. */
interface Mark {
  readonly key: string;
  /** Where others may have it too, how far apart the two may be. */
  readonly withinMs: number;
}

export interface Like {
  readonly at: number;
  /** The surest first. */
  readonly marks: readonly Mark[];
}

/** A prompt waits for the end of a turn; a hook is told of at once. */
const sameWordsMs = 3_600_000;
const sameMomentMs = 60_000;
const nearMs = 10_000;

type Part = 'call' | 'turn' | 'tool' | 'text' | 'near' | 'moment';

/** By what an entry is known again, the surest first; what is not here is in no transcript. */
const knownBy: Partial<Readonly<Record<TimelineKind, readonly Part[]>>> = {
  prompt: ['turn', 'text', 'near'],
  notice: ['turn', 'text', 'near'],
  said: ['text'],
  tool: ['call', 'tool'],
  tool_result: ['call', 'tool'],
  answer: ['turn', 'text', 'near'],
  failure: ['turn', 'text', 'near'],
  interrupt: ['turn', 'moment'],
  compaction: ['moment'],
};

/** Kinds that are one event all the same, told by one who knew more and one who knew less. */
const alike: Partial<Readonly<Record<TimelineKind, TimelineKind>>> = { notice: 'prompt', failure: 'answer' };

const parts: Readonly<Record<Part, (told: Told) => Mark | undefined>> = {
  call: ({ data: { call } }) => (call === undefined ? undefined : surely(call)),
  turn: ({ data: { turn } }) => (turn === undefined ? undefined : surely(turn)),
  // Of a tool that has an id its words say nothing: many are alike.
  tool: ({ data: { call, tool = '', input = '' } }) =>
    call === undefined ? { key: short(`${tool} ${input}`), withinMs: sameWordsMs } : undefined,
  text: ({ text }) => ({ key: short(text.replace(/\s+/g, ' ').trim()), withinMs: sameWordsMs }),
  // Agents without names for turns keep other words than their hooks tell: what a prompt mentions, or all of an answer.
  near: ({ data: { turn } }) => (turn === undefined ? { key: '', withinMs: nearMs } : undefined),
  moment: () => ({ key: '', withinMs: sameMomentMs }),
};

/** By what a part of a story can be told to be one that was told before. */
export function marksOf(told: Told): readonly Mark[] {
  const { kind, data } = told;
  return (knownBy[kind] ?? []).flatMap((part) => {
    const mark = parts[part](told);
    const key = `${alike[kind] ?? kind} ${data.subagent ?? ''} ${part} ${mark?.key}`;
    return mark ? [{ ...mark, key }] : [];
  });
}

const surely = (key: string): Mark => ({ key, withinMs: Number.POSITIVE_INFINITY });

const short = (text: string): string =>
  text.length > 64 ? createHash('sha256').update(text).digest('base64') : text;

/** So many of what is equal are looked at, the nearest in time. */
const nearest = 16;

/** Which of these are which of those, each at most once: the surest mark first, and then what is nearest in time. */
export function pair<T extends Like, K extends Like>(
  items: readonly T[],
  known: readonly K[],
): ReadonlyMap<T, K> {
  const marked = known
    .toSorted((a, b) => a.at - b.at)
    .flatMap((one) => one.marks.map(({ key }) => ({ key, one })));
  const byKey = Map.groupBy(marked, ({ key }) => key);
  const found = items.flatMap((item) =>
    item.marks.flatMap(({ key, withinMs }, rank) =>
      around(byKey.get(key) ?? [], item.at).flatMap(({ one }) => {
        const apart = Math.abs(one.at - item.at);
        return apart <= withinMs ? [{ item, one, rank, apart }] : [];
      }),
    ),
  );
  const pairs = new Map<T, K>();
  const used = new Set<K>();
  for (const { item, one } of found.sort((a, b) => a.rank - b.rank || a.apart - b.apart)) {
    if (pairs.has(item) || used.has(one)) continue;
    pairs.set(item, one);
    used.add(one);
  }
  return pairs;
}

function around<K extends { readonly one: Like }>(sorted: readonly K[], at: number): readonly K[] {
  if (sorted.length <= nearest) return sorted;
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as K).one.at < at) low = middle + 1;
    else high = middle;
  }
  return sorted.slice(Math.max(0, low - nearest / 2), low + nearest / 2);
}
