import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Where everything of one hub lives. */
export interface Places {
  readonly home: string;
  readonly config: string;
  /** How clients find the hub. */
  readonly discovery: string;
  readonly token: string;
  readonly database: string;
  readonly lock: string;
  readonly logs: string;
  readonly extensions: string;
  /** The host's own folder: its socket and the pipes of tmux panes. */
  readonly host: string;
  /** Where capture hooks leave what agents did. */
  readonly journal: string;
  /** Where delivery hooks find what agents are to hear, a folder for each pane. */
  readonly inboxes: string;
  /** What the hooks of agents start. */
  readonly hooks: string;
  /** The user's own rules by which screens of agents are read, a folder for each agent. */
  readonly screens: string;
  /** Output that is kept on the disk, a folder for each pane. */
  readonly panes: string;
  /** The key that secrets are sealed by. */
  readonly sealingKey: string;
  /** Files that agents may read, and the user writes. */
  readonly knowledge: string;
  /** Folder of the hub's socket; private like the rest. */
  readonly runtime: string;
  readonly socket: string;
}

/** A unix socket's path has at most 104 bytes on macOS and 108 on Linux, with its closing NUL. */
const longestSocketPath = 100;

export function placesOf(env: Readonly<Record<string, string | undefined>>): Places {
  const home = resolve(env.POLY_HOME || join(env.HOME || homedir(), '.poly'));
  // A hub with a home of its own must not share the socket of the user's other hub.
  const wished = env.POLY_HOME || !env.XDG_RUNTIME_DIR ? home : join(env.XDG_RUNTIME_DIR, 'poly');
  const runtime = fits(join(wished, 'host', 'host.sock')) ? wished : shortRuntime(home);
  return {
    home,
    config: join(home, 'config.toml'),
    discovery: join(home, 'hub.json'),
    token: join(home, 'token'),
    database: join(home, 'hub.db'),
    lock: join(home, 'hub.lock'),
    logs: join(home, 'logs'),
    extensions: resolve(env.POLY_EXTENSIONS_DIR || join(home, 'extensions')),
    host: join(runtime, 'host'),
    journal: join(home, 'journal'),
    inboxes: join(home, 'inbox'),
    hooks: join(home, 'hooks'),
    screens: join(home, 'screens'),
    panes: join(home, 'panes'),
    sealingKey: join(home, 'secrets.key'),
    knowledge: join(home, 'knowledge'),
    runtime,
    socket: join(runtime, 'hub.sock'),
  };
}

const fits = (path: string): boolean => Buffer.byteLength(path) <= longestSocketPath;

function shortRuntime(home: string): string {
  // Seldom needed, and dear to load.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const name = createHash('sha256').update(home).digest('hex').slice(0, 12);
  return join(tmpdir(), `poly-${process.getuid?.() ?? 'user'}-${name}`);
}
