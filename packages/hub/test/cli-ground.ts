import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** As bundled before the tests, see vitest.config.ts. */
const program = join(import.meta.dirname, '..', 'dist', 'poly.cjs');

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string;
  readonly cwd?: string;
}

/** Grounds of tests that ran out of time do not get to clean up by themselves. */
const living = new Set<CliGround>();
process.once('exit', () => {
  for (const { program, env } of living)
    spawnSync(process.execPath, [program, 'server', 'stop', '--all'], { env });
});

/** The command as it is built, with a home of its own. */
export class CliGround implements AsyncDisposable {
  readonly home: string;
  readonly program: string = program;
  readonly env: Record<string, string | undefined>;

  constructor() {
    this.home = mkdtempSync(join(tmpdir(), 'poly-cli-'));
    this.env = {
      ...Object.fromEntries(
        Object.entries(process.env).filter(([name]) => !/^(POLY_|TMUX|NO_COLOR|FORCE_COLOR)/.test(name)),
      ),
      HOME: this.home,
      POLY_HOME: join(this.home, '.poly'),
      POLY_TMUX_SOCKET: join(this.home, 'tmux.sock'),
      NODE_OPTIONS: '--conditions=polyphony-source',
      POLY_NO_TCP: '1',
    };
    living.add(this);
  }

  /** Runs one command line to its end. */
  run(args: readonly string[], { env = {}, input, cwd = this.home }: RunOptions = {}): Promise<Outcome> {
    const child = spawn(process.execPath, [this.program, ...args], {
      cwd,
      env: { ...this.env, ...env },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    child.stdin?.end(input);
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) =>
        resolve({ code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }),
      );
    });
  }

  /** What a command prints, which must go well. */
  async ok(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(args);
    if (code !== 0) throw new Error(`poly ${args.join(' ')} ended with ${code}: ${stderr}`);
    return stdout;
  }

  async json<T>(...args: readonly string[]): Promise<T> {
    return JSON.parse(await this.ok('--json', ...args)) as T;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run(['server', 'stop', '--all']);
    living.delete(this);
    rmSync(this.home, { recursive: true, force: true });
  }
}
