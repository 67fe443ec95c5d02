import { nearest } from './nearest.ts';

/** That a value is none of those allowed, behind the name of whatever was to hold it. */
export function mustBeOneOf(values: readonly string[], given: unknown): string {
  return `must be ${listed(values, 'or')}, not ${shownValue(given)}${meant(given, values)}`;
}

/** The names that something takes, where one was given that it does not. */
export function unknownName(name: string, names: readonly string[], where = ''): string {
  const takes = names.length > 0 ? `takes ${listed(names, 'and')}` : 'takes nothing';
  return `${shownValue(name)} is unknown: ${where || 'it'} ${takes}${meant(name, names)}`;
}

/** Problems as one sentence; a question among them keeps its mark. */
export function asSentence(problems: readonly string[]): string {
  const sentence = problems.join('; ').replaceAll('?; ', '? ');
  return /[.?]$/.test(sentence) ? sentence : `${sentence}.`;
}

export function listed(words: readonly string[], and: 'and' | 'or'): string {
  const [last = '', ...before] = words.toReversed();
  return before.length > 0 ? `${before.toReversed().join(', ')} ${and} ${last}` : last;
}

const longest = 80;
/** What a terminal would obey, or read backwards. */
const unseen = /[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A value as a message shows it: on one line, short, and as harmless as it looks. */
export function shownValue(value: unknown): string {
  const text = (JSON.stringify(value) ?? String(value)).replace(
    unseen,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

function meant(given: unknown, words: readonly string[]): string {
  const near = typeof given === 'string' && given !== '' ? nearest(given, words) : undefined;
  return near === undefined ? '' : `; did you mean ${near}?`;
}
