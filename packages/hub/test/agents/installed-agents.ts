import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The agents the screens were recorded with, and the program inside each package. */
const agentPackages = {
  claude: {
    name: '@anthropic-ai/claude-code',
    version: '2.1.325',
    program: `@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`,
  },
  codex: {
    name: '@openai/codex',
    version: '0.166.0',
    program: '@openai/codex/bin/codex.js',
  },
  opencode: {
    name: 'opencode-ai',
    version: '1.18.33',
    program: `opencode-${process.platform}-${process.arch}/bin/opencode`,
  },
  gemini: { name: '@google/gemini-cli', version: '0.61.0', program: '@google/gemini-cli/bundle/gemini.js' },
} as const;

export type AgentName = keyof typeof agentPackages;

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'polyphony/agents');

/** Answers where the program of an agent is. */
export function installAgent(agent: AgentName): Promise<string> {
  return installProgram(agent, agentPackages[agent]);
}

interface Package {
  readonly name: string;
  readonly version: string;
  readonly program: string;
}

/** Installs a package from npm, once, without running its scripts, and answers where its program is. */
export async function installProgram(as: string, { name, version, program }: Package): Promise<string> {
  const folder = join(cache, `${as}-${version}`);
  const path = join(folder, 'node_modules', program);
  if (existsSync(path)) return path;

  console.log(`installing ${name}@${version} into ${folder} …`);
  const draft = `${folder}.${process.pid}`;
  await mkdir(draft, { recursive: true });
  await writeFile(join(draft, 'package.json'), '{ "private": true }');
  const args = [
    'install',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    `${name}@${version}`,
  ];
  await promisify(execFile)('npm', args, { cwd: draft });
  await rm(folder, { recursive: true, force: true });
  await rename(draft, folder);
  if (!existsSync(path)) throw new Error(`${name}@${version} has no ${program} on this machine.`);
  return path;
}
