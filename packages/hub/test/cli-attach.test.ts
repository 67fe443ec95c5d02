import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type IPty, spawn } from '@lydell/node-pty';
import type { PaneInfo, PaneScreen } from '@polyphony/protocol';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CliGround } from './cli-ground.ts';

const ground = new CliGround();
beforeAll(() => ground.ok('up'), 60_000);
afterAll(() => ground[Symbol.asyncDispose]());

/** A terminal with a command in it, as a person would have it before them. */
class Terminal {
  #seen = '';
  readonly #pty: IPty;
  readonly ended: Promise<number>;
  #look: () => void = () => undefined;

  constructor(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
    const env = Object.entries(ground.env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    this.#pty = spawn(process.execPath, [ground.program, ...args], {
      cols: 80,
      rows: 24,
      cwd: ground.home,
      env: { ...Object.fromEntries(env), TERM: 'xterm-256color', ...more },
    });
    this.#pty.onData((text) => {
      this.#seen += text;
      this.#look();
    });
    this.ended = new Promise((resolve) => this.#pty.onExit(({ exitCode }) => resolve(exitCode)));
  }

  get pid(): number {
    return this.#pty.pid;
  }

  get seen(): string {
    return this.#seen;
  }

  type(text: string): void {
    this.#pty.write(text);
  }

  resize(cols: number, rows: number): void {
    this.#pty.resize(cols, rows);
  }

  /** Settles when this has been shown since the last wait. */
  async shows(wanted: string | RegExp): Promise<string> {
    const isThere = () =>
      typeof wanted === 'string' ? this.#seen.includes(wanted) : wanted.test(this.#seen);
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`did not show ${wanted}; it shows ${JSON.stringify(this.#seen)}`)),
        20_000,
      );
      this.#look = () => {
        if (!isThere()) return;
        clearTimeout(timer);
        resolve();
      };
      this.#look();
    });
    const seen = this.#seen;
    this.#seen = '';
    return seen;
  }

  kill(): void {
    this.#pty.kill();
  }
}

const opened: Terminal[] = [];
const open = (...args: string[]): Terminal => {
  const terminal = new Terminal(args);
  opened.push(terminal);
  return terminal;
};
afterEach(() => {
  for (const terminal of opened.splice(0)) terminal.kill();
});

const clean = '\x1b[?25h';

describe('poly attach on a pty pane', () => {
  it('shows the screen there is, types, follows the size, and leaves with Ctrl-b d', async () => {
    await ground.ok('run', '--name', 'shell', '--', 'sh', '-i');
    await ground.ok('send', 'shell', 'PS1="ready> "; echo $((40+2)) before');
    const terminal = open('attach', 'shell');
    expect(await terminal.shows('42 before')).not.toContain('\r\r\n');
    terminal.type('stty size\r');
    await terminal.shows('24 80');
    terminal.resize(100, 30);
    while ((await ground.json<PaneScreen>('screen', 'shell')).cols !== 100);
    terminal.type('stty size\r');
    await terminal.shows('30 100');
    terminal.type('echo $((1+1))"\x02\x02"two | od -c | head -1\r');
    await terminal.shows(/2 002 {3}t {3}w {3}o/);
    terminal.type('\x02d');
    const last = await terminal.shows('[detached from shell; it goes on]');
    expect(last).toContain(clean);
    expect(await terminal.ended).toBe(0);
    const [pane] = await ground.json<readonly PaneInfo[]>('ls');
    expect(pane?.status).toBe('running');
  }, 60_000);

  it('goes on where it was when the hub restarts', async () => {
    const terminal = open('attach', 'shell');
    await terminal.shows('ready> ');
    await ground.ok('server', 'restart');
    terminal.type('\x15echo still $((50+5))\r');
    try {
      await terminal.shows('still 55');
    } catch {
      // A key that was typed while no hub was there to take it is gone; the next one is not.
      terminal.type('\x15echo still $((50+5))\r');
      await terminal.shows('still 55');
    }
    terminal.type('\x02d');
    expect(await terminal.ended).toBe(0);
  }, 90_000);

  it('leaves the terminal clean when it is terminated', async () => {
    const terminal = open('attach', 'shell');
    await terminal.shows('ready> ');
    terminal.type("printf '\\033[?1049h\\033[?1000hfull'\r");
    await terminal.shows(/\x1b\[\?1049h.*full/s);
    process.kill(terminal.pid, 'SIGTERM');
    const last = await terminal.shows('\x1b[?1049l');
    expect(last).toContain('\x1b[?1000l');
    expect(last).toContain(clean);
    expect(await terminal.ended).toBe(143);
    await ground.ok('send', 'shell', "printf '\\033[?1049l\\033[?1000l'");
  }, 60_000);

  it('tells how the program ended, with its last words', async () => {
    const terminal = open('attach', 'shell');
    await terminal.shows('ready> ');
    terminal.type('echo $((4+4))-last-words; exit 3\r');
    const last = await terminal.shows('[shell ended with 3]');
    expect(last).toContain('8-last-words');
    expect(last).toContain(clean);
    expect(await terminal.ended).toBe(0);
    const { code, stderr } = await ground.run(['attach', 'shell']);
    expect([code, stderr.includes('needs a terminal')]).toEqual([2, true]);
    const again = open('attach', 'shell');
    await again.shows('the program of shell has ended');
    expect(await again.ended).toBe(4);
  }, 60_000);
});

describe('poly in a terminal', () => {
  it('paints, unless NO_COLOR or TERM asks it not to', async () => {
    for (const [env, painted] of [
      [{}, true],
      [{ NO_COLOR: '1' }, false],
      [{ TERM: 'dumb' }, false],
    ] as const) {
      const terminal = new Terminal(['ls'], env);
      expect(await terminal.ended).toBe(0);
      expect(terminal.seen.includes('\x1b[36mshell')).toBe(painted);
      expect(terminal.seen).toContain('shell');
    }
  });
});

describe('poly attach on a tmux pane', () => {
  it('selects the pane and puts a tmux client into the terminal', async () => {
    await ground.ok('session', 'start');
    await ground.ok(
      'run',
      '--name',
      'one',
      '--backend',
      'tmux',
      '--',
      'sh',
      '-c',
      'echo first-$((1)); exec cat',
    );
    await ground.ok(
      'run',
      '--name',
      'two',
      '--backend',
      'tmux',
      '--',
      'sh',
      '-c',
      'echo second-$((2)); exec cat',
    );
    const terminal = open('attach', 'one');
    await terminal.shows('first-1');
    const tmux = (...args: string[]) =>
      promisify(execFile)('tmux', ['-S', join(ground.home, 'tmux.sock'), ...args]);
    expect((await tmux('list-clients')).stdout).not.toBe('');
    await tmux('detach-client', '-s', 'poly');
    expect(await terminal.ended).toBe(0);
    const session = open('session', 'attach');
    await session.shows('first-1');
    await tmux('detach-client', '-s', 'poly');
    expect(await session.ended).toBe(0);
    await ground.ok('session', 'stop');
    expect((await ground.run(['session', 'attach'])).code).toBe(3);
  }, 60_000);
});
