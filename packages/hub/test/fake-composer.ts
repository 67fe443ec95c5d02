import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Backend, Client, MailRegisterResult } from '@polyphony/protocol';
import { type TestHub, until } from './test-hub.ts';

const hook = join(import.meta.dirname, '..', 'hooks', 'capture.sh');
const screens = join(import.meta.dirname, 'screens', 'claude');

/** Draws like Claude Code, takes pastes and keys as its composer does, and writes down what was submitted or approved. */
const program = `#!${process.execPath}
const { appendFileSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { createServer } = require('node:net');
const { spawnSync } = require('node:child_process');
const dir = process.env.FAKE_DIR;
const screen = (name) => readFileSync(${JSON.stringify(screens)} + '/' + name + '.txt', 'utf8').trimEnd().split('\\n');
const state = { show: 'idle-120x40', draft: '', echo: true, hooks: true, ticks: 0, pasted: 0 };
let timer;
function draw() {
  const lines = screen(state.show).slice(-30);
  const at = lines.findLastIndex((line) => /^❯/.test(line));
  if (/^(idle|working)/.test(state.show)) {
    const shown = state.echo ? state.draft : '';
    lines[at] = '❯ ' + (shown.match(/.{1,76}/g) ?? []).join('\\n  ');
  }
  if (state.ticks > 0) lines.unshift('tick ' + state.ticks);
  process.stdout.write('\\x1b[H\\x1b[2J' + lines.join('\\r\\n').replace(/(?<!\\r)\\n/g, '\\r\\n'));
}
function note(kind, text) { appendFileSync(dir + '/log', JSON.stringify({ kind, text, at: Date.now() }) + '\\n'); }
function fire(event, more) {
  const input = JSON.stringify({ session_id: 's1', hook_event_name: event, cwd: '/', ...more });
  if (state.hooks) spawnSync('sh', [${JSON.stringify(hook)}, 'claude'], { input });
}
function enter() {
  if (state.show.startsWith('permission')) return note('approved', '');
  if (state.draft === '') return note('empty', '');
  const prompt = state.draft;
  state.draft = '';
  state.show = 'working-80x24';
  note('submitted', prompt.trimEnd());
  draw();
  fire('UserPromptSubmit', { prompt });
}
let pasting = false;
function take(text) {
  for (const [part] of text.matchAll(/\\x1b\\[20[01]~|\\x1b\\[[0-9;?]*[a-zA-Z]|[^]/g)) {
    if (part === '\\x1b[200~') { pasting = true; state.pasted += 1; note('pasted', ''); }
    else if (part === '\\x1b[201~') pasting = false;
    else if (part === '\\r' && !pasting) enter();
    else if (part.length === 1) state.draft += part;
  }
  draw();
}
process.stdin.setRawMode(true);
process.stdin.setEncoding('utf8').on('data', take);
process.stdout.write('\\x1b[?2004h');
createServer((socket) => {
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk) => (text += chunk)).on('end', () => {
    const { fire: event, every, ...more } = JSON.parse(text);
    Object.assign(state, more);
    clearInterval(timer);
    if (every) timer = setInterval(() => { state.ticks += 1; draw(); }, every);
    draw();
    if (event) fire(...event);
    socket.end();
  });
}).listen(dir + '/control', () => { writeFileSync(dir + '/starting', process.pid + ' ' + process.env.POLY_TOKEN); renameSync(dir + '/starting', dir + '/started'); });
draw();
`;

interface Noted {
  readonly kind: 'submitted' | 'approved' | 'empty' | 'pasted';
  readonly text: string;
  readonly at: number;
}

interface Order {
  /** The recorded screen it draws around its draft. */
  readonly show?: string;
  readonly draft?: string;
  /** Whether its composer shows what is typed. */
  readonly echo?: boolean;
  /** Whether its hooks are installed. */
  readonly hooks?: boolean;
  /** Draws something new every so many milliseconds. */
  readonly every?: number;
  readonly fire?: readonly [event: string, more?: object];
}

interface StartOptions {
  readonly backend?: Backend;
  readonly name: string;
  /** As a job of a shell, and not as the program of its pane. */
  readonly inShell?: boolean;
}

/** A program that looks like Claude Code and takes what is typed; ordered about by a door of its own. */
export class FakeComposer {
  readonly #dir: string;
  readonly paneId: string;
  readonly pid: number;
  readonly #token: string;

  private constructor(dir: string, paneId: string) {
    this.#dir = dir;
    this.paneId = paneId;
    const [pid, token = ''] = readFileSync(join(dir, 'started'), 'utf8').split(' ');
    this.pid = Number(pid);
    this.#token = token;
  }

  static async start(
    hub: TestHub,
    { backend = 'pty', name, inShell = false }: StartOptions,
  ): Promise<FakeComposer> {
    const dir = join(hub.home, `fake-${name}`);
    mkdirSync(dir);
    const file = join(dir, 'claude');
    writeFileSync(file, program);
    chmodSync(file, 0o700);
    if (backend === 'tmux') await hub.client.call('session:start', {});
    const env = { FAKE_DIR: dir };
    const { id } = inShell
      ? await hub.client.call('pane:new', { argv: ['bash', '--norc', '-i'], backend, env })
      : await hub.client.call('agent:create', { argv: [file], env });
    if (inShell) await hub.client.call('pane:write', { paneId: id, data: file, enter: true });
    await until(() => existsSync(join(dir, 'started')));
    return new FakeComposer(dir, id);
  }

  /** The agent itself, as the credential of its pane proves. */
  client(hub: TestHub): Client {
    return hub.as(this.#token);
  }

  register(hub: TestHub, name: string): Promise<MailRegisterResult> {
    return this.client(hub).call('mail:register', { name, project: 'demo' });
  }

  async order(order: Order): Promise<void> {
    const socket = connect(join(this.#dir, 'control'));
    socket.end(JSON.stringify(order));
    socket.resume();
    await once(socket, 'close');
  }

  /** What happened to it, in order. */
  get noted(): readonly Noted[] {
    const file = join(this.#dir, 'log');
    if (!existsSync(file)) return [];
    return readFileSync(file, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Noted);
  }

  get submitted(): readonly string[] {
    return this.noted.flatMap(({ kind, text }) => (kind === 'submitted' ? [text] : []));
  }
}
