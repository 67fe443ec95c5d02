import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { claude } from '../packages/hub/src/capture/adapters/claude.ts';
import { claudeHooks, wishedHooks } from '../packages/hub/src/edges/cli/install/hook-shape.ts';

const root = join(import.meta.dirname, '..');
const hub = 'packages/hub';
const plugin = 'packages/claude-code';
const name = 'polyphony';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const json = (data: object): string => `${JSON.stringify(data, null, 2)}\n`;
const { version, license, description } = JSON.parse(read(`${plugin}/package.json`));

/** Each script is given to `sh`, for a copy of the plugin may have lost who may start it. */
const command = (script: string): string => `sh "\${CLAUDE_PLUGIN_ROOT}/hooks/${script}" claude`;

function hooks(): object {
  const wished = wishedHooks(claudeHooks, Object.keys(claude.events), command);
  return Object.fromEntries(
    Object.entries(Object.groupBy(wished, ({ event }) => event)).map(([event, list = []]) => [
      event,
      list.map(({ entry }) => entry),
    ]),
  );
}

const manifest = {
  ...{ name, version, description, license },
  author: { name: 'Polyphony' },
  keywords: ['terminal', 'pty', 'tmux', 'agents'],
};
const marketplace = {
  ...{ name, owner: manifest.author, description: 'The plugin of Polyphony for Claude Code.' },
  plugins: [{ name, source: `./${plugin}`, description }],
};
const server = { command: 'poly', args: ['mcp'], alwaysLoad: true };

/** Every file of the plugin that is derived from the hub or says what stands elsewhere, and the marketplace. */
export const claudeCodePlugin: Readonly<Record<string, () => string>> = {
  '.claude-plugin/marketplace.json': () => json(marketplace),
  [`${plugin}/.claude-plugin/plugin.json`]: () => json(manifest),
  [`${plugin}/.mcp.json`]: () => json({ mcpServers: { poly: server } }),
  [`${plugin}/hooks/hooks.json`]: () =>
    json({ description: 'Written by `npm run generate`.', hooks: hooks() }),
  ...Object.fromEntries(
    readdirSync(join(root, hub, 'hooks')).map((file) => [
      `${plugin}/hooks/${file}`,
      () => read(`${hub}/hooks/${file}`),
    ]),
  ),
  [`${plugin}/skills/${name}/SKILL.md`]: () => read(`${hub}/skill/SKILL.md`),
};
