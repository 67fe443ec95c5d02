// What a thread of the intake runs: it reads one lot of events and ends.
import { parentPort, workerData } from 'node:worker_threads';
import type { Entry } from './journal.ts';
import { understand } from './understand.ts';

parentPort?.postMessage((workerData as readonly Entry[]).map(understand));
