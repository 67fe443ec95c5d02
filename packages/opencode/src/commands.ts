import type { Env } from './find-hub.ts';
import type { Hub } from './hub.ts';
import type { OpenCodeClient, OpenCodeConfig } from './opencode.ts';
import { runPoly } from './poly-command.ts';

export interface CommandSurroundings {
  readonly hub: Hub;
  readonly client: OpenCodeClient;
  readonly env: Env;
}

interface Command {
  readonly description: string;
  /** Does it, and answers what the user is told. */
  run(surroundings: CommandSurroundings): Promise<string>;
}

const commands: Readonly<Record<string, Command>> = {
  'pty-open-background-spy': {
    description: 'Opens the page that shows all terminals',
    async run({ hub, env }) {
      await hub.client().get('/health');
      const { address, opened } = JSON.parse(await runPoly(['open', '--json'], env)) as {
        readonly address: string;
        readonly opened: boolean;
      };
      return opened ? `Opened ${new URL(address).origin}` : `Open this within 30 seconds: ${address}`;
    },
  },
  'pty-show-server-url': {
    description: 'Shows where the page with all terminals is',
    async run({ hub }) {
      await hub.client().get('/health');
      return hub.url() ?? 'The hub listens on its socket only; "poly server restart" gives it a page.';
    },
  },
};

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
  surroundings: CommandSurroundings,
): Promise<void> {
  const said = await commands[name]?.run(surroundings);
  if (said === undefined) return;
  await surroundings.client.session.prompt({
    path: { id: session },
    body: { noReply: true, parts: [{ type: 'text', text: said, ignored: true }] },
  });
  // OpenCode 1.18.33 has no other way to end a command before the model is asked.
  throw new Error(said);
}
