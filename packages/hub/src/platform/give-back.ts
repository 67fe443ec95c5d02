import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const settledMs = 1_000;

/**
 * Starting leaves a tenth of the memory behind that V8 of a process at rest would keep for good: gives it back, once,
 * when the start is over. Only the collection V8 does as its last resort shrinks the heap.
 */
export function giveBackWhenSettled(): void {
  setTimeout(() => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as NodeJS.GCFunction;
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  }, settledMs).unref();
}
