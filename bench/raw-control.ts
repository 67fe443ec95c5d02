import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ConnectionOptions } from '@polyphony/tmux';

/** The leanest possible loop on `tmux -C`: it counts closing guards and looks at nothing else. The limit to be held against. */
export class RawControl {
  readonly #child: ChildProcessWithoutNullStreams;
  #left = 0;
  #done: () => void = () => undefined;

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    child.stdout.on('data', (chunk: Buffer) => {
      for (let at = chunk.indexOf('%end '); at >= 0; at = chunk.indexOf('%end ', at + 5)) this.#left -= 1;
      if (this.#left <= 0) this.#done();
    });
  }

  static async open({ socketPath = '', tmux = 'tmux' }: ConnectionOptions): Promise<RawControl> {
    const args = ['-u', '-S', socketPath, '-C', 'attach-session', '-E', '-f', 'no-output,ignore-size'];
    const child = spawn(tmux, args);
    const raw = new RawControl(child);
    await once(child.stdout, 'data');
    return raw;
  }

  /** Sends a line some times at once, and waits for as many replies. */
  send(line: string, times = 1): Promise<void> {
    return new Promise((resolve) => {
      this.#left = times;
      this.#done = resolve;
      this.#child.stdin.write(`${line}\n`.repeat(times));
    });
  }

  async close(): Promise<void> {
    this.#child.stdin.end();
    await once(this.#child, 'close');
  }
}
