import { PolyError } from '@polyphony/protocol';
import * as z from 'zod';
import { done } from './answers.ts';
import { sparedEngine } from './guarded-engine.ts';
import { count, folder, maybe, place, target, words, yes } from './params.ts';
import { raisedByOption, raisedByStart } from './raised.ts';
import { spareCaller } from './spare-caller.ts';
import { parseTarget, resolveTarget } from './target.ts';
import { type Verb, verb } from './verb.ts';
import { markNext } from './waiting.ts';

const share = z.union([z.int().min(1), z.string().regex(/^([1-9]\d?|100)%$/)]);
const size = share.describe('Cells, or 30%').optional();
type Share = number | `${number}%` | undefined;

const between = { src: target, dst: target };

/** What changes something, and ends nothing. */
export const changing: Readonly<Record<string, Verb>> = {
  create_session: verb({
    description: 'Makes a session nobody is attached to.',
    effect: 'write',
    answers: { session_id: words, window_id: words, pane_id: words },
    params: {
      name: maybe,
      start_directory: folder,
      environment: z.record(z.string(), z.string()).optional(),
      width: count,
      height: count,
    },
    raised: raisedByStart,
    async run({ name, start_directory: startDirectory, environment, width, height }, { run, tmux, context }) {
      const made = await run(
        tmux.newSession({
          ...{ name, environment, width, height },
          startDirectory: startDirectory ?? context.place.cwd ?? '/',
        }),
      );
      return done(`Session ${made.sessionId} with pane ${made.paneId}.`, {
        session_id: made.sessionId,
        window_id: made.windowId,
        pane_id: made.paneId,
      });
    },
  }),
  create_window: verb({
    description: 'Opens a window in a session, in the background.',
    effect: 'write',
    answers: { window_id: words, pane_id: words },
    params: { target, name: maybe, start_directory: folder },
    async run({ target: session, name, start_directory: startDirectory }, { run, tmux }) {
      const made = await run(tmux.newWindow({ target: parseTarget(session), name, startDirectory }));
      return done(`Window ${made.windowId} with pane ${made.paneId}.`, {
        window_id: made.windowId,
        pane_id: made.paneId,
      });
    },
  }),
  split_pane: verb({
    description: 'Splits a pane; horizontal puts the new one to the right.',
    effect: 'write',
    answers: { pane_id: words },
    params: { target, horizontal: yes, start_directory: folder },
    async run({ target: pane, horizontal, start_directory: startDirectory }, { run, tmux }) {
      const direction = horizontal ? 'right' : 'below';
      const { paneId } = await run(
        tmux.splitWindow({ target: parseTarget(pane), direction, startDirectory }),
      );
      return done(`Pane ${paneId}.`, { pane_id: paneId });
    },
  }),
  new_pane: verb({
    description: 'Opens a floating pane (tmux 3.7).',
    effect: 'write',
    answers: { pane_id: words },
    params: {
      ...{ target, width: size, height: size, x: place, y: place, zoom: yes, empty: yes },
      start_directory: folder,
      shell_command: maybe,
    },
    raised: ({ shell_command: shell }) => raisedByStart({ shell }),
    async run(
      { target: pane, start_directory: startDirectory, shell_command: shell, width, height, ...more },
      use,
    ) {
      const { run, tmux } = use;
      const sizes = { width: width as Share, height: height as Share };
      const { paneId } = await run(
        tmux.newPane({ target: parseTarget(pane), startDirectory, shell, ...sizes, ...more }),
      );
      return done(`Pane ${paneId}.`, { pane_id: paneId });
    },
  }),
  send_input: verb({
    description:
      'Types into a pane: text, or names of keys (C-c, Up) unless literal; then Enter if wanted. wait_for_output hears all that comes of it.',
    effect: 'write',
    params: {
      target,
      keys: z.union([z.string(), z.array(z.string())]).optional(),
      ...{ enter: yes, literal: yes, suppress_history: yes },
    },
    async run({ target: pane, keys, enter, literal, suppress_history: suppressHistory }, use) {
      const { seat, tmux } = use;
      const row = resolveTarget((await use.look()).panes, pane);
      const { paneId } = row;
      const given = typeof keys === 'string' ? [keys] : keys;
      const typed = given?.filter((key) => key !== '');
      const line = [
        ...(typed?.length ? [tmux.sendKeys({ target: paneId, keys: typed, literal, suppressHistory })] : []),
        ...(enter ? [tmux.sendKeys({ target: paneId, keys: ['Enter'] })] : []),
      ];
      if (line.length === 0) throw new PolyError('invalid_arguments', 'send_input: give keys, or enter.');
      const next = await markNext(use, row);
      for (const result of await tmux.executeChain(seat.engine, line)) result.unwrap();
      return done(`Typed into ${paneId}.`, { pane_id: paneId, ...(next !== undefined && { next }) });
    },
  }),
  rename_window: verb({
    description: 'Names a window.',
    effect: 'write',
    params: { target, name: words },
    async run({ target: window, name }, { run, tmux }) {
      await run(tmux.renameWindow({ target: parseTarget(window), name }));
      return done('Renamed.');
    },
  }),
  rename_session: verb({
    description: 'Names a session.',
    effect: 'write',
    params: { target, name: words },
    async run({ target: session, name }, { run, tmux }) {
      await run(tmux.renameSession({ target: parseTarget(session), name }));
      return done('Renamed.');
    },
  }),
  select_window: verb({
    description: 'Makes a window the current one.',
    effect: 'write',
    params: { target },
    async run({ target: window }, { run, tmux }) {
      await run(tmux.selectWindow({ target: parseTarget(window) }));
      return done('Selected.');
    },
  }),
  select_layout: verb({
    description: 'Arranges the panes of a window: tiled, even-horizontal, main-vertical …',
    effect: 'write',
    params: { target, layout: maybe },
    async run({ target: window, layout }, { run, tmux }) {
      await run(tmux.selectLayout({ target: parseTarget(window), layout }));
      return done('Arranged.');
    },
  }),
  select_pane: verb({
    description: 'Makes a pane active, or the one in a direction from it.',
    effect: 'write',
    params: {
      target,
      direction: z.enum(['up', 'down', 'left', 'right', 'last', 'next', 'previous']).optional(),
    },
    async run({ target: pane, direction }, { run, tmux, look }) {
      const { panes } = await look();
      const from = resolveTarget(panes, pane);
      const ring = panes.filter((row) => row.windowId === from.windowId && row.sessionId === from.sessionId);
      const step = { next: 1, previous: -1 }[direction as string] ?? 0;
      const there = ring.at((ring.indexOf(from) + step) % ring.length) ?? from;
      await run(
        tmux.selectPane({
          target: there.paneId,
          ...(direction === 'last' && { last: true }),
          ...(direction !== undefined &&
            direction !== 'last' &&
            step === 0 && { direction: direction as 'up' }),
        }),
      );
      const { text: active } = await run(
        tmux.displayMessage({ target: from.windowId, message: '#{pane_id}' }),
      );
      return done(`${active} is active.`, { pane_id: active });
    },
  }),
  move_window: verb({
    description: 'Moves a window to a session, or to a free index of one.',
    effect: 'write',
    params: between,
    async run({ src, dst }, { run, tmux }) {
      await run(tmux.moveWindow({ source: parseTarget(src), target: parseTarget(dst) }));
      return done('Moved.');
    },
  }),
  swap_window: verb({
    description: 'Lets two windows change places.',
    effect: 'write',
    params: between,
    async run({ src, dst }, { run, tmux }) {
      await run(tmux.swapWindow({ source: parseTarget(src), target: parseTarget(dst) }));
      return done('Swapped.');
    },
  }),
  swap_pane: verb({
    description: 'Lets two panes change places.',
    effect: 'write',
    params: between,
    async run({ src, dst }, { run, tmux }) {
      await run(tmux.swapPane({ source: parseTarget(src), target: parseTarget(dst) }));
      return done('Swapped.');
    },
  }),
  resize_pane: verb({
    description: 'Gives a pane a size, or toggles its zoom.',
    effect: 'write',
    params: { target, width: size, height: size, zoom: yes },
    async run({ target: pane, width, height, zoom }, { run, tmux }) {
      const sizes = { width: width as Share, height: height as Share };
      await run(tmux.resizePane({ target: parseTarget(pane), ...sizes, zoom }));
      return done('Resized.');
    },
  }),
  join_pane: verb({
    description: 'Moves a pane beside another.',
    effect: 'write',
    params: { ...between, horizontal: yes, size },
    async run({ src, dst, horizontal, size: wanted }, { run, tmux }) {
      const direction = horizontal ? 'right' : 'below';
      const ends = { source: parseTarget(src), target: parseTarget(dst) };
      await run(tmux.joinPane({ ...ends, direction, size: wanted as Share }));
      return done('Joined.');
    },
  }),
  break_pane: verb({
    description: 'Moves a pane to a window of its own.',
    effect: 'write',
    answers: { window_id: words },
    params: { src: target, name: maybe },
    async run({ src, name }, { run, tmux, look }) {
      const { paneId, sessionId } = resolveTarget((await look()).panes, src);
      const made = await run(tmux.breakPane({ source: paneId, target: sessionId, name }));
      return done(`Window ${made.windowId}.`, { window_id: made.windowId, pane_id: made.paneId });
    },
  }),
  respawn_pane: verb({
    description: 'Starts the program of a pane anew; kill ends the one that runs.',
    effect: 'write',
    params: { target, kill: yes, shell: maybe, start_directory: folder },
    raised: ({ kill, shell }) => (kill ? 'it ends a program' : raisedByStart({ shell })),
    async run({ target: pane, kill, shell, start_directory: startDirectory }, { run, tmux, look, caller }) {
      const seen = await look();
      const { paneId } = resolveTarget(seen.panes, pane);
      spareCaller(caller, seen, (row) => row.paneId === paneId, 'respawn_pane');
      await run(tmux.respawnPane({ target: paneId, kill, shell, startDirectory }));
      return done('Started.');
    },
  }),
  set_option: verb({
    description: 'Sets an option of a session, with window of a window, or globally.',
    effect: 'write',
    params: {
      option: words,
      value: maybe,
      target: target.optional(),
      global_: yes,
      server: yes,
      window: yes,
      unset: yes,
    },
    raised: ({ option, value }) => raisedByOption(option, value),
    async run({ option, value, target: whose, global_, server, window, unset }, use) {
      const { tmux } = use;
      if ([whose !== undefined, global_ === true, server === true].filter(Boolean).length !== 1)
        throw new PolyError('invalid_arguments', 'set_option: give one of target, global_ and server.', {
          hint: 'That says whose option it is.',
        });
      const where = whose === undefined ? {} : { target: parseTarget(whose) };
      const set = tmux.setOption({ ...{ option, value, server, window, unset }, global: global_, ...where });
      (await tmux.execute(sparedEngine(use, 'set_option', 'thrown'), set)).unwrap();
      return done('Set.');
    },
  }),
  set_buffer: verb({
    description: 'Fills a paste buffer.',
    effect: 'write',
    params: { data: words, buffer_name: maybe },
    async run({ data, buffer_name: bufferName }, { run, tmux }) {
      await run(tmux.setBuffer({ data, bufferName }));
      return done('Set.');
    },
  }),
  paste_buffer: verb({
    description: 'Pastes a buffer into a pane.',
    effect: 'write',
    params: { target, buffer_name: maybe, delete: yes },
    async run({ target: pane, buffer_name: bufferName, delete: remove }, use) {
      const row = resolveTarget((await use.look()).panes, pane);
      const next = await markNext(use, row);
      const { tmux } = use;
      await use.run(tmux.pasteBuffer({ target: row.paneId, bufferName, delete: remove, bracket: true }));
      return done('Pasted.', { pane_id: row.paneId, ...(next !== undefined && { next }) });
    },
  }),
};
