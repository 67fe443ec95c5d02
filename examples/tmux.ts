// The first command of the README: loads a sample workspace on a tmux server of its own, shows what is there and what
// happens for a few seconds, and leaves nothing behind.
import { join, relative } from 'node:path';
import { newWindow, renameWindow, Server, type ServerSnapshot, type TmuxEvent } from '@polyphony/tmux';
import { startTestServer } from '@polyphony/tmux/testing';
import { loadWorkspace } from '@polyphony/tmux/workspace';

const file = join(import.meta.dirname, 'workspaces', 'dev.yaml');

console.log(`Loading ${relative(process.cwd(), file)} on a tmux server of its own …\n`);
await using temporary = await startTestServer();
const server = new Server(temporary.engine(), temporary.connection);
const { sessions, warnings } = await loadWorkspace(server.engine, file);
for (const warning of warnings) console.log(`  note: ${warning.path}: ${warning.message}`);
const [session] = sessions;
if (!session) throw new Error(`${file} declares no session.`);

console.log(tree(await server.snapshot()));

console.log('\nWhat happens next, as it happens:');
await using events = await server.events();
const told = tell();
const { windowId, paneId } = await server.run(
  newWindow({ target: session.id, name: 'tests', shell: 'exec cat' }),
);
await server.run(renameWindow({ target: windowId, name: 'tests: 12 passed' }));
const run = await server.runAndWait('printf "one\\ntwo\\n"; exit 3', { target: session.id });
console.log(
  `  a command of ours printed ${JSON.stringify(run.text)} and ended with status ${run.exit?.status}`,
);
await events.close();
await told;

console.log(`\nPane ${paneId} and everything else goes away with the server. Done.`);

async function tell(): Promise<void> {
  for await (const event of events.subscribe({
    types: ['window-add', 'window-renamed', 'window-close', 'unlinked-window-close', 'layout-change'],
  })) {
    console.log(`  ${describe(event)}`);
  }
}

function describe({ type, ...fields }: TmuxEvent): string {
  const shown = Object.entries(fields).map(([name, value]) => `${name} ${value}`);
  return `${type.padEnd(22)} ${shown.join(', ')}`;
}

/** Sessions, windows and panes as a tree. */
function tree(snapshot: ServerSnapshot): string {
  return snapshot.sessions
    .flatMap((one) => [`${one.name}`, ...branches(one.windows, windowLines)])
    .join('\n');
}

function windowLines(window: ServerSnapshot['sessions'][number]['windows'][number]): string[] {
  const panes = branches(window.panes, (pane) => [
    `${pane.id} ${pane.width}x${pane.height} ${pane.currentCommand}${pane.active ? ' (active)' : ''}`,
  ]);
  return [`${window.index}: ${window.name}${window.active ? ' (current)' : ''}`, ...panes];
}

function branches<T>(items: readonly T[], lines: (item: T) => string[]): string[] {
  return items.flatMap((item, i) => {
    const last = i === items.length - 1;
    const [first, ...rest] = lines(item);
    return [`${last ? '└─' : '├─'} ${first}`, ...rest.map((line) => `${last ? '   ' : '│  '}${line}`)];
  });
}
