import {
  type Client,
  environmentToPass,
  type PaneInfo,
  type PaneNewResult,
  type PaneReadResult,
  type PaneScreen,
  PolyError,
} from '@polyphony/protocol';
import { age } from '../age.ts';
import { statusColours } from '../agent-colours.ts';
import { type Call, type Command, command } from '../command.ts';
import { choice, pairs, text, time, toggle, wholeNumber } from '../flag.ts';
import { grepPane } from '../grep-pane.ts';
import { type Output, shown } from '../output.ts';
import { callOnPane } from '../panes.ts';
import { standardInput } from '../standard-input.ts';
import { startProgram } from '../start-program.ts';
import { waitForPane } from '../wait-for-pane.ts';
import { countWaiting, waitingNote } from './approvals.ts';

const pane = '<pane>';
/** Invisible characters that turn the direction of text around, and with it what a line seems to say. */
const turning = /[\u202a-\u202e\u2066-\u2069]/g;

export const paneCommands: readonly Command[] = [
  command({
    name: 'run',
    summary: 'Starts a program in a new pane, here in this folder; without a program: your shell.',
    startsHub: true,
    rest: '[program [args…]]',
    args: ['[program…]'],
    flags: {
      backend: choice('Where it lives; tmux when the tmux session is up, otherwise pty.', ['pty', 'tmux']),
      name: text('An id of your own, to say instead of the one that is made.', { value: 'ID' }),
      title: text('What people see.'),
      cwd: text('Where it starts; here when left out.', { value: 'FOLDER' }),
      env: pairs('A variable for it, beside those of this command.'),
      meta: pairs('A note to keep with the pane.'),
      persist: toggle('Start it again when it was lost with a reboot, the tmux server or the host.'),
      attach: toggle('Show it at once and type into it; Ctrl-b d leaves it.'),
      cols: wholeNumber('Columns of its terminal.', { least: 2, most: 1000 }),
      rows: wholeNumber('Rows of its terminal.', { least: 1, most: 1000 }),
    },
    examples: [
      'poly run -- top',
      'poly run --name build -- npm test',
      'poly run --attach -- htop',
      'poly run --backend tmux --cwd ~/src -- vim notes.md',
    ],
    async run(call) {
      const {
        flags: { attach = false, ...flags },
        args,
        rest = [],
        hub,
        env,
        out,
        json,
      } = call;
      if (attach && (json || !process.stdin.isTTY || !process.stdout.isTTY))
        throw new PolyError('invalid_arguments', 'attaching needs a terminal, and a person at it.', {
          hint: 'Leave --attach out.',
        });
      const argv = [...args, ...rest];
      const made = await startProgram<PaneNewResult>('pane:new', argv, { flags, env, hub });
      if (attach)
        return (await import('../attach/attach.ts')).attach({ ...call, args: [made.id], flags: {} });
      if (json) return out.json(made);
      out.line(made.id);
      if (made.notice) out.note(made.notice);
      if (out.isTerminal)
        out.note(out.paint('dim', `poly attach ${made.id} shows it, poly read ${made.id} what it printed.`));
    },
  }),
  command({
    name: 'ls',
    summary: 'Lists the panes.',
    examples: ['poly ls', "poly ls --json | jq -r '.[].id'"],
    async run({ hub, env, out, json }) {
      if (json) return out.json(await hub.call('pane:list', {}));
      const [panes, waiting] = await Promise.all([hub.call('pane:list', {}), countWaiting(hub, env)]);
      if (waiting > 0) out.note(out.paint('yellow', waitingNote(waiting)));
      if (panes.length === 0) return out.note('No panes yet. Start one with: poly run -- top');
      const header = ['PANE', 'STATUS', 'BACKEND', 'TITLE', 'AGE'].map((name) => out.paint('dim', name));
      out.table([...(out.isTerminal ? [header] : []), ...panes.map((info) => rowOf(info, out))], { cut: 3 });
    },
  }),
  command({
    name: 'attach',
    summary: 'Shows a pane and types into it; Ctrl-b d leaves it.',
    args: [pane],
    completes: 'pane',
    examples: ['poly attach pty_1f3c22aa', 'poly attach pty_1f'],
    run: async (call) => (await import('../attach/attach.ts')).attach(call),
  }),
  command({
    name: 'send',
    summary: 'Types into a pane; several lines as one paste, if its program takes pastes.',
    args: [pane, '<text>'],
    flags: { 'no-enter': toggle('Do not press Enter after it.') },
    completes: 'pane',
    examples: [
      'poly send build "npm test"',
      'poly send build --no-enter "half a line"',
      'cat query.sql | poly send database -',
      'poly agent message review "To an agent, and whether it arrived"',
    ],
    async run({ args: [paneId = '', given = ''], flags, hub, out, json }) {
      const data = given === '-' ? await standardInput() : given;
      const type = (text: string, enter: boolean): Promise<{ bytes: number }> =>
        callOnPane(hub, 'pane:write', { paneId, data: text, enter } as { paneId: string });
      const enter = flags['no-enter'] !== true;
      const lines = data.replace(/\n$/, '');
      const pasted = lines.includes('\n') && (await takesPastes(hub, paneId));
      // Enter comes apart: right behind a paste some programs take it for a part of it.
      const written = pasted ? await type(await bracketed(lines), false) : await type(data, enter);
      const entered = pasted && enter ? await type('', true) : { bytes: 0 };
      if (json) out.json({ bytes: written.bytes + entered.bytes });
    },
  }),
  command({
    name: 'keys',
    summary: 'Presses keys in a pane.',
    args: [pane, '<key…>'],
    completes: 'pane',
    examples: ['poly keys build C-c', 'poly keys editor Escape : w q Enter'],
    async run({ args: [paneId = '', ...keys], hub, out, json }) {
      const result = await callOnPane(hub, 'pane:keys', { paneId, keys } as { paneId: string }).catch(noKey);
      if (json) out.json(result);
    },
  }),
  command({
    name: 'read',
    summary: 'Prints what a pane has printed.',
    args: [pane],
    flags: {
      tail: wholeNumber('The last lines, with --grep the last that match; 500 when nothing else is said.', {
        most: 100_000,
        short: 'n',
      }),
      since: wholeNumber('From this byte on, as "next" of an earlier answer says.', { value: 'OFFSET' }),
      grep: text('Only lines that match, of everything still kept; exit code 1 when none does.', {
        value: 'RE',
      }),
      'ignore-case': toggle('Match upper and lower case alike.', { short: 'i' }),
      raw: toggle('The bytes as they were printed.'),
      follow: toggle('Go on as more is printed, until the pane ends.', { short: 'f' }),
    },
    completes: 'pane',
    examples: [
      'poly read build --tail 20',
      'poly read build --grep error -i',
      'poly read build -f',
      'poly read build -f --grep error -i',
      'poly read build --since 4096 --json',
    ],
    run: read,
  }),
  command({
    name: 'screen',
    summary: 'Prints what a pane shows now.',
    args: [pane],
    completes: 'pane',
    examples: ['poly screen editor', 'poly screen editor --json'],
    async run({ args: [paneId = ''], hub, out, json }) {
      const screen = await callOnPane<PaneScreen>(hub, 'pane:screen', { paneId });
      if (json) return out.json(screen);
      const last = screen.lines.findLastIndex((line) => line !== '');
      for (const line of screen.lines.slice(0, last + 1)) out.line(line.replace(turning, ''));
    },
  }),
  command({
    name: 'wait',
    summary: 'Waits until a pane has ended, printed something or fallen silent.',
    args: [pane],
    flags: {
      exit: toggle('Until it has ended, also when nothing is said; every wait ends then.'),
      text: text('Until a line that comes matches.', { value: 'RE' }),
      idle: time('Until nothing was printed for so long; not before something has been.', 'ms', {
        most: 3_600_000,
      }),
      since: wholeNumber('What is printed from this byte on counts; otherwise from now on.', {
        value: 'OFFSET',
      }),
      timeout: time('At most so long; then the exit code is 5.', 's'),
    },
    completes: 'pane',
    examples: [
      'poly wait build',
      "poly wait server --text 'listening on' --since 0",
      'poly wait repl --idle 500ms --timeout 2m',
    ],
    run: waitForPane,
  }),
  command({
    name: 'kill',
    summary: 'Ends panes with everything they started; their output stays readable.',
    args: ['[pane…]'],
    flags: {
      all: toggle('Every pane that runs; asks first, where somebody can answer.'),
      yes: toggle('Do not ask.', { short: 'y' }),
      cleanup: toggle('Forget their records and output too.'),
    },
    completes: 'pane',
    examples: [
      'poly kill build',
      'poly kill build tests --cleanup',
      'poly kill --all',
      'poly kill --all --yes',
    ],
    run: async (call) => (await import('../kill-panes.ts')).killPanes(call),
  }),
  command({
    name: 'prune',
    summary: 'Forgets every pane that has ended, with its output, and ends what it left running.',
    examples: ['poly prune', 'poly prune --json'],
    async run({ hub, out, json }) {
      const pruned = await hub.call('pane:prune', {});
      if (json) return out.json(pruned);
      for (const id of pruned.ids) out.line(id);
      if (pruned.ids.length === 0) out.note('No pane has ended.');
    },
  }),
  command({
    name: 'restart',
    summary:
      'Starts the program of a pane anew, with its folder, title and notes, in a pane that takes its place.',
    args: [pane],
    flags: { env: pairs('A variable for it, beside those of this command.') },
    completes: 'pane',
    examples: ['poly restart server', 'poly restart server --env DEBUG=1'],
    async run({ args: [paneId = ''], flags, env, hub, out, json }) {
      const params = { paneId, env: { ...environmentToPass(env), ...flags.env } };
      const made = await callOnPane<PaneNewResult>(hub, 'pane:restart', params);
      if (json) return out.json(made);
      out.line(made.id);
    },
  }),
];

