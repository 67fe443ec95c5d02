import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type IPty, spawn } from '@lydell/node-pty';
import type { PaneInfo, PaneScreen, ServerStatus } from '@polyphony/protocol';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readDiscovery } from '../src/edges/cli/find-hub.ts';
import { CliGround } from './cli-ground.ts';
import { until } from './test-hub.ts';

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
const borrowed = '\x1b[?1049h';
const givenBack = '\x1b[?1049l';

describe('poly attach on a pty pane', () => {
  it('shows the screen there is, types, follows the size, and leaves with Ctrl-b d', async () => {
    await ground.ok('run', '--name', 'shell', '--', 'sh', '-i');
    await ground.ok('send', 'shell', 'PS1="ready> "; echo $((40+2)) before');
    const terminal = open('attach', 'shell');
    const first = await terminal.shows('42 before');
    expect(first).not.toContain('\r\r\n');
    // On a busy machine it has said before what it waits for, in a line that it takes back.
    expect(first.slice(0, first.indexOf(borrowed) + 1)).toMatch(/^([^\n]*\r\x1b\[K)?\x1b$/);
    const isWide = async (cols: number): Promise<void> => {
      while ((await ground.json<PaneScreen>('screen', 'shell')).cols !== cols);
    };
    await isWide(80);
    terminal.type('stty size\r');
    await terminal.shows('24 80');
    terminal.resize(100, 30);
    await isWide(100);
    terminal.type('stty size\r');
    await terminal.shows('30 100');
    terminal.type('echo $((1+1))"\x02\x02"two | od -c | head -1\r');
    await terminal.shows(/2 002 {3}t {3}w {3}o/);
    terminal.type('\x02d');
    const last = await terminal.shows('[detached from shell; it goes on]');
    expect(last).toMatch(/\x1b\[\?25h.*\x1b\[\?1049l\[detached/s);
    expect(await terminal.ended).toBe(0);
    const [pane] = await ground.json<readonly PaneInfo[]>('ls');
    expect(pane?.status).toBe('running');
  }, 60_000);

  it('asks the terminal nothing that the hub answers', async () => {
    const ask = String.raw`stty raw -echo; echo here; head -c 1 >/dev/null; printf 'a\033[cb'
      head -c 7 | tr '\033' '^'`;
    await ground.ok('run', '--name', 'asker', '--', 'sh', '-c', ask);
    const terminal = open('attach', 'asker');
    await terminal.shows('here');
    terminal.type('x');
    expect(await terminal.shows('^[?1;2c')).toContain('ab^[?1;2c');
  });

  it('has the size of whoever types, and that of who is left when they go', async () => {
    await ground.ok('run', '--name', 'shared', '--', 'sh', '-i');
    const isWide = async (cols: number): Promise<void> => {
      while ((await ground.json<PaneScreen>('screen', 'shared')).cols !== cols);
    };
    const large = open('attach', 'shared');
    await isWide(80);
    large.resize(100, 30);
    await isWide(100);
    const small = open('attach', 'shared');
    await isWide(80);
    large.type('#');
    await isWide(100);
    small.type('#');
    await isWide(80);
    small.type('\x02d');
    expect(await small.ended).toBe(0);
    await isWide(100);
    const other = open('attach', 'shared');
    await isWide(80);
    other.kill();
    await isWide(100);
    large.type('\x02d');
    expect(await large.ended).toBe(0);
    expect((await ground.json<PaneScreen>('screen', 'shared')).cols).toBe(100);
    await ground.ok('kill', 'shared', '--cleanup');
  }, 120_000);

  it('goes on where it was when the hub restarts', async () => {
    const terminal = open('attach', 'shell');
    await terminal.shows('ready> ');
    await ground.ok('server', 'stop');
    terminal.type('x');
    await terminal.shows('\x07');
    await ground.ok('server', 'start');
    // The hub is back before this terminal has found it.
    for (let back = false; !back; ) {
      terminal.type('\x15echo still $((50+5))\r');
      back = /still 55/.test(await terminal.shows(/still 55|\x07/));
    }
    terminal.type('\x02d');
    await terminal.shows('[keys typed while the hub was away were lost]');
    expect(await terminal.ended).toBe(0);
  }, 90_000);

  it('starts a hub again that was killed under it', async () => {
    const terminal = open('attach', 'shell');
    await terminal.shows('ready> ');
    const { pid } = await ground.json<ServerStatus>('server', 'status');
    process.kill(pid, 'SIGKILL');
    await until(() => readDiscovery(ground.env)?.pid !== pid);
    for (let back = false; !back; ) {
      terminal.type('\x15echo back $((60+6))\r');
      back = /back 66/.test(await terminal.shows(/back 66|\x07/));
    }
    terminal.type('\x02d');
    expect(await terminal.ended).toBe(0);
  }, 90_000);

  it('leaves the terminal clean when it is terminated', async () => {
    const terminal = open('attach', 'shell');
    await terminal.shows('ready> ');
    terminal.type("printf '\\033[?1049h\\033[?1000hfull'\r");
    expect(await terminal.shows(/\x1b\[\?1000hfull/)).not.toContain(borrowed);
    process.kill(terminal.pid, 'SIGTERM');
    const last = await terminal.shows(givenBack);
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

  it('heads a list of panes, and keeps each on one line', async () => {
    await ground.ok('run', '--name', 'long', '--title', `${'wide '.repeat(30)}end`, '--', 'cat');
    const terminal = new Terminal(['ls'], { NO_COLOR: '1' });
    expect(await terminal.ended).toBe(0);
    const [header = '', ...rows] = terminal.seen.trimEnd().split('\r\n');
    expect(header).toMatch(/^PANE +STATUS +BACKEND +TITLE +AGE$/);
    expect(rows.find((row) => row.startsWith('long'))).toMatch(/^long .* wide .*… {2}\d+s$/);
    for (const row of [header, ...rows]) expect(row.length).toBeLessThanOrEqual(80);
    await ground.ok('kill', 'long', '--cleanup');
  });
});

describe('poly agent message in a terminal', () => {
  it('says what it waits for', async () => {
    writeFileSync(join(ground.home, 'codex'), '#!/bin/sh\nread -r line', { mode: 0o700 });
    await ground.ok('agent', 'create', '--name', 'slow', '--', join(ground.home, 'codex'));
    const terminal = open('agent', 'message', 'slow', 'hello');
    await terminal.shows('waiting until slow takes the message …');
    await ground.ok('send', 'slow', '');
    await terminal.shows('Not sent: it has ended.');
    expect(await terminal.ended).toBe(1);
    await ground.ok('prune');
  }, 60_000);
});

describe('poly kill --all in a terminal', () => {
  it('asks first, and ends nothing unless the answer is yes', async () => {
    await ground.ok('prune');
    await ground.ok('run', '--name', 'asked-about', '--', 'cat');
    for (const [answer, code, left] of [
      ['\r', 1, 1],
      ['no\r', 1, 1],
      ['\x04', 1, 1],
      ['y\r', 0, 0],
    ] as const) {
      const terminal = open('kill', '--all', '--cleanup');
      await terminal.shows('End 1 pane (asked-about), with everything they started? [y/N] ');
      terminal.type(answer);
      expect(await terminal.ended).toBe(code);
      expect(await ground.json<readonly PaneInfo[]>('ls')).toHaveLength(left);
    }
  }, 60_000);
});

describe('poly attach on a tmux pane', () => {
  const tmux = async (...args: string[]) =>
    (await promisify(execFile)('tmux', ['-S', join(ground.home, 'tmux.sock'), ...args])).stdout;

  it('shows each terminal its own pane, in a session that goes when it does', async () => {
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
    const one = open('attach', 'one');
    await one.shows('first-1');
    const two = open('attach', 'two');
    await two.shows('second-2');
    const clients = await tmux('list-clients', '-F', '#{client_control_mode} #{@poly-pane} #{session_name}');
    const views = clients
      .split('\n')
      .map((line) => line.split(' '))
      .filter(([program]) => program === '0');
    expect(views.map(([, pane]) => pane).sort()).toEqual(['one', 'two']);
    one.type('typed-here\r');
    await one.shows('typed-here');
    expect(two.seen).not.toContain('typed-here');
    // By command: tmux takes a key within a millisecond of another for a paste, and Ctrl-b for text.
    for (const [, , view = ''] of views) await tmux('detach-client', '-s', `=${view}`);
    expect([await one.ended, await two.ended]).toEqual([0, 0]);
    expect((await tmux('list-sessions', '-F', '#{session_name}')).trim()).toBe('poly');
    const session = open('session', 'attach');
    await session.shows('poly');
    await tmux('detach-client', '-s', 'poly');
    expect(await session.ended).toBe(0);
    expect(await ground.ok('session', 'stop')).toBe('The tmux session and every pane in it have ended.\n');
    expect((await ground.run(['session', 'attach'])).code).toBe(3);
  }, 60_000);

  it('says what it does inside of tmux, and to a pane only what it may see', async () => {
    await ground.ok('session', 'start');
    const poly = `'${process.execPath}' '${ground.program}'`;
    const inner = `${poly} session attach; ${poly} attach other; exec cat`;
    await ground.ok('run', '--name', 'other', '--', 'cat');
    await ground.ok('run', '--name', 'inner', '--backend', 'tmux', '--', 'sh', '-c', inner);
    let said = '';
    while (!said.includes('may see')) said = await ground.ok('read', 'inner');
    expect(said).toContain('This is the tmux session "poly" already; Ctrl-b w shows its windows.');
    expect(said).toContain('there is no pane "other" that inner may see.');

    await tmux('new-session', '-d', '-s', 'mine', 'sh');
    const terminal = open('session', 'attach');
    await terminal.shows('[poly]');
    await tmux('switch-client', '-t', 'mine');
    await tmux(
      'send-keys',
      '-t',
      '=mine:',
      `POLY_HOME='${ground.home}/.poly' ${poly} session attach`,
      'Enter',
    );
    let shown = '';
    while (!shown.includes('The terminal shows poly now; Ctrl-b L goes back.'))
      shown = await tmux('capture-pane', '-p', '-t', '=mine:');
    expect(await tmux('list-clients', '-F', '#{client_session} #{client_control_mode}')).toContain('poly 0');

    const nested = new Terminal(['session', 'attach'], { TMUX: '/elsewhere/default,1,0' });
    opened.push(nested);
    // Both at once, since they may come in one piece.
    await nested.shows(
      /This terminal is inside another tmux: Ctrl-b goes to that one\. Ctrl-b Ctrl-b d leaves\..*\[poly\]/s,
    );
    // Not the hub's to end.
    await tmux('kill-session', '-t', '=mine');
  }, 60_000);
});
