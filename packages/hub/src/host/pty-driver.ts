import { closeSync, constants, existsSync, openSync, readdirSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants as system } from 'node:os';
import { ReadStream } from 'node:tty';
import { findProgram } from './find-program.ts';
import { errnoOf, HostError } from './host-error.ts';
import { InputQueue } from './input-queue.ts';
import { startTimeOf } from './process-table.ts';

export interface PtySpec {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cols: number;
  readonly rows: number;
}

/** How a program ended: by a code, or by a signal; both null when nobody can know. */
export interface Exit {
  readonly exitCode: number | null;
  readonly exitSignal: string | null;
}

export interface PtyListener {
  /** The bytes are good until it returns. */
  onData(bytes: Uint8Array): void;
  /** Once, after the last byte. */
  onExit(exit: Exit): void;
}

export interface PtyProcess {
  readonly pid: number;
  /** Null when it ended before anybody could look. */
  readonly startTime: string | null;
  write(bytes: Uint8Array): Promise<void>;
  resize(cols: number, rows: number): void;
  /** Stops reading what it prints, so that it waits once the terminal is full. */
  pause(): void;
  resume(): void;
}

/** Starts programs on pseudo terminals. */
export interface PtyDriver {
  /** Throws, before anything is started, when the program or the folder cannot be used. */
  spawn(spec: PtySpec, listener: PtyListener): PtyProcess;
}

interface NativePty {
  fork(
    file: string,
    args: readonly string[],
    env: readonly string[],
    cwd: string,
    cols: number,
    rows: number,
    uid: number,
    gid: number,
    utf8: boolean,
    helper: string,
    onExit: (code: number, signal: number) => void,
  ): { readonly fd: number; readonly pid: number; readonly pty: string };
  resize(fd: number, cols: number, rows: number): void;
}

/** More than the kernel keeps of a terminal's output: after this much the rest is of those who outlive the program. */
const mostLeft = 64 * 1024;

const reserve = 16;
const largestText = 128 * 1024;
const largestTexts = 1024 * 1024;

/**
 * node-pty 1.1 leaves the terminals of all panes open in every program it starts on Linux. bash closes them on the
 * way; sh cannot close numbers above 9. It keeps the environment, without running what BASH_ENV names (-p).
 */
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is bash's own.
const closeFirst = 'for fd in $1; do exec {fd}>&-; done; exec -a "$2" -- "${@:3}"';
const bashPaths = ['/bin/bash', '/usr/bin/bash', '/run/current-system/sw/bin/bash'];

/**
 * The native half of node-pty, without its JavaScript: that one may cut the last output when this process is busy for
 * 200 ms, blocks on a program that does not read, and keeps every byte it cannot deliver.
 */
export class LydellPtyDriver implements PtyDriver {
  readonly #native: NativePty;
  readonly #helper: string;
  readonly #bash: string | undefined;
  /** What the next program must not inherit: terminals, and whatever we were started with. */
  readonly #leaking: Set<number>;
  /** Filled and emptied within one callback, so that all terminals share it. */
  readonly #buffer: Buffer = Buffer.allocUnsafeSlow(64 * 1024);

  constructor() {
    const require = createRequire(import.meta.url);
    try {
      this.#native = require('@lydell/node-pty/requireBinary.js').requireBinary('pty.node');
    } catch (cause) {
      const [why] = String(cause instanceof Error ? cause.message : cause).split('\n');
      throw new Error(
        `there are no terminals on ${process.platform}-${process.arch}: ${why}. Poly needs Linux with glibc, or macOS, on x64 or arm64, and what npm installs there without --omit=optional`,
        { cause },
      );
    }
    const isMac = process.platform === 'darwin';
    this.#helper = isMac ? require.resolve(`@lydell/node-pty-darwin-${process.arch}/spawn-helper`) : '';
    this.#leaking = new Set(isMac ? [] : openFiles());
    this.#bash = isMac ? undefined : bashPaths.find((path) => existsSync(path));
  }

