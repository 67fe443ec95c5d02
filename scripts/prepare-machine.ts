// Makes a fresh machine ready for the tests: what they need of it is there. Silent when nothing is missing.
import { spawnSync } from 'node:child_process';

const oldestTmux = [3, 2] as const;

/** Programs the tests start: how to ask whether they are there, and the package they come in. */
const needed: Readonly<Record<string, { readonly asks: readonly string[]; readonly from: string }>> = {
  tmux: { asks: ['-V'], from: 'tmux' },
  git: { asks: ['--version'], from: 'git' },
  curl: { asks: ['--version'], from: 'curl' },
  cc: { asks: ['--version'], from: 'gcc' },
  pgrep: { asks: ['--version'], from: 'procps' },
  perl: { asks: ['-v'], from: 'perl' },
  chromium: { asks: ['--version'], from: 'chromium' },
};

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

/** What a tmux program says of its version, or undefined when it cannot be run or is another program. */
function tmuxVersion(program = 'tmux'): string | undefined {
  const { status, stdout } = spawnSync(program, ['-V'], { encoding: 'utf8' });
  return status === 0 && /^\S+ \S+$/.test(stdout.trim()) ? stdout.trim() : undefined;
}

/** A tmux built from its main branch has no number ("tmux master") and counts as new enough. */
function refuseOld(version: string): void {
  const [, major, minor] = /(\d+)\.(\d+)[a-z]?$/.exec(version) ?? [];
  if (major === undefined || minor === undefined) return;
  const difference = Number(major) - oldestTmux[0] || Number(minor) - oldestTmux[1];
  if (difference < 0)
    fail(`${version} is too old for the tests: install tmux ${oldestTmux.join('.')} or newer.`);
}

function succeeds(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

function run(command: string[], missing: string): void {
  const [program = '', ...args] = command;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const { status } = spawnSync(program, args, { stdio: ['ignore', 'inherit', 'inherit'], env });
  if (status !== 0) fail(`The tests need what is missing here: ${missing}. \`${command.join(' ')}\` failed.`);
}

/** The words that make a command run as root without asking, or undefined when nothing does. */
function asRoot(): string[] | undefined {
  if (process.getuid?.() === 0) return [];
  return succeeds('sudo', '-n', 'true') ? ['sudo', '-n'] : undefined;
}

function install(packages: readonly string[]): void {
  const names = packages.join(', ');
  const root = asRoot();
  if (process.platform === 'darwin' && succeeds('brew', '--version')) {
    run(['brew', 'install', ...packages], names);
  } else if (root !== undefined && succeeds('apt-get', '--version')) {
    run([...root, 'apt-get', 'update'], names);
    run([...root, 'apt-get', 'install', '-y', ...packages], names);
  } else {
    fail(`The tests need what is missing here: ${names}. Install that and put it on PATH.`);
  }
}

const missing = Object.entries(needed).filter(([program, { asks }]) => !succeeds(program, ...asks));
if (missing.length > 0) install(missing.map(([, { from }]) => from));
refuseOld(tmuxVersion() ?? fail('tmux was installed but cannot be run: is it on PATH?'));

for (const path of (process.env.POLY_TEST_TMUX ?? '').split(':').filter(Boolean)) {
  refuseOld(tmuxVersion(path) ?? fail(`POLY_TEST_TMUX names ${path}, which is no tmux that runs here.`));
}
