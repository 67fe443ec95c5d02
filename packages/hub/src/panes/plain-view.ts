import { stripVTControlCharacters } from 'node:util';

/**
 * What a person would read of one line of output: no escapes, and of a line that was written over with carriage
 * returns what stood there last.
 */
export function plainLine(text: string): string {
  const line = stripVTControlCharacters(text.replace(stringSequences, ''));
  const shown = line.endsWith('\r') ? line.slice(0, -1) : line;
  return shown
    .split('\r')
    .reduce((before, after) => after + before.slice(after.length), '')
    .replace(leftovers, '');
}

/** Titles, links and the like: everything up to their end, or to the end of the line when that is missing. */
const stringSequences = /(?:\x1b[PX^_\]]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)/g;

/** Control characters but TAB, and the invisible ones that turn the direction of text around. */
const leftovers = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;
