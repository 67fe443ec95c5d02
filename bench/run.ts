// Prints our figures beside those of the raw limit, or of what people have, from the same run: npm run bench [name…]

import { agents } from './agents.ts';
import { capture } from './capture.ts';
import { cliStart } from './cli-start.ts';
import { floor } from './floor.ts';
import { hub } from './hub.ts';
import { mail } from './mail.ts';
import { mcp } from './mcp.ts';
import { type Figure, print } from './measure.ts';
import { search } from './search.ts';
import { store } from './store.ts';
import { tasks } from './tasks.ts';
import { terminal } from './terminal.ts';
import { tmuxOperations } from './tmux-operations.ts';
import { tmuxOutput } from './tmux-output.ts';
import { tmuxSnapshot } from './tmux-snapshot.ts';
import { wake } from './wake.ts';
import { web } from './web.ts';

const benches: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  'tmux-operations': tmuxOperations,
  'tmux-snapshot': tmuxSnapshot,
  'tmux-output': tmuxOutput,
  store,
  hub,
  mcp,
  mail,
  floor,
  terminal,
  search,
  agents,
  wake,
  capture,
  tasks,
  'cli-start': cliStart,
  web,
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0) {
  console.error(`There is no bench ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}.`);
  process.exit(2);
}
const figures: Figure[] = [];
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.error(`${name} …`);
  figures.push(...(await bench()));
}
print(figures);
