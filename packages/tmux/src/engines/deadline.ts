import type { RunOptions } from '../engine.ts';
import { TmuxError } from '../errors.ts';

const defaultTimeoutMs = 30_000;

/**
 * Runs `start` until it settles, its time is up or it is aborted; `start` answers what to do in the last two cases.
 */
export function withDeadline<T>(
  argv: readonly string[],
  { signal, timeoutMs = defaultTimeoutMs }: RunOptions,
  start: (resolve: (value: T) => void, reject: (error: unknown) => void) => () => void,
): Promise<T> {
  const command = argv[0] ?? '';
  return new Promise<T>((resolve, reject) => {
    if (signal?.aborted)
      return reject(
        new TmuxError('aborted', `${command} was aborted before it was sent.`, { argv }, signal.reason),
      );
    let timer: NodeJS.Timeout | undefined;
    const settle =
      <A>(then: (value: A) => void) =>
      (value: A): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        then(value);
      };
    const give = settle(resolve);
    const fail = settle(reject);
    const cancel = start(give, fail);
    timer = setTimeout(() => {
      cancel();
      fail(
        new TmuxError('timed_out', `${command} was not answered within ${timeoutMs} ms.`, {
          argv,
          timeoutMs,
        }),
      );
    }, timeoutMs);
    function onAbort(): void {
      cancel();
      fail(new TmuxError('aborted', `${command} was aborted.`, { argv }, signal?.reason));
    }
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
