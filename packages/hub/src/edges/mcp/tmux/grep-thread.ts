// What a thread runs for a pattern that takes its time: it looks once, and ends.
import { parentPort, workerData } from 'node:worker_threads';
import { type Grep, matchingLines } from './matching-lines.ts';

parentPort?.postMessage(matchingLines(workerData as Grep));
