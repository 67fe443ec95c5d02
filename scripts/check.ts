// Runs every check of the repository; each is silent unless it fails.
import { spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const root = join(import.meta.dirname, '..');
/** What is published; the page comes inside the hub. */
const packages = globSync('packages/*/package.json', { cwd: root })
  .filter((file) => !JSON.parse(readFileSync(join(root, file), 'utf8')).private)
  .map((file) => join(file, '..'))
  .sort();

const checks: readonly string[] = [
  'tsc -p tsconfig.check.json',
  ...globSync('packages/*/tsconfig.test.json', { cwd: root }).map((file) => `tsc -p ${file}`),
  'biome check --error-on-warnings',
  'knip',
  'node scripts/check-arrows.ts',
  'node scripts/generate.ts --check',
  'node scripts/draw.ts --check',
  'node scripts/lock-platforms.ts --check',
  ...packages.map((folder) => `publint --strict ${folder}`),
  ...packages.map((folder) => `attw --profile esm-only --pack ${folder}`),
];

interface Outcome {
  readonly command: string;
  readonly failed: boolean;
  readonly output: string;
}

function run(command: string): Promise<Outcome> {
  const [program = '', ...args] = command.split(' ');
  const env = { ...process.env, PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter) };
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk));
  child.on('error', reject);
  child.on('close', (code) => resolve({ command, failed: code !== 0, output: output.trim() }));
  return promise;
}

function report({ command, failed, output }: Outcome): void {
  if (!failed) return;
  console.error(`\n✗ ${command}\n${output}`);
  process.exitCode = 1;
}

const build = await run('tsc -b');
report(build);
if (!build.failed) {
  const outcomes = await Promise.all(checks.map(run));
  outcomes.forEach(report);
}
