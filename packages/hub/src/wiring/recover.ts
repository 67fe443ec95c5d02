import { insertCapture } from '../capture/capture-row.ts';
import type { Intake } from '../capture/intake.ts';
import type { Journal } from '../capture/journal.ts';
import { findTranscript } from '../capture/transcripts/find-transcript.ts';
import { readTranscript } from '../capture/transcripts/read-transcript.ts';
import type { RecoverActionsOptions } from '../floor/recover/actions.ts';
import type { RecoveryOptions } from '../floor/recover/recovery.ts';
import type { Clock } from '../platform/clock.ts';
import type { Store } from '../store/store.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** What the floor needs of capture to fill in what is missing. */
export function recoverSources({
  store,
  clock,
  intake,
  env,
  envOf,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly intake: Intake;
  readonly env: Env;
  /** What the program of a pane was given beside the environment of all. */
  readonly envOf: (pane: string) => Env;
}): Pick<RecoveryOptions, 'transcripts' | 'alone' | 'insertKept'> {
  return {
    alone: (work) => intake.alone(work),
    transcripts: {
      find: ({ vendor, conversation, pane }) =>
        findTranscript(store, vendor, conversation, [
          ...(pane === null ? [] : [{ ...env, ...envOf(pane) }]),
          env,
        ]),
      read: ({ vendor, conversation }, path, wanted) =>
        readTranscript({ vendor, conversation, path, ...(wanted && { wanted }) }),
    },
    insertKept: ({ id, agent, pane, asTool, occurredAt, normalised }, raw) =>
      insertCapture(
        { id, agent, pane, asTool, occurredAt, tmux: '', origin: 'transcript', receivedAt: clock.now() },
        { normalised, raw, digest: null, state: null },
      ),
  };
}

/** Tries again what could not be taken in, and says what still cannot. */
export function reviveJournal(journal: Journal, intake: Intake): RecoverActionsOptions['revive'] {
  return async (dryRun) => {
    const { revived, dead } = journal.revive(dryRun);
    await intake.alone(async () => undefined);
    const again = new Set(journal.buried);
    const back = revived.filter((name) => !dryRun && again.has(name));
    const still = back.map((name) => ({ name, why: 'it cannot be understood' }));
    return { revived: revived.length - back.length, dead: [...dead, ...still] };
  };
}
