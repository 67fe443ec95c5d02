import type { Door } from './door.ts';
import { createChannelDoor, type HintChannel } from './doors/channel.ts';
import { createCodexQueueDoor, type RunBeside } from './doors/codex-queue.ts';
import { createCodexServerDoor } from './doors/codex-server.ts';
import { contextDoor, createInboxDoor, type HintInbox, wakeDoor } from './doors/inbox.ts';
import { createKeyboardDoor, type TypeAt } from './doors/keyboard.ts';
import { createOpenCodeServerDoor } from './doors/opencode-server.ts';
import type { Guard } from './guard.ts';

export interface LadderOptions {
  readonly inboxOf: (pane: string) => HintInbox;
  readonly guard: Guard;
  readonly typeAt: TypeAt;
  readonly run: RunBeside;
  /** Where an agent can be told something over its connection. */
  readonly channelOf: (recipient: string) => HintChannel | undefined;
  /** A variable of the environment of a pane's program. */
  readonly variableOf: (pid: number, name: string) => string | undefined;
}

/** The ways to each agent, best first; of one that nobody knows only the inbox, where a hook of its own may wait. */
export function createLadder(options: LadderOptions): (vendor: string) => readonly Door[] {
  const { inboxOf, guard, typeAt, run, variableOf } = options;
  const wake = createInboxDoor(wakeDoor, inboxOf);
  const context = createInboxDoor(contextDoor, inboxOf);
  const keyboard = createKeyboardDoor(guard, typeAt);
  const ladders: Readonly<Record<string, readonly Door[]>> = {
    claude: [wake, context, keyboard, createChannelDoor(options.channelOf)],
    codex: [createCodexServerDoor({ variableOf }), createCodexQueueDoor(run), context, keyboard],
    opencode: [createOpenCodeServerDoor({ variableOf }), wake, keyboard],
    gemini: [context, keyboard],
  };
  return (vendor) => (Object.hasOwn(ladders, vendor) ? (ladders[vendor] ?? []) : [wake]);
}
