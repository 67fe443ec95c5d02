// What a thread runs that reads one transcript: it answers with a lot at a time, as it is asked for the next.
import { parentPort, workerData } from 'node:worker_threads';
import { understand } from '../understand.ts';
import type { Lot, Reading } from './read-transcript.ts';
import { Refused } from './transcript.ts';
import { transcriptKinds } from './transcripts.ts';

const { vendor, path, conversation, wanted } = workerData as Reading;
const atOnce = 200;
const bytesAtOnce = 2 * 1024 * 1024;

async function* lots(): AsyncGenerator<Lot> {
  let [events, bytes, problem]: [Lot['events'][number][], number, string | undefined] = [[], 0, undefined];
  try {
    for await (const found of transcriptKinds[vendor]?.read(path, conversation) ?? []) {
      if ('trouble' in found) {
        problem ??= found.trouble;
        continue;
      }
      const { id, at, payload } = found;
      if (wanted && !wanted.has(id)) continue;
      const bytesOf = writtenOf(payload);
      if (!bytesOf) {
        problem ??= 'something in it is nested too deep';
        continue;
      }
      const { normalised, raw } = understand({ agent: vendor, cut: false, payload: bytesOf });
      events.push({ id, at, heard: normalised, raw: wanted ? raw : null });
      bytes += bytesOf.length;
      if (events.length < atOnce && bytes < bytesAtOnce) continue;
      yield { events, problem };
      [events, bytes] = [[], 0];
    }
  } catch (error) {
    problem ??=
      error instanceof Refused ? error.message : `it could not be read on: ${(error as Error).message}`;
  }
  yield { events, problem };
}

function writtenOf(payload: unknown): Buffer | undefined {
  try {
    return Buffer.from(JSON.stringify(payload));
  } catch {
    return undefined; // Deeper than a stack goes.
  }
}

const lotsLeft = lots();
parentPort?.on('message', async () => {
  const { value, done } = await lotsLeft.next();
  parentPort?.postMessage(done ? null : value);
});
