import type { FloorSession } from './floor-session.ts';
import type { FloorLink, TimelineEntry } from './floor-timeline.ts';
import type { TimelineKind } from './timeline-kind.ts';

/** How an entry is introduced where its kind alone does not say it. */
const titles: Partial<Readonly<Record<TimelineKind, string>>> = {
  prompt: 'asked',
  answer: 'answered',
  said: 'said',
  tool: 'used a tool',
  tool_result: 'got the result of a tool',
  asked: 'asked for permission',
  approved: 'approved',
  rejected: 'rejected',
  interrupt: 'interrupted',
  failure: 'failed',
  reply: 'told everybody',
};

/**
 * A text as a block of code that nothing in it can end.
 *
 * @example fenced('a ``` b') // '````\na ``` b\n````'
 */
export function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

/** What a terminal would obey, or turn around, of what is printed or opened there. */
const obeyed = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu;

/** Text of others in which nothing is obeyed by whoever shows it. */
const harmless = (text: string): string =>
  text.replace(/\r\n?/g, '\n').replace(obeyed, (letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`);

/** Text of others as Markdown that means nothing but itself. */
const quoted = (text: string): string =>
  harmless(text).replace(/[\\`*_{}[\]<>()#+!|~&-]/g, (found) => `\\${found}`);

/** The head of a session as Markdown. */
export function sessionMarkdown(session: FloorSession, links: readonly FloorLink[]): string {
  const { project, slug, label, agent, driver, created_at, forked_from, resumed_from } = session;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Agent', agent],
    ['Driver', driver],
    ['Begun', created_at],
    ['Forked from', forked_from],
    ['Resumed from', resumed_from],
    ...links.map(({ kind, value }) => [kind.replace('_', ' '), value] as const),
  ];
  return [
    `# ${quoted(project)} / ${quoted(slug)}${label === undefined ? '' : `: ${quoted(label)}`}`,
    '',
    ...facts.flatMap(([name, value]) => (value === undefined ? [] : [`- ${name}: ${quoted(value)}`])),
    '',
  ].join('\n');
}

/** An entry as Markdown, whatever its text holds. */
export function entryMarkdown(entry: TimelineEntry): string {
  const { kind, sender, at, text, result, starred, tags = [], decision, reconstructed } = entry;
  const marks = [
    starred && '★',
    ...tags.map((tag) => `#${quoted(tag)}`),
    reconstructed && 'reconstructed',
  ].filter(Boolean);
  return [
    `## ${at} ${quoted(sender)} ${titles[kind] ?? kind.replace('_', ' ')}${marks.length > 0 ? ` (${marks.join(', ')})` : ''}`,
    '',
    ...(text === '' ? [] : [fenced(harmless(text)), '']),
    ...(result
      ? [result.error === undefined ? 'Result:' : 'It failed:', '', fenced(harmless(result.text)), '']
      : []),
    ...(decision === undefined ? [] : [`Decided: ${quoted(decision.replace(/\s+/g, ' '))}`, '']),
  ].join('\n');
}
