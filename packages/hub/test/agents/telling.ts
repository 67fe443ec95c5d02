import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestHub } from '../test-hub.ts';
import type { AgentOptions } from './agent.ts';
import type { AgentName } from './installed-agents.ts';
import { pluginUrl, poly } from './opencode-server.ts';

/** Has an agent tell the hub what it does, as its user would: by `poly hooks install`, or by the plugin of OpenCode. */
export function telling(name: AgentName, hub: () => TestHub): NonNullable<AgentOptions['prepare']> {
  if (name === 'opencode') return ({ HOME = '' }) => addPlugin(HOME);
  return (env) => execFileSync(poly, ['hooks', 'install', name], { env: { ...env, POLY_HOME: hub().dir } });
}

function addPlugin(home: string): void {
  const file = join(home, '.config/opencode/opencode.json');
  const config = JSON.parse(readFileSync(file, 'utf8')) as object;
  writeFileSync(file, JSON.stringify({ ...config, plugin: [pluginUrl] }));
}
