import { nearest, PolyError } from '@polyphony/protocol';

/** What a terminal sends for a named key, in tmux's names. */
const named: Readonly<Record<string, string>> = {
  Enter: '\r',
  Tab: '\t',
  BTab: '\x1b[Z',
  Escape: '\x1b',
  Space: ' ',
  BSpace: '\x7f',
  Up: '\x1b[A',
  Down: '\x1b[B',
  Right: '\x1b[C',
  Left: '\x1b[D',
  Home: '\x1b[H',
  End: '\x1b[F',
  IC: '\x1b[2~',
  Insert: '\x1b[2~',
  DC: '\x1b[3~',
  Delete: '\x1b[3~',
  PPage: '\x1b[5~',
  PageUp: '\x1b[5~',
  NPage: '\x1b[6~',
  PageDown: '\x1b[6~',
  F1: '\x1bOP',
  F2: '\x1bOQ',
  F3: '\x1bOR',
  F4: '\x1bOS',
  F5: '\x1b[15~',
  F6: '\x1b[17~',
  F7: '\x1b[18~',
  F8: '\x1b[19~',
  F9: '\x1b[20~',
  F10: '\x1b[21~',
  F11: '\x1b[23~',
  F12: '\x1b[24~',
};

/** What Shift, Meta and Ctrl add to the number that says which modifiers are held. */
const modifierWeight: Readonly<Record<string, number>> = { S: 1, M: 2, C: 4 };

/** What others call modifiers and keys, in small letters. */
const modifierNames: ReadonlyMap<string, string> = new Map([
  ['ctrl', 'C'],
  ['control', 'C'],
  ['alt', 'M'],
  ['meta', 'M'],
  ['option', 'M'],
  ['shift', 'S'],
]);
const otherNames: ReadonlyMap<string, string> = new Map([
  ...Object.keys(named).map((name) => [name.toLowerCase(), name] as const),
  ['return', 'Enter'],
  ['esc', 'Escape'],
  ['backspace', 'BSpace'],
  ['del', 'Delete'],
  ['ins', 'Insert'],
  ['pgup', 'PageUp'],
  ['pgdn', 'PageDown'],
  ['pgdown', 'PageDown'],
]);
const held = /^((?:(?:[cms]|ctrl|control|alt|meta|option|shift)[-+])*)(.+)$/isu;

/** A key in tmux's own words: `ctrl-c`, `Ctrl+C` and `^C` are `C-c`, `esc` is `Escape`. One character is itself. */
function canonical(key: string): string {
  const [, prefix = '', base = ''] = held.exec(key) ?? [];
  const modifiers = prefix.split(/[-+]/).filter((word) => word !== '');
  const [, caret] = /^\^(.)$/su.exec(base) ?? [];
  return [
    ...modifiers.map((word) => modifierNames.get(word.toLowerCase()) ?? word.toUpperCase()),
    ...(caret === undefined ? [otherNames.get(base.toLowerCase()) ?? base] : ['C', caret]),
  ].join('-');
}

/** Keys of which a program may want another form; see {@link keyBytes}. */
const cursorKeys: ReadonlySet<string> = new Set(['Up', 'Down', 'Right', 'Left', 'Home', 'End']);

export const isCursorKey = (key: string): boolean => cursorKeys.has(canonical(key));

/**
 * The bytes of a key: one character, a name, or either behind C-, M- and S-. Full-screen programs ask for arrows in the
 * form of an application.
 *
 * @example keyBytes('C-c') // "\x03"
 */
export function keyBytes(key: string, application = false): string {
  const bytes = plainKeyBytes(canonical(key), key);
  return application && isCursorKey(key) ? bytes.replace('[', 'O') : bytes;
}

function plainKeyBytes(key: string, given: string): string {
  const [, prefix = '', base = ''] = /^((?:[CMS]-)*)(.+)$/su.exec(key) ?? [];
  const modifiers = new Set(prefix.split('-').filter((letter) => letter !== ''));
  const plain = Object.hasOwn(named, base) ? named[base] : [...base].length === 1 ? base : undefined;
  if (plain === undefined) throw unknownKey(given);
  if (modifiers.size === 0) return plain;
  const sequence = /^\x1b(?:\[|O)(\d*)([~A-Z])$/.exec(plain);
  if (sequence && plain !== named.BTab) return modified(sequence[1] ?? '', sequence[2] ?? '', modifiers);
  if (modifiers.has('S') && base === 'Tab') return named.BTab ?? '';
  const shifted = modifiers.has('S') ? plain.toUpperCase() : plain;
  const controlled = modifiers.has('C') ? control(shifted, given) : shifted;
  return modifiers.has('M') ? `\x1b${controlled}` : controlled;
}

function modified(number: string, final: string, modifiers: ReadonlySet<string>): string {
  const held = 1 + [...modifiers].reduce((sum, letter) => sum + (modifierWeight[letter] ?? 0), 0);
  return `\x1b[${number || '1'};${held}${final}`;
}

function control(plain: string, key: string): string {
  if (plain === ' ' || plain === '@') return '\0';
  if (plain === '?') return '\x7f';
  const code = plain.toUpperCase().charCodeAt(0);
  if (plain.length === 1 && code >= 0x40 && code <= 0x5f) return String.fromCharCode(code - 0x40);
  if (plain.length === 1 && code < 0x20) return plain;
  throw unknownKey(key);
}

function unknownKey(key: string): PolyError {
  const near = nearest(key.toLowerCase(), [...otherNames.keys()]);
  const meant = near === undefined ? '' : `Did you mean ${otherNames.get(near)}? `;
  return new PolyError('invalid_arguments', `"${key}" is no key.`, {
    hint: `${meant}One character, or one of ${Object.keys(named).join(', ')}, with C-, M- or S- before it. Text is typed with pane:write.`,
  });
}
