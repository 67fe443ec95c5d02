import { spawn } from 'node:child_process';
import type { Hub } from './hub.ts';
import type { OpenCodeClient, OpenCodeConfig } from './opencode.ts';

interface Command {
  readonly description: string;
  /** Does it, and answers what the user is told. */
  run(hub: Hub): Promise<string>;
}

const noPage = 'The hub has no page: it listens on its socket only. "poly server restart" gives it one.';

const commands: Readonly<Record<string, Command>> = {
  'pty-open-background-spy': {
    description: 'Opens the page that shows all terminals',
    async run(hub) {
      const url = await pageOf(hub);
      if (url === undefined) return noPage;
      await openBrowser(`${url}/#ticket=${await hub.pageTicket()}`);
      return `Opened ${url}`;
    },
  },
  'pty-show-server-url': {
    description: 'Shows where the page with all terminals is',
    run: async (hub) => (await pageOf(hub)) ?? noPage,
  },
};

async function pageOf(hub: Hub): Promise<string | undefined> {
  await hub.client().get('/health');
  return hub.url()?.replace(/\/$/, '');
}

export function addCommands(config: OpenCodeConfig): void {
  const ours = Object.entries(commands).map(([name, { description }]) => [
    name,
    { description, template: '' },
  ]);
  config.command = { ...config.command, ...Object.fromEntries(ours) };
}

/** Runs one of ours and shows what it says to the user alone; the model is not asked. */
export async function runCommand(
  name: string,
  session: string,
  { hub, client }: { readonly hub: Hub; readonly client: OpenCodeClient },
): Promise<void> {
  const said = await commands[name]?.run(hub);
  if (said === undefined) return;
  await client.session.prompt({
    path: { id: session },
    body: { noReply: true, parts: [{ type: 'text', text: said, ignored: true }] },
  });
  // OpenCode 1.18.33 has no other way to end a command before the model is asked.
  throw new Error(said);
}

const openers: Readonly<Partial<Record<NodeJS.Platform, string>>> = { darwin: 'open', linux: 'xdg-open' };

function openBrowser(url: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const child = spawn(openers[process.platform] ?? 'xdg-open', [url], { detached: true, stdio: 'ignore' });
  child.once('error', (cause) =>
    reject(new Error(`No browser could be opened (${cause.message}).`, { cause })),
  );
  child.once('spawn', () => resolve());
  child.unref();
  return promise;
}
