import { basename } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Delivery, PaneScreen } from '@polyphony/protocol';
import { compose } from './compose.ts';
import type { Reading } from './read-screen.ts';
import type { VendorName } from './vendors/vendor.ts';
import { recogniseVendor } from './vendors/vendors.ts';

/** A terminal in which an agent runs. */
export interface Terminal {
  readonly argv: readonly string[];
  read(vendor: VendorName, screen: PaneScreen): Reading;
  ended(): boolean;
  screen(): Promise<PaneScreen>;
  /** Types without anybody else's input in between. */
  hold<T>(work: (type: (text: string) => Promise<void>) => Promise<T>): Promise<T>;
}

interface MessageOptions {
  /** How long an agent that is starting may take until it takes text. */
  readonly readyMs?: number | undefined;
  /** How long the screen may take to show what was typed. */
  readonly echoMs?: number;
  /** Aborted when whoever sent it has gone. */
  readonly gone?: AbortSignal;
  /** Why it may not be typed now, asked when nobody else can type: before the first byte, and again before Enter. */
  readonly check?: (step: 'text' | 'enter') => Promise<string | undefined>;
}

type Look = Reading & { readonly takesPastes: boolean; readonly ended: boolean };

const lookEveryMs = 30;
const shells = new Set(['sh', 'bash', 'dash', 'zsh', 'fish', 'ksh', 'csh', 'tcsh', 'nu', 'pwsh']);

/** Types a message at an agent, and says how far it got. What was typed is never typed again. */
export async function typeMessage(
  terminal: Terminal,
  text: string,
  { readyMs = 60_000, echoMs = 15_000, gone, check }: MessageOptions = {},
): Promise<Delivery> {
  const { name } = recogniseVendor(terminal.argv);
  const program = basename(terminal.argv[0] ?? '');
  if (shells.has(program)) return failed(`${program} would run the message as a command`);
  const { text: told, paste, pauseMs, enter } = compose(name, text);
  if (name === 'generic') {
    await terminal.hold(async (type) => {
      await type(paste);
      await setTimeout(pauseMs);
      await type(enter);
    });
    return {
      state: 'written',
      door: 'terminal',
      reason: `it runs ${program}, no agent that is known here: nobody can tell whether it was read`,
    };
  }

  const look = async (): Promise<Look> => {
    const screen = await terminal.screen();
    return {
      ...terminal.read(name, screen),
      takesPastes: screen.bracketedPaste ?? true,
      ended: terminal.ended(),
    };
  };
  // Not held yet: while an agent starts, a person may have to help it.
  const isOver = (seen: Look): boolean => isReady(seen) || gone?.aborted === true;
  const tookText = isReady(await waitFor(look, readyMs, isOver));
  return terminal.hold(async (type) => {
    // One that never took text has had its time; whoever helps it must not wait once more.
    const obstacle = obstacleIn(await waitFor(look, tookText ? Math.min(readyMs, echoMs) : 0, isOver));
    if (gone?.aborted) return failed('whoever sent it has gone, and nothing was typed');
    const forbidden = obstacle ?? (await check?.('text'));
    if (forbidden) return failed(forbidden);
    await type(paste);
    const shown = await waitFor(look, echoMs, isShown);
    if (!shown.composer?.draft) return uncertain('the screen did not show what was typed');
    await setTimeout(pauseMs);
    const before = await waitFor(look, echoMs, isReady);
    // A question may have come up in between: Enter would answer it.
    if (!before.composer) return uncertain(`Enter was not pressed: ${before.evidence}`);
    if (check && squeezed(before.composer.draft) !== squeezed(told))
      return uncertain('Enter was not pressed: somebody has written there meanwhile');
    const late = await check?.('enter');
    if (late) return uncertain(`Enter was not pressed: ${late}`);
    await type(enter);
    const sent = await waitFor(look, echoMs, isSent);
    return isSent(sent)
      ? { state: 'written', door: 'terminal', reason: sent.evidence }
      : uncertain('the screen did not show that it was sent');
  });
}

// Between two frames a screen may show no place for text; and some draw it a moment before they mark pastes.
const isReady = ({ composer, status, takesPastes }: Look): boolean =>
  (composer !== undefined && takesPastes) || status === 'blocked';
const isShown = ({ composer, status }: Look): boolean => Boolean(composer?.draft) || status === 'blocked';
const isSent = ({ composer, status, queued }: Look): boolean =>
  queued === true || status === 'blocked' || composer?.draft === '';

/** As it is compared: screens break lines where they like. */
const squeezed = (text: string): string => text.replace(/\s+/g, '');

function obstacleIn({ composer, status, blockedOn, evidence, ended }: Look): string | undefined {
  if (ended) return 'it has ended';
  if (status === 'blocked') return `it waits for an answer${blockedOn ? ` (${blockedOn})` : ''}: ${evidence}`;
  if (!composer) return `it shows no place for text: ${evidence}`;
  return composer.draft === '' ? undefined : 'somebody has begun to write there';
}

async function waitFor(
  look: () => Promise<Look>,
  ms: number,
  enough: (seen: Look) => boolean,
): Promise<Look> {
  const deadline = performance.now() + ms;
  for (;;) {
    const reading = await look();
    if (enough(reading) || reading.ended || performance.now() > deadline) return reading;
    await setTimeout(lookEveryMs);
  }
}

const failed = (reason: string): Delivery => ({ state: 'failed', door: 'terminal', reason });
const uncertain = (reason: string): Delivery => ({ state: 'uncertain', door: 'terminal', reason });