interface ReadFlags {
  readonly tail?: number;
  readonly since?: number;
  readonly grep?: string;
  readonly 'ignore-case'?: boolean;
  readonly raw?: boolean;
  readonly follow?: boolean;
}

async function read(call: Call & { flags: ReadFlags }): Promise<number | undefined> {
  const { args, flags, hub, out, json } = call;
  const [paneId = ''] = args;
  const { tail, since, grep, raw } = flags;
  if (tail !== undefined && since !== undefined)
    throw new PolyError('invalid_arguments', 'say either --tail or --since.');
  if (grep !== undefined && raw)
    throw new PolyError('invalid_arguments', '--grep reads lines: leave --raw out.');
  if (flags['ignore-case'] && grep === undefined)
    throw new PolyError('invalid_arguments', '-i says how --grep matches, and there is no --grep.', {
      hint: `Say what to look for: poly read ${paneId} --grep RE -i`,
    });
  if (flags.follow) return (await import('../follow-output.ts')).followOutput(call, { ...flags, paneId });
  if (grep !== undefined) return grepPane(call, { ...flags, paneId, grep });
  const ask = (range: object): Promise<PaneReadResult> =>
    callOnPane(hub, 'pane:read', { paneId, ...(raw && { view: 'raw' }), ...range });
  const first =
    tail === undefined
      ? await ask(since === undefined ? {} : { since })
      : await (await import('../read-tail.ts')).readTail(ask, tail);
  const pages = [first];
  let last = first;
  // What fits into one answer comes in one.
  while ((since !== undefined || tail !== undefined) && last.more) {
    last = await ask({ since: last.next });
    pages.push(last);
  }
  const lines = pages.flatMap((page) => page.lines ?? []);
  const data = Buffer.concat(pages.map((page) => Buffer.from(page.data ?? '', 'base64')));
  if (json) {
    const what = raw ? { data: data.toString('base64') } : { lines };
    out.json({ ...last, from: first.from, truncated: pages.some(({ truncated }) => truncated), ...what });
  } else if (raw) out.bytes(data);
  else for (const { text } of lines) out.line(text);
  if (since !== undefined && since > last.next && !first.truncated)
    out.note(`poly: ${paneId} has printed ${last.next} bytes so far: nothing stands at byte ${since} yet.`);
  for (const page of pages.slice(1).filter(({ truncated }) => truncated))
    out.note(
      `poly: something is missing before ${raw ? `byte ${page.from}` : `line ${page.lines?.[0]?.n}`}.`,
    );
  const before = (lines[0]?.n ?? 1) - 1;
  if (!json && !raw && first.truncated && first.from <= first.retainedFrom)
    out.note('poly: what was printed before that is no longer kept.');
  else if (out.isTerminal && !raw && since === undefined && tail === undefined && before > 0)
    out.note(`poly: ${before} lines stand before these; --tail N shows more.`);
  return undefined;
}

