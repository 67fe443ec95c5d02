import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectHostOptions, connectHost, type Host } from '../src/host/client.ts';

export interface TestHost extends AsyncDisposable {
  readonly dir: string;
  readonly host: Host;
  /** Another connection to the same host. */
  connect(): Promise<Host>;
  /** Starts a program and answers when it has ended, with all that it printed. */
  run(
    argv: readonly string[],
    more?: { readonly cwd?: string; readonly env?: Record<string, string> },
  ): Promise<Run>;
  /** Starts a program in a pane of a new id. */
  open(argv: readonly string[], more?: { readonly screen?: boolean }): Promise<{ id: string; pid: number }>;
  /** Waits until a pane has printed something. */
  printed(id: string, text: string): Promise<void>;
}

interface Run {
  readonly output: string;
  readonly exitCode: number | null;
  readonly exitSignal: string | null;
}

export const env: Readonly<Record<string, string>> = { PATH: process.env.PATH ?? '', HOME: tmpdir() };
export const size: { readonly cols: number; readonly rows: number } = { cols: 80, rows: 24 };

/** As bundled before the tests, see vitest.config.ts. */
export const hostProgram: readonly [string, string] = [
  process.execPath,
  join(import.meta.dirname, '..', 'dist', 'host.cjs'),
];

/** A host of a test's own, gone with all its panes afterwards. */
export async function startTestHost(options: Partial<ConnectHostOptions> = {}): Promise<TestHost> {
  const dir = await mkdtemp(join(tmpdir(), 'poly-host-'));
  const connect = (): Promise<Host> => connectHost({ dir, idleMs: 5_000, spawn: hostProgram, ...options });
  const hosts = [await connect()];
  const host = hosts[0] as Host;
  let panes = 0;
  const open: TestHost['open'] = async (argv, more) => {
    const id = `pane-${++panes}`;
    return { id, pid: (await host.open({ id, argv: [...argv], cwd: '/', env, ...size, ...more })).pid };
  };
  return {
    dir,
    host,
    connect: async () => {
      const another = await connect();
      hosts.push(another);
      return another;
    },
    run: async (argv, { cwd = '/', env: variables = env } = {}) => {
      const id = `run-${++panes}`;
      const { promise, resolve } = Promise.withResolvers<Omit<Run, 'output'>>();
      const forget = host.onExit((ended, exit) => ended === id && resolve(exit));
      try {
        await host.open({ id, argv: [...argv], cwd, env: variables, ...size });
        const exit = await promise;
        return { output: await outputOf(host, id), ...exit };
      } finally {
        forget();
      }
    },
    open,
    printed: async (id, text) => {
      let heard = '';
      for await (const chunk of host.follow(id)) {
        if ('bytes' in chunk) heard += chunk.bytes.toString();
        if (heard.includes(text)) return;
      }
      throw new Error(`${id} ended without printing ${text}, but ${heard}`);
    },
    [Symbol.asyncDispose]: async () => {
      const last = await connectHost({ dir, spawn: false }).catch(() => null); // It has ended by itself.
      await last?.stop({ killPanes: true });
      await Promise.all([...hosts, ...(last ? [last] : [])].map((each) => each.close()));
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** All that is kept of a pane's output. */
export async function outputOf(host: Host, id: string): Promise<string> {
  const parts: Buffer[] = [];
  for (let since = 0, more = true; more; ) {
    const page = await host.read(id, { since });
    parts.push(page.bytes);
    since = page.next;
    more = page.more;
  }
  return Buffer.concat(parts).toString();
}

/** The processes whose command line holds a word. */
export function processesWith(word: string): readonly number[] {
  const lineOf = (pid: string): string => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    } catch {
      return ''; // It has ended just now.
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && lineOf(name).includes(word))
    .map(Number);
}

/** How long something that must happen may take on a busy machine. */
export const soon: { readonly timeout: number } = { timeout: 20_000 };

/** A number no other test sleeps for. */
export function uniqueSeconds(): string {
  return `${10_000 + Math.floor(Math.random() * 10_000)}.${process.pid}`;
}
