import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type ErrorInfo, errorKinds, PolyError } from '@polyphony/protocol';
import { connectHost } from './host/client.ts';
import { HostError } from './host/host-error.ts';
import { createHub } from './hub.ts';
import { systemClock } from './platform/clock.ts';
import { forgetFrugalMemory } from './platform/frugal-memory.ts';
import { giveBackWhenSettled } from './platform/give-back.ts';
import { placesOf } from './platform/places.ts';
import { systemRandom } from './platform/random.ts';
import { readSettings } from './platform/settings.ts';
import { ownVersion } from './platform/version.ts';
import { StoreError } from './store/errors.ts';

/** The daemon, as it is bundled: one hub until it is told to stop. Ends with an error rather than go on in a state nobody knows. */
async function main(): Promise<void> {
  forgetFrugalMemory(process.env);
  const places = placesOf(process.env);
  const version = ownVersion();
  const beside = (name: string): string => join(import.meta.dirname, name);
  const host = { dir: places.host, panes: places.panes, version };
  const hub = await createHub({
    places,
    settings: readSettings(process.env),
    env: process.env,
    version,
    clock: systemClock,
    random: systemRandom,
    connectHost: () => connectHost({ ...host, spawn: [process.execPath, beside('host.cjs')] }),
    findHost: () => connectHost({ ...host, spawn: false }).catch(unlessThere),
    storeThread: pathToFileURL(beside('store-thread.cjs')),
    tmuxConfig: beside('../tmux.conf'),
    screens: beside('../screens'),
    web: beside('web'),
    onBroken: fail,
  });
  const survive = (error: unknown): void => {
    if (!hub.blame(error)) fail(error);
  };
  process.removeAllListeners('uncaughtException').on('uncaughtException', survive);
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', survive);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void hub.close());
  giveBackWhenSettled();
  await hub.closed;
}

function unlessThere(error: unknown): undefined {
  if (error instanceof HostError && error.code === 'host_unavailable') return undefined;
  throw error;
}

function fail(error: unknown): never {
  const info = infoOf(error);
  process.stderr.write(`${JSON.stringify({ error: info })}\n`);
  if (info.code === 'internal') process.stderr.write(`${(error as Error)?.stack ?? ''}\n`);
  process.exit(errorKinds[info.code].exit);
}

function infoOf(error: unknown): ErrorInfo {
  if (error instanceof PolyError) return error.info;
  if (error instanceof StoreError)
    return {
      code: error.code === 'full' ? 'storage_full' : 'unavailable',
      message: error.message,
      hint: error.hint,
    };
  return { code: 'internal', message: String(error) };
}

process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);
process.on('SIGHUP', () => undefined); // The terminal it was started from may close.
void main().then(() => process.exit(0), fail);
