import type { Terminal } from '@xterm/xterm';

/** Questions to a terminal by control sequence: what are you, where is your cursor, which modes have you. */
const questions = [
  { final: 'c' },
  { prefix: '>', final: 'c' },
  { prefix: '=', final: 'c' },
  { final: 'n' },
  { prefix: '?', final: 'n' },
  { prefix: '>', final: 'q' },
  { prefix: '?', final: 'u' },
  { intermediates: '$', final: 'p' },
  { prefix: '?', intermediates: '$', final: 'p' },
  { final: 't' },
] as const;

/** Colours and palette, clipboard, title, working directory, notifications: for a window, not for a tile of a page. */
const commands = [0, 1, 2, 4, 7, 9, 10, 11, 12, 52, 104, 110, 111, 112, 777, 1337] as const;

/**
 * Makes a terminal only draw. The hub's own terminal answers what programs ask, once and however many look on; an
 * answer from here would be typed a second time, or into whatever runs long after the question.
 */
export function keepQuiet({ parser }: Terminal): void {
  const swallow = (): boolean => true;
  for (const id of questions) parser.registerCsiHandler(id, swallow);
  for (const id of commands) parser.registerOscHandler(id, swallow);
  for (const intermediates of ['$', '+']) parser.registerDcsHandler({ intermediates, final: 'q' }, swallow);
}
