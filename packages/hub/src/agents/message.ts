import { basename } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Delivery, PaneScreen } from '@polyphony/protocol';
import { compose } from './compose.ts';
import { type Reading, readScreen } from './read-screen.ts';
import { recogniseVendor } from './vendors/vendors.ts';

/** A terminal that is ours to type into until the message is there. */
export interface Terminal {
  readonly argv: readonly string[];
  screen(): Promise<PaneScreen>;
  type(text: string): Promise<void>;
}

export interface Patience {
  /** How long an agent that is starting may take until it takes text. */
  readonly readyMs: number;
  /** How long the screen may take to show what was typed. */
  readonly echoMs: number;
}

const usual: Patience = { readyMs: 30_000, echoMs: 15_000 };
type Look = Reading & { readonly takesPastes: boolean };

const lookEveryMs = 30;
const shells = new Set(['sh', 'bash', 'dash', 'zsh', 'fish', 'ksh', 'csh', 'tcsh', 'nu', 'pwsh']);

/** Types a message at an agent, and says how far it got. What was typed is never typed again. */
export async function typeMessage(
  terminal: Terminal,
  text: string,
  patience: Patience = usual,
): Promise<Delivery> {
  const { name } = recogniseVendor(terminal.argv);
  const program = basename(terminal.argv[0] ?? '');
  if (shells.has(program)) return failed(`${program} would run the message as a command`);
  const { paste, pauseMs, enter } = compose(name, text);
  if (name === 'generic') {
    await terminal.type(paste);
    await setTimeout(pauseMs);
    await terminal.type(enter);
    return {
      state: 'written',
      door: 'terminal',
      reason: `nobody knows what ${program} shows when it has read it`,
    };
  }

  const look = async (): Promise<Look> => {
    const screen = await terminal.screen();
    return { ...readScreen(name, screen), takesPastes: screen.bracketedPaste ?? true };
  };
  // Some draw the place for text a moment before they mark pastes.
  const ready = await waitFor(
    look,
    patience.readyMs,
    ({ composer, status, takesPastes }) => (composer !== undefined && takesPastes) || status === 'blocked',
  );
  const obstacle = obstacleIn(ready);
  if (obstacle) return failed(obstacle);
  await terminal.type(paste);
  const shown = await waitFor(look, patience.echoMs, (reading) => reading.composer?.draft !== '');
  if (!shown.composer || shown.composer.draft === '')
    return uncertain('the screen did not show what was typed');
  await setTimeout(pauseMs);
  const before = await look();
  // A question may have come up in between: Enter would answer it.
  if (!before.composer) return uncertain(`Enter was not pressed: ${before.evidence}`);
  await terminal.type(enter);
  const sent = await waitFor(
    look,
    patience.echoMs,
    ({ composer, status, queued }) => queued === true || status === 'blocked' || composer?.draft === '',
  );
  return sent.queued || sent.composer?.draft === '' || sent.status === 'blocked'
    ? { state: 'written', door: 'terminal', reason: sent.evidence }
    : uncertain('the screen did not show that it was sent');
}

function obstacleIn({ composer, status, blockedOn, evidence }: Reading): string | undefined {
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
    if (enough(reading) || performance.now() > deadline) return reading;
    await setTimeout(lookEveryMs);
  }
}

const failed = (reason: string): Delivery => ({ state: 'failed', door: 'terminal', reason });
const uncertain = (reason: string): Delivery => ({ state: 'uncertain', door: 'terminal', reason });
