import { setTimeout as pause } from 'node:timers/promises';
import type { AgentReason } from '@polyphony/protocol';
import { type Conversation, connectRpc, type Message } from '../../platform/json-rpc.ts';
import { isAlone } from './codex-terminals.ts';
import type { NativeSource, NativeState } from './native-state.ts';

export interface CodexServerOptions {
  readonly url: string;
  readonly token: string | undefined;
  /** The folder that the terminal works in, and when it was started: by these its conversation is known. */
  readonly cwd: string;
  readonly startedAt: number;
}

interface Thread {
  readonly id: string;
  readonly cwd: string;
  /** In seconds. */
  readonly createdAt: number;
  readonly ephemeral: boolean;
  readonly parentThreadId: string | null;
  readonly status: { readonly type: string; readonly activeFlags?: readonly string[] };
}

const timeoutMs = 5_000;
const retryMs = 5_000;
/** A conversation may be made a moment before the process that is told of it is known to have begun. */
const slackMs = 2_000;
/** So long what a conversation asks may take to come, once it is listened to. */
const askedMs = 2_000;

/** What Codex's app-server, 0.166.0, tells of the conversation in a terminal that is attached to it. */
export function followCodexServer(options: CodexServerOptions): NativeSource {
  return async (signal, tell) => {
    while (!signal.aborted) {
      // Nobody listens there, or it speaks otherwise: other sources tell.
      await listen(options, signal, tell).catch(() => undefined);
      tell(undefined);
      await pause(retryMs, undefined, { signal, ref: false }).catch(() => undefined); // Aborted: the loop ends.
    }
  };
}

async function listen(
  { url, token, cwd, startedAt }: CodexServerOptions,
  signal: AbortSignal,
  tell: Parameters<NativeSource>[1],
): Promise<void> {
  const threads = new Map<string, Thread>();
  const asked = new Map<string, AgentReason>();
  let alone = false;
  const show = (): void => {
    const since = startedAt - slackMs;
    const own = [...threads.values()].filter(
      (one) =>
        !one.ephemeral && one.parentThreadId === null && one.cwd === cwd && one.createdAt * 1000 >= since,
    );
    // The names of conversations sort by time. Of two terminals in one folder nobody can tell which has which.
    const [last] = own.toSorted((a, b) => (a.id < b.id ? 1 : -1));
    tell(alone && last ? stateOf(last, asked.get(last.id)) : undefined);
  };
  const meet = async (threadId: unknown): Promise<void> => {
    const { thread } = (await server.call('thread/read', { threadId })) as { readonly thread?: Thread };
    if (thread) threads.set(thread.id, thread);
    show();
  };
  const onTold = (method: string, params: Message): void => {
    const threadId = String(params.threadId ?? '');
    const reason = asks[method]?.(params);
    if (reason) asked.set(threadId, reason);
    else if (method === 'serverRequest/resolved') asked.delete(threadId);
    else if (method === 'thread/started') {
      const thread = params.thread as Thread;
      threads.set(thread.id, thread);
      alone = isAlone(cwd);
    } else if (method === 'thread/status/changed') {
      const known = threads.get(threadId);
      if (threadId === '') return;
      if (!known) return void meet(threadId).catch(() => undefined); // It may be gone again.
      const thread = { ...known, status: params.status as Thread['status'] };
      threads.set(threadId, thread);
      if (!isWaiting(thread)) asked.delete(threadId);
      else if (!asked.has(threadId)) void hearWhatFor(server, threadId);
    } else return;
    show();
  };
  const server = await connectRpc(url, { token, timeoutMs, onTold });
  const close = (): void => server.close();
  signal.addEventListener('abort', close, { once: true });
  try {
    await server.call('initialize', {
      clientInfo: { name: 'polyphony', title: 'Polyphony', version: '1' },
      capabilities: { experimentalApi: true, requestAttestation: false },
    });
    server.notify('initialized');
    alone = isAlone(cwd);
    const { data } = (await server.call('thread/loaded/list', {})) as { readonly data?: readonly string[] };
    for (const id of data ?? []) await meet(id);
    await server.ended;
  } finally {
    signal.removeEventListener('abort', close);
    server.close();
  }
}

const isWaiting = ({ status }: Thread): boolean => (status.activeFlags ?? []).length > 0;

/** What it asks is told to those who follow a conversation: it is followed for that moment, and not for its every word. */
async function hearWhatFor(server: Conversation, threadId: string): Promise<void> {
  try {
    await server.call('thread/resume', { threadId, excludeTurns: true });
    await pause(askedMs, undefined, { ref: false });
    await server.call('thread/unsubscribe', { threadId });
  } catch {
    // That it waits is known all the same.
  }
}

function stateOf({ id, status }: Thread, reason: AgentReason | undefined): NativeState | undefined {
  const { type, activeFlags = [] } = status;
  const known = { sessionId: id, evidence: ['app-server:', type, ...activeFlags].join(' ') };
  if (type === 'idle') return { ...known, status: 'idle' };
  if (type === 'systemError') return { ...known, status: 'error' };
  if (type !== 'active') return undefined;
  const [flag] = activeFlags;
  if (flag === undefined) return { ...known, status: 'running' };
  const kind =
    flag === 'waitingOnApproval' ? 'permission' : flag === 'waitingOnUserInput' ? 'question' : 'dialog';
  return { ...known, status: 'blocked', reason: reason ?? { kind } };
}

interface Question {
  readonly question?: string;
  readonly options?: readonly { readonly label?: string }[] | null;
}

const text = (value: unknown): { readonly text?: string } =>
  typeof value === 'string' ? { text: value } : {};

/** What it asks of those before it, by the name of the request. */
const asks: Readonly<Record<string, (params: Message) => AgentReason>> = {
  'item/commandExecution/requestApproval': ({ command, reason }) => ({
    ...{ kind: 'permission', tool: 'shell', ...text(reason) },
    ...(typeof command === 'string' && { input: command }),
  }),
  'item/fileChange/requestApproval': ({ reason }) => ({
    kind: 'permission',
    tool: 'apply_patch',
    ...text(reason),
  }),
  'item/permissions/requestApproval': ({ reason }) => ({ kind: 'permission', ...text(reason) }),
  'mcpServer/elicitation/request': ({ serverName, message }) => ({
    ...{ kind: 'permission', ...text(message) },
    ...(typeof serverName === 'string' && { tool: serverName }),
  }),
  'item/tool/requestUserInput': ({ questions }) => {
    const [first] = (questions ?? []) as readonly Question[];
    const options = first?.options?.map(({ label = '' }) => label);
    return { kind: 'question', ...text(first?.question), ...(options && { options }) };
  },
};
