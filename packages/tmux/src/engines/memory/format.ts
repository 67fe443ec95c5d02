import { fieldOf, type Subject } from './fields.ts';
import { optionOf } from './options.ts';

const short: Readonly<Record<string, string>> = {
  S: 'session_name', W: 'window_name', I: 'window_index', F: 'window_flags', P: 'pane_index', D: 'pane_id',
  T: 'pane_title', H: 'host', h: 'host_short',
}; // biome-ignore format: a table

/**
 * Expands the part of tmux's formats that this library writes: fields, options, `#{?a,b,c}`, comparisons and `and`/`or`.
 */
export function expand(format: string, subject: Subject): string {
  let out = '';
  for (let at = 0; at < format.length; at++) {
    const next = format[at + 1] ?? '';
    if (format[at] !== '#') out += format[at];
    else if (next === '{') {
      const end = closing(format, at + 2);
      out += expandBraces(format.slice(at + 2, end), subject);
      at = end;
    } else if (next === '#' || next === ',' || next === '}') {
      out += next;
      at += 1;
    } else if (short[next]) {
      out += fieldOf(short[next], subject) ?? '';
      at += 1;
    } else out += '#';
  }
  return out;
}

/** A filter holds unless it comes to nothing or to 0. */
export function isTrue(format: string | undefined, subject: Subject): boolean {
  return format === undefined || truthy(expand(format, subject));
}

function truthy(text: string): boolean {
  return text !== '' && text !== '0';
}

const comparisons: Readonly<Record<string, (a: string, b: string) => boolean>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '>': (a, b) => a > b,
  '<=': (a, b) => a <= b,
  '>=': (a, b) => a >= b,
  '||': (a, b) => truthy(a) || truthy(b),
  '&&': (a, b) => truthy(a) && truthy(b),
  m: (pattern, text) => globToRegex(pattern).test(text),
};

function expandBraces(inside: string, subject: Subject): string {
  if (inside.startsWith('?')) {
    const [condition = '', yes = '', no = ''] = parts(inside.slice(1));
    const value = lookUp(condition, subject) ?? expand(condition, subject);
    return expand(truthy(value) ? yes : no, subject);
  }
  const compared = /^(==|!=|<=|>=|<|>|\|\||&&|m):/.exec(inside);
  if (compared) {
    const [a = '', b = ''] = parts(inside.slice(compared[0].length)).map((part) => expand(part, subject));
    return comparisons[compared[1] ?? '']?.(a, b) ? '1' : '0';
  }
  return lookUp(inside, subject) ?? '';
}

function lookUp(name: string, subject: Subject): string | undefined {
  return fieldOf(name, subject) ?? optionOf(name, subject);
}

/** Where the brace that was opened just before `from` closes. */
function closing(format: string, from: number): number {
  let depth = 1;
  for (let at = from; at < format.length; at++) {
    if (format[at] === '#' && format[at + 1] === '{') depth += 1;
    else if (format[at] === '}' && --depth === 0) return at;
  }
  return format.length;
}

/** The parts between commas that are not inside braces of their own. */
function parts(text: string): readonly string[] {
  const found = [''];
  for (let at = 0, depth = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    if (char === '#' && text[at + 1] === '{') depth += 1;
    if (char === '}') depth -= 1;
    if (char === ',' && depth === 0 && text[at - 1] !== '#') found.push('');
    else found[found.length - 1] += char;
  }
  return found;
}

function globToRegex(glob: string): RegExp {
  const escaped = glob.replace(/[\\^$+.()|{}]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's');
}
