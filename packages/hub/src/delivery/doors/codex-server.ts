import { flagIn } from '../../platform/flag-in.ts';
import { isLocal } from '../../platform/is-local.ts';
import { type Conversation, connectRpc } from '../../platform/json-rpc.ts';
import { type Door, type Offer, refused, uncertain } from '../door.ts';
import type { Hint } from '../hint.ts';

export interface CodexServerOptions {
  /** A variable of the pane's own environment. */
  readonly variableOf: (pid: number, name: string) => string | undefined;
  readonly timeoutMs?: number;
  /** How long a turn may take to begin before it is left to hooks to tell of it. */
  readonly turnMs?: number;
}

/**
 * The app-server a Codex terminal is attached to (`codex --remote ADDRESS`): what is put in its queue runs as a turn of
 * its own and shows in the terminal. It takes the same line twice, so that none is put there again.
 */
export function createCodexServerDoor({
  variableOf,
  timeoutMs = 5_000,
  turnMs = 2_000,
}: CodexServerOptions): Door {
  return {
    name: 'codex app-server',
    repeatable: false,
    async offer(target, hint, begin) {
      const { sessionId: threadId, argv } = target;
      const url = flagIn(argv, '--remote');
      if (url === undefined) return refused('its app-server is its own');
      if (!isLocal(url)) return refused('its app-server is not on this machine');
      if (threadId === undefined)
        return refused('no_session: its conversation is not known before its first turn');
      const named = flagIn(argv, '--remote-auth-token-env');
      const token = named === undefined ? undefined : variableOf(target.pid, named);
      if (named !== undefined && !token)
        return refused(`missing_auth_token: ${named} is not set in its pane`);
      const server = await connectRpc(url, { token, timeoutMs }).catch(
        (error: Error) => `codex_connect_failed: ${error.message}`,
      );
      if (typeof server === 'string') return refused(server);
      try {
        return await queue(server, threadId, hint, begin, turnMs);
      } finally {
        server.close();
      }
    },
  };
}

async function queue(
  server: Conversation,
  threadId: string,
  { id, text }: Hint,
  begin: () => Promise<boolean>,
  turnMs: number,
): Promise<Offer> {
  const failed = (step: string) => (error: Error) => `codex_${step}_failed: ${error.message}`;
  const hello = await server
    .call('initialize', {
      clientInfo: { name: 'polyphony', title: 'Polyphony', version: '1' },
      capabilities: { experimentalApi: true, requestAttestation: false },
    })
    .catch(failed('initialize'));
  if (typeof hello === 'string') return refused(hello);
  server.notify('initialized');
  // To hear of its turns. Without a turn so far it cannot be followed, and takes a line all the same.
  const followed = await server
    .call('thread/resume', { threadId, excludeTurns: true })
    .catch(failed('resume'));
  if (typeof followed === 'string' && !followed.includes('no rollout')) return refused(followed);
  if (!(await begin())) return refused('nobody wants it any more');
  const added = await server
    .call('thread/queue/add', {
      ...{ threadId, clientUserMessageId: id },
      input: [{ type: 'text', text, text_elements: [] }],
    })
    .catch((error: Error) => error);
  if (added instanceof Error)
    // An answer that says no is one; silence, or an end in the middle, is none.
    return isRefusal(added)
      ? refused(`codex_queue_failed: ${added.message}`)
      : uncertain(`codex: ${added.message}`);
  const seen = await server.heard(
    (_, { item }) => (item as { clientId?: unknown } | undefined)?.clientId === id,
    turnMs,
  );
  if (seen) return { state: 'seen', reason: 'its app-server began a turn with it' };
  return { state: 'written', reason: 'its app-server has it in the queue' };
}

const isRefusal = ({ message }: Error): boolean => !/hung up|did not answer|no JSON|closed/.test(message);
