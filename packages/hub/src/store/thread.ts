// What the store's threads run: the writer for as long as the store is open, others for one job each.
import { parentPort, workerData } from 'node:worker_threads';
import { giveBackWhenSettled } from '../platform/give-back.ts';
import { writeBackup } from './backup.ts';
import { openReader } from './connection.ts';
import { type Failure, failureOf } from './errors.ts';
import { type GroupBatch, GroupWriter } from './writer.ts';

export type Job =
  | { readonly kind: 'write'; readonly file: string }
  | { readonly kind: 'backup'; readonly file: string; readonly to: string }
  | { readonly kind: 'check'; readonly file: string };

/** What a job for one answer posts; the writer posts `{ answer: null }` once it is open. */
export type JobAnswer = { readonly answer: unknown } | { readonly failure: Failure };

const jobs: { readonly [Kind in Job['kind']]: (job: Extract<Job, { kind: Kind }>) => unknown } = {
  write: ({ file }) => {
    const writer = new GroupWriter(file);
    giveBackWhenSettled();
    parentPort?.on('message', (group: readonly GroupBatch[] | null) => {
      if (group) {
        parentPort?.postMessage(writer.commit(group));
        writer.tidy();
      } else {
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
