import { basename } from 'node:path';
import type { VendorName } from '../vendors/vendor.ts';
import { recogniseVendor, vendors } from '../vendors/vendors.ts';

/** A coding agent, as its command line shows it. */
export interface AgentProgram {
  /** Whose it is, in the words of `agent.runtime`. */
  readonly vendor: Exclude<VendorName, 'generic'> | 'cursor';
  /** What starts it. */
  readonly program: string;
  /** It works for another program, or once: nobody sits before it. */
  readonly headless: boolean;
}

/** They run the script that is named in their first argument that is no flag. */
const interpreters = /^(?:node|nodejs|bun|deno|sh|bash|dash)$/;
/** Flags of theirs whose value is a word of its own; what stands behind `-c` or `-e` is no file at all. */
const valued = new Set(['-r', '--require', '--import', '-C', '--conditions', '--loader', '--env-file']);
const inline = /^-[a-z]*[cep]$/;

/** What makes an agent work without anybody before it: a flag, or the name of a command of its own. */
const headless: Readonly<
  Record<AgentProgram['vendor'], { readonly flags: readonly string[]; readonly words: readonly string[] }>
> = {
  claude: {
    flags: ['-p', '--print', '-v', '--version', '-h', '--help'],
    // biome-ignore format: a list of words
    words: ['agents', 'auth', 'auto-mode', 'config', 'daemon', 'doctor', 'install', 'mcp', 'migrate-installer', 'plugin', 'plugins', 'remote-control', 'setup-token', 'update', 'upgrade'],
  },
  codex: {
    flags: ['-V', '--version', '-h', '--help'],
    // biome-ignore format: a list of words
    words: ['app', 'app-server', 'apply', 'a', 'cloud', 'completion', 'debug', 'e', 'exec', 'exec-server', 'execpolicy', 'features', 'help', 'login', 'logout', 'mcp', 'mcp-server', 'plugin', 'proto', 'queue', 'responses-api-proxy', 'review', 'sandbox', 'update'],
  },
  opencode: {
    flags: ['-v', '--version', '-h', '--help'],
    // biome-ignore format: a list of words
    words: ['acp', 'agent', 'auth', 'completion', 'db', 'debug', 'export', 'github', 'import', 'mcp', 'models', 'plugin', 'pr', 'providers', 'run', 'serve', 'session', 'stats', 'uninstall', 'upgrade', 'web'],
  },
  gemini: {
    flags: [
      '-p',
      '--prompt',
      '--acp',
      '--experimental-acp',
      '-l',
      '--list-extensions',
      '--list-sessions',
      '-v',
      '--version',
      '-h',
      '--help',
    ],
    words: ['extension', 'extensions', 'hooks', 'hook', 'mcp', 'skill', 'skills'],
  },
  cursor: {
    flags: ['-p', '--print', '-v', '--version', '-h', '--help'],
    words: [
      'acp',
      'install-shell-integration',
      'login',
      'logout',
      'mcp',
      'status',
      'update',
      'upgrade',
      'worker',
      'whoami',
    ],
  },
};

/** The agent that a process is, by its command line; undefined when it is none that is known. */
export function agentProgram(argv: readonly string[]): AgentProgram | undefined {
  const [started = '', ...rest] = argv;
  const at = interpreters.test(basename(started)) ? scriptAt(rest) : -1;
  if (at === undefined) return undefined;
  const program = at < 0 ? started : (rest[at] ?? '');
  const args = rest.slice(at + 1);
  const vendor = vendorOf(program);
  if (vendor === undefined) return undefined;
  const { flags, words } = headless[vendor];
  const before = args.indexOf('--');
  const own = before < 0 ? args : args.slice(0, before);
  return {
    vendor,
    program: recogniseVendor([program]).name === vendor ? program : (starts[vendor] ?? program),
    headless:
      own.some((arg) => flags.some((flag) => arg === flag || arg.startsWith(`${flag}=`))) ||
      // Behind a flag it may be that flag's value.
      own.some((arg, index) => words.includes(arg) && !own[index - 1]?.startsWith('-')),
  };
}

/** Where the script of an interpreter stands; undefined when it runs none. */
function scriptAt(args: readonly string[]): number | undefined {
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (inline.test(arg)) return undefined;
    if (valued.has(arg)) at += 1;
    else if (!arg.startsWith('-') && arg !== 'run') return at;
  }
  return undefined;
}

/** By the name of the program, or by the package that its script lies in. */
function vendorOf(program: string): AgentProgram['vendor'] | undefined {
  const { name } = recogniseVendor([program]);
  if (name !== 'generic') return name;
  if (basename(program) === 'cursor-agent' || program.includes('/cursor-agent/versions/')) return 'cursor';
  const [, packaged] =
    /\/node_modules\/((?:@[^/]+\/)?[^/]+)\/[^/].*$/.exec(program.replace(/^.*(?=\/node_modules\/)/, '')) ??
    [];
  const found = Object.values(vendors).find(({ packages }) => packages.includes(packaged ?? ''));
  return found && found.name !== 'generic' ? found.name : undefined;
}

/** What starts an agent whose own script has another name. */
const starts: Readonly<Partial<Record<AgentProgram['vendor'], string>>> = {
  claude: 'claude',
  codex: 'codex',
  opencode: 'opencode',
  gemini: 'gemini',
  cursor: 'cursor-agent',
};