  spawn(spec: PtySpec, listener: PtyListener): PtyProcess {
    const [program = '', ...args] = spec.argv;
    const path = findProgram(program, spec.cwd, spec.env);
    checkReserve();
    checkSize([...spec.argv, ...Object.entries(spec.env).map((pair) => pair.join('='))]);
    const command =
      this.#bash === undefined
        ? [path, ...args]
        : [this.#bash, '-p', '-c', closeFirst, 'poly', [...this.#leaking].join(' '), program, path, ...args];
    return this.#fork(command, spec, listener);
  }

  #fork([file = '', ...args]: readonly string[], spec: PtySpec, listener: PtyListener): PtyProcess {
    const { cwd, env, cols, rows } = spec;
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    let terminal: ReturnType<NativePty['fork']> | undefined;
    let end = (_exit: Exit): void => {};
    try {
      terminal = this.#native.fork(
        file,
        args,
        variables,
        cwd,
        cols,
        rows,
        -1,
        -1,
        true,
        this.#helper,
        (code, signal) =>
          end(
            signal === 0
              ? { exitCode: code, exitSignal: null }
              : { exitCode: null, exitSignal: signalName(signal) },
          ),
      );
      const pty = this.#open(terminal, listener);
      end = pty.end;
      return pty.process;
    } catch (cause) {
      if (terminal) abandon(terminal);
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new HostError(
        'pty_unavailable',
        `No terminal for ${spec.argv[0]}: ${reason}`,
        {
          errno: errnoOf(cause),
        },
        cause,
      );
    }
  }

  #open(
    { fd, pid, pty }: ReturnType<NativePty['fork']>,
    { onData, onExit }: PtyListener,
  ): {
    readonly process: PtyProcess;
    end(exit: Exit): void;
  } {
    // As long as we hold its other side, the terminal keeps what the program left and never reports a hang-up.
    const held = openSync(pty, constants.O_RDWR | constants.O_NOCTTY);
    let stream: ReadStream;
    try {
      stream = readingStream(fd, this.#buffer, onData);
    } catch (error) {
      closeSync(held);
      throw error;
    }
    this.#leaking.add(fd);
    const input = new InputQueue(fd);
    const native = this.#native;
    let open = true;
    return {
      process: {
        pid,
        startTime: startTimeOf(pid),
        write: (bytes) => input.write(bytes),
        resize: (cols, rows) => {
          if (open) native.resize(fd, cols, rows);
        },
        pause: () => stream.pause(),
        resume: () => stream.resume(),
      },
      end: (exit) => {
        open = false;
        this.#drain(fd, onData);
        this.#leaking.delete(fd);
        input.close();
        stream.destroy();
        closeSync(held);
        onExit(exit);
      },
    };
  }

  /** All that the program has written is with the kernel by now: reading says EAGAIN only when nothing is left. */
  #drain(fd: number, onData: (bytes: Uint8Array) => void): void {
    for (let left = mostLeft; left > 0; ) {
      let size: number;
      try {
        size = readSync(fd, this.#buffer);
      } catch {
        return;
      }
      if (size === 0) return;
      onData(this.#buffer.subarray(0, size));
      left -= size;
    }
  }
}

function readingStream(fd: number, buffer: Buffer, onData: (bytes: Uint8Array) => void): ReadStream {
  // The types know `onread` only of sockets that connect.
  const onread = {
    buffer,
    callback: (size: number): boolean => {
      onData(buffer.subarray(0, size));
      return true;
    },
  };
  const stream = new ReadStream(fd, { onread } as ConstructorParameters<typeof ReadStream>[1]);
  // The end of the program is told by the system and not by the terminal.
  stream.on('error', () => {});
  stream.resume();
  return stream;
}

function openFiles(): readonly number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => fd > 2);
}

/** A program that was started and cannot be listened to must not run on unseen. */
function abandon({ fd, pid }: ReturnType<NativePty['fork']>): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
  closeSync(fd);
}

/** Leaves files to open for what must never fail: to look at processes, to end them, to let a hub in. */
function checkReserve(): void {
  const opened: number[] = [];
  try {
    while (opened.length < reserve) opened.push(openSync('/dev/null', 'r'));
  } catch (cause) {
    throw new HostError(
      'pty_unavailable',
      'Too many files are open for another terminal.',
      {
        errno: errnoOf(cause),
      },
      cause,
    );
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

/** What the kernel would refuse when the program is started already: Linux allows 128 KB a piece. */
function checkSize(texts: readonly string[]): void {
  const sizes = texts.map((text) => Buffer.byteLength(text) + 1);
  if (Math.max(...sizes) <= largestText && sizes.reduce((sum, size) => sum + size, 0) <= largestTexts) return;
  throw new HostError('invalid_parameters', 'The arguments or the environment are too long for the system.', {
    errno: 'E2BIG',
    largestText,
    largestTexts,
  });
}

function signalName(number: number): string {
  const found = Object.entries(system.signals).find(([, value]) => value === number);
  return found?.[0] ?? `SIG${number}`;
}
