// What the store's threads run: the writer for as long as the store is open, others for one job each.
import { parentPort, workerData } from 'node:worker_threads';
import { giveBackWhenSettled } from '../platform/give-back.ts';
import { writeBackup } from './backup.ts';
import { openReader } from './connection.ts';
import { type Failure, failureOf } from './errors.ts';
import type { SearchIndex } from './migrations.ts';
import { type GroupBatch, GroupWriter, type Outcome } from './writer.ts';

export type Job =
  | { readonly kind: 'write'; readonly file: string; readonly searches: readonly SearchIndex[] }
  | { readonly kind: 'backup'; readonly file: string; readonly to: string }
  | { readonly kind: 'check'; readonly file: string };

/** What the writer is told: what to write, to make all of it searchable by its words, and that it is over. */
export type ToWriter = readonly GroupBatch[] | 'learn' | null;
export type FromWriter = readonly Outcome[] | 'learned';

/** How long what is written waits to be searchable where nobody searches: together it costs less. */
const learnMs = 1_000;

/** What a job for one answer posts; the writer posts `{ answer: null }` once it is open. */
export type JobAnswer = { readonly answer: unknown } | { readonly failure: Failure };

const jobs: { readonly [Kind in Job['kind']]: (job: Extract<Job, { kind: Kind }>) => unknown } = {
  write: ({ file, searches }) => {
    const writer = new GroupWriter(file, searches);
    const answer = (said: FromWriter): void => parentPort?.postMessage(said);
    let later: NodeJS.Timeout | undefined;
    const learnAfter = (ms: number): void => {
      later ??= setTimeout(() => {
        later = undefined;
        if (writer.learn()) learnAfter(0);
      }, ms).unref();
    };
    /** Between two steps others get to write. */
    const learnAll = (): void => {
      if (writer.learn()) setImmediate(learnAll);
      else answer('learned');
    };
    giveBackWhenSettled();
    parentPort?.on('message', (told: ToWriter) => {
      if (told === 'learn') {
        learnAll();
      } else if (told) {
        answer(writer.commit(told));
        writer.tidy();
        learnAfter(learnMs);
      } else {
        clearTimeout(later);
        writer.close();
        parentPort?.close();
      }
    });
    return null;
  },
  backup: ({ file, to }) => writeBackup(file, to),
  check: ({ file }) => {
    const db = openReader(file);
    const said = db.pragma('quick_check(1)', { simple: true });
    db.close();
    return said;
  },
};

function answerTo(job: Job): JobAnswer {
  try {
    return { answer: (jobs[job.kind] as (job: Job) => unknown)(job) };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

parentPort?.postMessage(answerTo(workerData));
