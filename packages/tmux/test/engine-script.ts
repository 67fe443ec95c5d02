import { type Engine, execute } from '../src/engine.ts';
import type { Operation } from '../src/operation/operation.ts';
import * as op from '../src/operations/index.ts';

/** What one operation of the script came to, without what no two servers share. */
export interface Entry {
  readonly kind: string;
  readonly status: string;
  readonly value: unknown;
  readonly stderr: readonly string[];
}

const work = { session: 'work' };
const editor = { session: 'work', window: 'editor' };

/** A day in the life of a server: about sixty operations that build, move, ask, fail and take down. */
const script: readonly Operation[] = [
  op.listSessions(),
  op.hasSession({ target: work }),
  op.newSession({ name: 'work', windowName: 'editor', width: 120, height: 43, shell: 'cat' }),
  op.newSession({ name: 'work' }),
  op.hasSession({ target: work }),
  op.hasSession({ target: { session: 'wor' } }),
  op.newSession({ name: 'wörk 🎉', windowName: 'ünï', width: 80, height: 24, shell: 'cat' }),
  op.splitWindow({ target: editor, direction: 'right', shell: 'cat' }),
  op.splitWindow({ target: '%0', size: 10, shell: 'cat' }),
  op.splitWindow({ target: '%0', direction: 'left', size: '25%', select: true, shell: 'cat' }),
  op.splitWindow({ target: '%99' }),
  op.newWindow({ target: work, name: 'logs', shell: 'cat' }),
  op.newWindow({ target: { session: 'work', window: 5 }, name: 'far', shell: 'cat' }),
  op.newWindow({ target: { session: 'work', window: 5 }, name: 'taken', shell: 'cat' }),
  op.newWindow({
    target: { session: 'work', window: 'logs' },
    place: 'before',
    name: 'between',
    shell: 'cat',
  }),
  op.newWindow({ target: { session: 'nobody' }, name: 'lost' }),
  op.listPanes({ all: true }),
  op.listWindows({ target: work }),
  op.listSessions(),
  op.selectWindow({ target: { session: 'work', window: 'far' } }),
  op.selectWindow({ target: { session: 'work', window: 77 } }),
  op.lastWindow({ target: work }),
  op.nextWindow({ target: work }),
  op.previousWindow({ target: { session: 'wörk 🎉' } }),
  op.selectPane({ target: '%2' }),
  op.selectPane({ target: { session: 'work', window: 'editor', pane: 9 } }),
  op.selectPane({ target: '%2', title: 'a title; with #marks' }),
  op.lastPane({ target: '@0' }),
  op.displayMessage({
    target: '%2',
    message: '#{session_name}:#{window_index}.#{pane_index} #{?pane_active,yes,no}',
  }),
  op.displayMessage({ target: { special: 'left', of: '@0' }, message: '#{pane_id}' }),
  op.swapPane({ source: '%0', target: '%1' }),
  op.resizePane({ target: '%0', width: 30 }),
  op.resizePane({ target: '%1', direction: 'down', adjustment: 3 }),
  op.listPanes({ target: '@0' }),
  op.selectLayout({ target: '@0', layout: 'even-vertical' }),
  op.resizePane({ target: '%1', zoom: true }),
  op.listWindows({ target: work, filter: '#{==:#{window_name},editor}' }),
  op.breakPane({ source: '%3', target: work, name: 'broken' }),
  op.joinPane({ source: '%3', target: '%0', direction: 'right' }),
  op.joinPane({ source: '%3', target: '%3' }),
  op.moveWindow({ source: { session: 'work', window: 'far' }, target: { session: 'work', window: 9 } }),
  op.swapWindow({
    source: { session: 'work', window: 'logs' },
    target: { session: 'work', window: 'between' },
  }),
  op.linkWindow({ source: { session: 'work', window: 'logs' }, target: { session: 'wörk 🎉', window: 4 } }),
  op.listWindows({ all: true }),
  op.unlinkWindow({ target: { session: 'wörk 🎉', window: 4 } }),
  op.unlinkWindow({ target: { session: 'work', window: 'logs' } }),
  op.renameWindow({ target: '@0', name: 'renamed: 50% #S' }),
  op.renameSession({ target: { session: 'wörk 🎉' }, name: 'work' }),
  op.renameSession({ target: { session: 'wörk 🎉' }, name: 'other' }),
  op.setOption({ target: work, option: '@mine', value: 'a "quoted" $value; #{x}' }),
  op.showOptions({ target: work, name: '@mine' }),
  op.setOption({ target: work, option: 'no-such-option', value: '1' }),
  op.setEnvironment({ target: work, name: 'COLOUR', value: 'blue' }),
  op.showEnvironment({ target: work, name: 'COLOUR' }),
  op.setHook({ target: work, name: 'after-new-window', command: 'set-option -g @hooked yes' }),
  op.showHooks({ target: work, name: 'after-new-window' }),
  op.setBuffer({ bufferName: 'note', data: 'one\n\ntwo\n\n' }),
  op.setBuffer({ bufferName: 'note', data: 'three;', append: true }),
  op.showBuffer({ bufferName: 'note' }),
  op.showBuffer({ bufferName: 'nothing' }),
  op.listBuffers({ filter: '#{==:#{buffer_name},note}' }),
  op.deleteBuffer({ bufferName: 'note' }),
  op.deleteBuffer({ bufferName: 'note' }),
  op.killPane({ target: '%0' }),
  op.killPane({ target: '%0' }),
  op.killWindow({ target: { session: 'work', window: 'logs' } }),
  op.killWindow({ target: { session: 'work', window: 'logs' } }),
  op.listPanes({ all: true }),
  op.splitWindow({ target: '%1', zoom: true, select: true, shell: 'cat' }),
  op.selectWindow({ target: '@0' }),
  op.selectWindow({ target: { session: 'work', window: 'between' } }),
  op.selectWindow({ target: { session: 'work', window: 'between' }, toggle: true }),
  op.listPanes({ all: true }),
  op.killSession({ target: { session: 'nobody' } }),
  op.killSession({ target: { session: 'other' } }),
  op.listSessions(),
] as readonly unknown[] as readonly Operation[];

/** Columns that hold processes, times, terminals and who is attached: no two servers agree on those. */
const unlike = new Set([
  'pid', 'tty', 'title', 'created', 'activity', 'sessionCreated', 'lastAttached', 'attached', 'sessionAttached',
  'currentCommand', 'currentPath', 'startCommand', 'cursorX', 'cursorY', 'path', 'windowFlags', 'flags',
]); // biome-ignore format: a table

function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, unlike.has(key) ? 'unlike' : comparable(inner)]),
  );
}

/** Runs the script and tells what each operation came to. */
export async function runScript(engine: Engine): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for (const operation of script) {
    const { status, value, stderr } = await execute(engine, operation);
    // tmux names the socket here, and says it in two ways.
    const said = stderr.map((line) =>
      line.replace(/^(no server running on|error connecting to) .*/, 'no server'),
    );
    entries.push({ kind: operation.kind, status, value: comparable(value), stderr: said });
  }
  return entries;
}