/** Unknown on some versions of tmux, where marks would be typed as text. */
async function takesPastes(hub: Client, paneId: string): Promise<boolean> {
  return (await callOnPane<PaneScreen>(hub, 'pane:screen', { paneId })).bracketedPaste === true;
}

/** One paste, which nothing in it can end before its end. */
async function bracketed(lines: string): Promise<string> {
  const { withoutPasteBrackets } = await import('@polyphony/tmux');
  return `\x1b[200~${withoutPasteBrackets(lines).replaceAll(/\r?\n/g, '\r')}\x1b[201~`;
}

function noKey(error: unknown): never {
  if (!(error instanceof PolyError) || error.code !== 'invalid_arguments') throw error;
  const keys = error.hint?.replace(/ Text is typed.*/, '');
  throw new PolyError(error.code, error.message, {
    hint: [keys, 'Type text with: poly send'].filter(Boolean).join(' '),
    cause: error,
  });
}

function rowOf(info: PaneInfo, out: Output): readonly string[] {
  const { id, backend, title, meta, createdAt } = info;
  const { 'agent.reason': reason } = info.status === 'running' ? meta : {};
  return [
    out.paint('cyan', id),
    stateOf(info, out),
    backend,
    shown([title, reason].filter(Boolean).join(' · '), 200),
    out.paint('dim', age(Date.parse(createdAt))),
  ];
}

function stateOf({ status, exitCode, exitSignal, meta }: PaneInfo, out: Output): string {
  const agent = meta['agent.status'];
  if (status === 'running' && typeof agent === 'string')
    return out.paint(statusColours[agent] ?? 'dim', `● agent ${agent}`);
  if (status === 'running') return out.paint('green', '● running');
  return exitCode === 0
    ? out.paint('dim', '✓ exited 0')
    : out.paint('red', `✕ exited ${exitSignal ?? exitCode ?? '?'}`);
}
