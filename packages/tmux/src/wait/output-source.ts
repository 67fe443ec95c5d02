import { setTimeout } from 'node:timers/promises';
import type { ConnectionOptions, Engine } from '../engine.ts';
import { execute } from '../engine.ts';
import { TmuxError } from '../errors.ts';
import { Events } from '../events/events.ts';
import type { PaneId, SessionId } from '../operation/target.ts';
import { displayMessage } from '../operations/index.ts';
import { openPanePipe } from '../pipe/pane-pipe.ts';

/** A server, for what needs both ways to it: commands, and a connection of its own. */
export interface Tmux {
  readonly engine: Engine;
  readonly connection: ConnectionOptions;
}

/** Stands among the bytes where some may be missing. */
export const gap: unique symbol = Symbol('gap');

export interface OutputSource extends AsyncIterable<Uint8Array | typeof gap>, AsyncDisposable {
  /** Waits until everything a dead pane printed has come, or the signal is aborted. */
  finish(signal: AbortSignal): Promise<void>;
}

/** How long an event connection must be quiet for what a dead pane printed to have come. */
const quietMs = 200;

/**
 * What a pane prints from now on: through a pipe, which misses nothing and disturbs nobody; through an event
 * connection when somebody else has piped the pane already.
 */
export async function outputOf({ engine, connection }: Tmux, paneId: PaneId): Promise<OutputSource> {
  try {
    return await openPanePipe(engine, paneId);
  } catch (error) {
    if (!(error instanceof TmuxError) || error.code !== 'pipe_taken') throw error;
  }
  const session = (
    await execute(engine, displayMessage({ target: paneId, message: '#{session_id}' }))
  ).unwrap();
  const events = await Events.open(connection, { session: session.text as SessionId });
  const stream = events.subscribe({ types: ['output'] });
  let heardAt = 0;
  async function* bytes(): AsyncGenerator<Uint8Array | typeof gap> {
    for await (const event of stream) {
      if (event.type === 'gap' && (event.paneId ?? paneId) === paneId) yield gap;
      if (event.type !== 'output' || event.paneId !== paneId) continue;
      heardAt = performance.now();
      yield event.data;
    }
  }
  const finish = async (signal: AbortSignal): Promise<void> => {
    for (let left = quietMs; left > 0 && !signal.aborted; left = heardAt + quietMs - performance.now()) {
      await setTimeout(left, undefined, { signal }).catch(() => undefined); // Aborted: the loop ends.
    }
  };
  return Object.assign(bytes(), { finish, [Symbol.asyncDispose]: () => events.close() });
}
