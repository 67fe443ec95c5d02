import { createStateSync } from './agent-state.ts';
import { Capture } from './capture.ts';
import { addCommands, runCommand } from './commands.ts';
import { ExitNotices } from './exit-notices.ts';
import type { Env } from './find-hub.ts';
import { followExits } from './follow-exits.ts';
import { createHub } from './hub.ts';
import { PaneInbox } from './inbox.ts';
import type { Hooks, PluginInput } from './opencode.ts';
import { closeSessionPanes } from './project-panes.ts';
import { createTools } from './tools.ts';

/** OpenCode calls this once for each project, and for some of them twice. */
export function createPlugin({ client, directory }: PluginInput, env: Env = process.env): Hooks {
  const hub = createHub(env);
  const notices = new ExitNotices({ hub, client, directory });
  const follower = followExits({ hub, onExit: (exit) => notices.take(exit), since: () => notices.since() });
  const project = { hub, client: hub.running, directory };
  const capture = new Capture(env, directory);
  const onSeen = (sessionID: string): void => capture.tell('inbox.seen', { sessionID });
  const inbox = new PaneInbox({ client, env, onSeen });
  const syncState = createStateSync(hub, env, (session) => inbox.meet(session));

  return {
    tool: createTools({ hub, directory, env, following: () => follower.following() }),
    config: async (config) => addCommands(config),
    async event({ event }) {
      const { type, properties } = event;
      if (type === 'session.status' && properties.sessionID) notices.meet(properties.sessionID);
      syncState(event);
      capture.event(event);
      if (type !== 'session.deleted' || !properties.info?.id) return;
      // OpenCode 1.18.33 takes nobody's failure here; panes that stay are found by `poly ls`.
      await closeSessionPanes(project, properties.info.id).catch(() => undefined);
    },
    async 'chat.message'({ sessionID }, { parts }) {
      const own = parts.filter(({ type, synthetic }) => type === 'text' && !synthetic);
      capture.tell('chat.message', { sessionID, text: own.map(({ text }) => text).join('\n') });
    },
    'tool.execute.before': async (input, { args }) => capture.tell('tool.execute.before', { ...input, args }),
    'tool.execute.after': async (input, { output }) =>
      capture.tell('tool.execute.after', { ...input, output }),
    'command.execute.before': ({ command, sessionID }) =>
      runCommand(command, sessionID, { hub, client, env }),
    // Panes live on: they are the hub's.
    async dispose() {
      follower.close();
      notices.close();
      inbox.close();
      capture.close();
    },
  };
}
