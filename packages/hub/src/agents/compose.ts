import { PolyError } from '@polyphony/protocol';
import type { VendorName } from './vendors/vendor.ts';
import { vendors } from './vendors/vendors.ts';

/** How a message is typed: `paste`, then, once the composer shows it and `pauseMs` later, `enter`. */
export interface Composition {
  /** What the agent is told. */
  readonly text: string;
  readonly paste: string;
  readonly pauseMs: number;
  readonly enter: string;
}

const lineBreaks = /\r\n|[\r\u0085\u2028\u2029]/g;
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/** Bidirectional, zero-width and other characters nobody sees, without the two that choose an emoji's look. */
const invisible = /(?![\ufe0e\ufe0f])[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;
/** With what else a message starts, `!`, `/`, `:` and the like, some agent takes for a command, even after a space. */
const plainStart = /^(?:[\p{L}\p{N}("'[`<*-]|\p{Extended_Pictographic})/u;
/** Claude Code and OpenCode end when they are told one of these alone. */
const endingWord = /^(?:exit|quit)$/i;

/** Text that somebody else wrote, without what a terminal obeys or a reader cannot see. */
export function cleanText(text: string): string {
  return text.toWellFormed().replace(lineBreaks, '\n').replace(controls, '').replace(invisible, '').trim();
}

/**
 * How to type a message at an agent so that it is a message and nothing else. It ends with a space: Enter then
 * neither picks from a menu of files or skills nor, after a backslash, breaks the line.
 */
export function compose(
  vendor: VendorName,
  text: string,
  { bracketedPaste = vendors[vendor].typing.bracketedPaste }: { readonly bracketedPaste?: boolean } = {},
): Composition {
  const { pauseMs, mention } = vendors[vendor].typing;
  const clean = cleanText(text);
  if (clean === '') {
    throw new PolyError('invalid_arguments', 'the message has nothing that can be typed.', {
      hint: 'Send at least one visible character.',
    });
  }
  const lines = bracketedPaste ? clean : clean.replace(/\s*[\t\n]\s*/g, ' ');
  const escaped = mention ? lines.replace(mention, '\\@') : lines;
  const harmless = plainStart.test(escaped) && !endingWord.test(escaped);
  const told = `${harmless ? '' : 'Message: '}${escaped} `;
  return {
    text: told,
    paste: bracketedPaste ? `\u001b[200~${told}\u001b[201~` : told,
    pauseMs,
    enter: '\r',
  };
}
