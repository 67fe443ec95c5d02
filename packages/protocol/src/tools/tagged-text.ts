/** Control characters but TAB, and invisible ones: those that turn text around, and those that only a model reads. */
const unprintable =
  /[\0-\x08\x0a-\x1f\x7f-\x9f\u200b\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;
/** The beginning of one of our own tags, also where invisible characters hide it from a search. */
const ownTag = /<(?=[\s\p{Cf}]*\/?[\s\p{Cf}]*(?:pty|tmux)_)/giu;

/** One line of somebody else's text as it may stand between our tags: it can neither end nor begin one. */
export function foreignLine(text: string): string {
  return text.replace(unprintable, '').replace(ownTag, '&lt;');
}

const attributeEscapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function attribute(text: string): string {
  return text.replace(unprintable, ' ').replace(/[&<>"]/g, (character) => attributeEscapes[character] ?? '');
}

export interface TaggedText {
  /** Begins with `pty_` or `tmux_`. */
  readonly tag: string;
  readonly attributes?: Readonly<Record<string, string | undefined>>;
  /** Each is one line, whatever it holds. */
  readonly lines: readonly string[];
}

/**
 * A block of lines between tags, as agents read answers. What programs print stays inside it.
 *
 * @example taggedText({ tag: 'pty_output', attributes: { id: 'pty_1' }, lines: ['00001| hello'] })
 */
export function taggedText({ tag, attributes = {}, lines }: TaggedText): string {
  const given = Object.entries(attributes).flatMap(([name, value]) =>
    value === undefined ? [] : [` ${name}="${attribute(value)}"`],
  );
  return [`<${tag}${given.join('')}>`, ...lines.map(foreignLine), `</${tag}>`].join('\n');
}

/** `Name: value` for each that is known; a line break inside a value becomes a space. */
export function fieldLines(fields: Readonly<Record<string, string | number | undefined>>): readonly string[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${String(value).replace(/[\r\n\u2028\u2029]+/g, ' ')}`],
  );
}
