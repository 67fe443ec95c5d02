import { basename } from 'node:path';
import { writeLayout } from './layout-text.ts';
import type { Link, MemoryServer, Pane, PasteBuffer, Session, Window } from './server.ts';

/** What a format is about; anything may be missing. */
export interface Subject {
  readonly server: MemoryServer;
  readonly session?: Session | undefined;
  readonly link?: Link | undefined;
  readonly window?: Window | undefined;
  readonly pane?: Pane | undefined;
  readonly buffer?: PasteBuffer | undefined;
}

type Value = string | number | boolean | undefined;
type Fields<T> = Readonly<Record<string, (value: T, server: MemoryServer) => Value>>;

const shell = 'sh';

const sessionFields: Fields<Session> = {
  session_id: ({ id }) => `$${id}`,
  session_name: ({ name }) => name,
  session_windows: ({ links }) => links.length,
  session_attached: () => 0,
  session_many_attached: () => 0,
  session_created: ({ created }) => created,
  session_activity: ({ created }) => created,
  session_path: ({ startDirectory }) => startDirectory,
};

const linkFields: Fields<Link> = {
  window_index: ({ index }) => index,
  window_active: (link) => link.session.current === link,
  window_last_flag: (link) => link.session.lastLinks[0] === link,
  window_flags: (link, server) => flagsOf(link, server),
  window_raw_flags: (link, server) => flagsOf(link, server),
  window_bell_flag: () => false,
  window_activity_flag: () => false,
  window_silence_flag: () => false,
  window_start_flag: (link) => link.session.links[0] === link,
  window_end_flag: (link) => link.session.links.at(-1) === link,
};

const windowFields: Fields<Window> = {
  window_id: ({ id }) => `@${id}`,
  window_name: ({ name }) => name,
  window_panes: ({ panes }) => panes.length,
  window_width: ({ layout }) => layout.width,
  window_height: ({ layout }) => layout.height,
  window_layout: ({ layout }) => writeLayout(layout),
  window_visible_layout: ({ zoomed, active, layout: { width, height }, layout }) =>
    writeLayout(zoomed ? { pane: active.id, width, height } : layout),
  window_zoomed_flag: ({ zoomed }) => zoomed,
  window_linked: (window, server) => server.linksOf(window).length > 1,
  window_linked_sessions: (window, server) => server.linksOf(window).length,
  window_marked_flag: (window, server) => server.marked?.window === window,
};

const paneFields: Fields<Pane> = {
  pane_id: ({ id }) => `%${id}`,
  pane_index: (pane, server) => pane.window.panes.indexOf(pane) + server.paneBaseIndex(pane.window),
  pane_active: (pane) => pane.window.active === pane,
  pane_last: (pane) => pane.window.lastPanes[0] === pane,
  pane_title: ({ title }) => title,
  pane_width: (pane, server) => server.placeOf(pane).width,
  pane_height: (pane, server) => server.placeOf(pane).height,
  pane_left: (pane, server) => server.placeOf(pane).left,
  pane_top: (pane, server) => server.placeOf(pane).top,
  pane_right: (pane, server) => server.placeOf(pane).left + server.placeOf(pane).width - 1,
  pane_bottom: (pane, server) => server.placeOf(pane).top + server.placeOf(pane).height - 1,
  pane_at_left: (pane, server) => server.placeOf(pane).left === 0,
  pane_at_top: (pane, server) => server.placeOf(pane).top === 0,
  pane_at_right: (pane, server) =>
    server.placeOf(pane).left + server.placeOf(pane).width === pane.window.layout.width,
  pane_at_bottom: (pane, server) =>
    server.placeOf(pane).top + server.placeOf(pane).height === pane.window.layout.height,
  pane_current_command: ({ startCommand }) => basename(startCommand.split(' ')[0] ?? '') || shell,
  pane_current_path: ({ startDirectory }) => startDirectory,
  pane_start_command: ({ startCommand }) => startCommand,
  pane_start_path: ({ startDirectory }) => startDirectory,
  // No process: numbers that look like one, and never hit a real one.
  pane_pid: ({ id }) => 2 ** 22 + 1 + id,
  pane_tty: ({ id }) => `/dev/memory/${id}`,
  pane_dead: () => false,
  pane_in_mode: ({ inMode }) => inMode,
  pane_mode: ({ inMode }) => (inMode ? 'copy-mode' : ''),
  pane_pipe: ({ piped }) => piped,
  pane_input_off: ({ inputOff }) => inputOff,
  pane_synchronized: (pane, server) =>
    (pane.options.get('synchronize-panes') ??
      pane.window.options.get('synchronize-panes') ??
      server.windowOptions.get('synchronize-panes')) === 'on',
  pane_marked: (pane, server) => server.marked === pane,
  alternate_on: () => false,
  history_size: (pane, server) => Math.max(pane.lines.length - server.placeOf(pane).height, 0),
  cursor_x: ({ lines }) => lines.at(-1)?.length ?? 0,
  cursor_y: (pane, server) => Math.min(pane.lines.length, server.placeOf(pane).height) - 1,
};

const bufferFields: Fields<PasteBuffer> = {
  buffer_name: ({ name }) => name,
  buffer_size: ({ data }) => Buffer.byteLength(data),
  buffer_created: ({ created }) => created,
  buffer_sample: ({ data }) => data.slice(0, 200).replaceAll('\n', '\\n'),
};

const serverFields: Fields<MemoryServer> = {
  version: ({ version }) => version.text,
  socket_path: () => 'memory',
  pid: () => 2 ** 22,
  start_time: ({ startTime }) => startTime,
  server_sessions: ({ sessions }) => sessions.length,
  pane_marked_set: ({ marked }) => marked !== null,
  host: () => 'memory',
  host_short: () => 'memory',
};

function flagsOf(link: Link, server: MemoryServer): string {
  const { session, window } = link;
  return [
    session.current === link ? '*' : session.lastLinks[0] === link ? '-' : '',
    server.marked?.window === window ? 'M' : '',
    window.zoomed ? 'Z' : '',
  ].join('');
}

function look<T>(
  fields: Fields<T>,
  name: string,
  value: T | undefined,
  server: MemoryServer,
): string | undefined {
  const read = fields[name];
  if (!read || value === undefined) return undefined;
  const found = read(value, server);
  return typeof found === 'boolean' ? (found ? '1' : '0') : String(found ?? '');
}

/** What tmux puts for `#{name}`; undefined when the name is no field, or there is nothing it could be about. */
export function fieldOf(name: string, subject: Subject): string | undefined {
  const { server, session, link, window, pane, buffer } = subject;
  return (
    look(paneFields, name, pane, server) ??
    look(windowFields, name, window, server) ??
    look(linkFields, name, link, server) ??
    look(sessionFields, name, session, server) ??
    look(bufferFields, name, buffer, server) ??
    look(serverFields, name, server, server)
  );
}
