import { setTimeout as pause } from 'node:timers/promises';
import { flagIn } from '../../platform/flag-in.ts';
import { isLocal } from '../../platform/is-local.ts';
import { type Door, type Look, type Offer, refused, type Target, uncertain } from '../door.ts';
import type { Hint } from '../hint.ts';

export interface OpenCodeServerOptions {
  readonly variableOf: (pid: number, name: string) => string | undefined;
  readonly timeoutMs?: number;
  /** After each of these it is looked whether a turn has begun; if none has, it is posted again. */
  readonly looksMs?: readonly number[];
}

interface Server {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

interface MessageInfo {
  readonly info?: {
    readonly id?: string;
    readonly role?: string;
    readonly parentID?: string;
    readonly time?: { readonly created?: number };
  };
}

/**
 * The server of an OpenCode that has one (`--port`, `attach URL`). OpenCode 1.18.33 answers 204 to a prompt that it
 * then loses when a turn has just died: the same ids are posted again, which it takes once, until a turn is seen.
 */
export function createOpenCodeServerDoor({
  variableOf,
  timeoutMs = 5_000,
  looksMs = [100, 400, 1_000, 2_000],
}: OpenCodeServerOptions): Door {
  const serverOf = (target: Target): Server | undefined => {
    const url = urlOf(target.argv);
    if (url === undefined || !isLocal(url)) return undefined;
    const password = variableOf(target.pid, 'OPENCODE_SERVER_PASSWORD') ?? flagIn(target.argv, '--password');
    const user = variableOf(target.pid, 'OPENCODE_SERVER_USERNAME') ?? 'opencode';
    const key = Buffer.from(`${user}:${password}`).toString('base64');
    return { url, timeoutMs, headers: password ? { authorization: `Basic ${key}` } : {} };
  };
  return {
    name: 'opencode server',
    repeatable: true,
    async offer(target, hint, begin) {
      const server = serverOf(target);
      const session = target.sessionId;
      if (!server) return refused('it has no server of this machine');
      if (session === undefined) return refused('no_session: its conversation is not known yet');
      if (!(await begin())) return refused('nobody wants it any more');
      const posted = await post(server, session, hint);
      if (posted) return posted;
      for (const ms of looksMs) {
        await pause(ms);
        const seen = await lookFor(server, session, hint);
        if (seen === 'seen') return { state: 'seen', reason: 'its server began a turn with it' };
        if (seen === 'lost') await post(server, session, hint);
      }
      return { state: 'written', reason: 'its server took it' };
    },
    async look(target, hint): Promise<Look> {
      const server = serverOf(target);
      if (!server || target.sessionId === undefined) return { state: 'waiting' };
      const found = await lookFor(server, target.sessionId, hint);
      if (found === 'seen') return { state: 'seen', reason: 'its server began a turn with it' };
      if (found === 'lost') await post(server, target.sessionId, hint);
      return {
        state: 'waiting',
        reason: found === 'lost' ? 'its server had lost it; it was posted again' : undefined,
      };
    },
  };
}

function urlOf(argv: readonly string[]): string | undefined {
  const attached = argv[1] === 'attach' ? argv.find((word) => /^https?:\/\//.test(word)) : undefined;
  const port = flagIn(argv, '--port');
  const host = flagIn(argv, '--hostname') ?? '127.0.0.1';
  return attached ?? (port !== undefined && Number(port) > 0 ? `http://${host}:${port}` : undefined);
}

/** Posts it; answers only what went wrong. */
async function post(server: Server, session: string, hint: Hint): Promise<Offer | undefined> {
  const { id, text } = hint;
  const body = { messageID: `msg_${id}`, parts: [{ id: `prt_${id}`, type: 'text', text }] };
  const answer = await ask(server, `/session/${encodeURIComponent(session)}/prompt_async`, body);
  const status = typeof answer === 'string' ? 0 : answer.status;
  if (status >= 200 && status < 300) return undefined;
  if (status === 401) return refused('missing_auth_token: its server wants OPENCODE_SERVER_PASSWORD');
  const why =
    typeof answer === 'string'
      ? `opencode_connect_failed: ${answer}`
      : `opencode_inject_failed: its server answered ${status}`;
  if (answer === 'ECONNREFUSED' || (status >= 300 && status < 500)) return refused(why);
  // It may have taken it all the same: another door only when it is seen not to have it.
  const held = await messagesOf(server, session);
  if (!held) return uncertain(why);
  return held.some(({ info }) => info?.id === `msg_${id}`) ? undefined : refused(why);
}

async function messagesOf(server: Server, session: string): Promise<readonly MessageInfo[] | undefined> {
  const listed = await ask(server, `/session/${encodeURIComponent(session)}/message`);
  return typeof listed === 'object' && listed.status === 200 && Array.isArray(listed.json)
    ? (listed.json as readonly MessageInfo[])
    : undefined;
}

/** Whether a turn has begun with it, may still, or never will. */
async function lookFor(server: Server, session: string, { id }: Hint): Promise<'seen' | 'waiting' | 'lost'> {
  const [messages, states] = [await messagesOf(server, session), await ask(server, '/session/status')];
  if (!messages) return 'waiting';
  const ours = messages.find(({ info }) => info?.id === `msg_${id}`)?.info;
  const answered = messages.some(
    ({ info }) =>
      info?.role === 'assistant' &&
      (info.parentID === `msg_${id}` ||
        (info.time?.created ?? 0) > (ours?.time?.created ?? Number.POSITIVE_INFINITY)),
  );
  if (answered) return 'seen';
  const busy = typeof states !== 'object' || Object.hasOwn((states.json as object | null) ?? {}, session);
  return busy ? 'waiting' : 'lost';
}

/** What it answers, or why it does not. */
async function ask(
  { url, headers, timeoutMs }: Server,
  path: string,
  body?: unknown,
): Promise<{ readonly status: number; readonly json: unknown } | string> {
  try {
    const response = await fetch(new URL(path, url), {
      ...(body === undefined
        ? { headers }
        : {
            method: 'POST',
            headers: { ...headers, 'content-type': 'application/json' },
            body: JSON.stringify(body),
          }),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await response.text();
    return { status: response.status, json: parse(text) };
  } catch (error) {
    const { cause, message } = error as Error & { readonly cause?: { readonly code?: string } };
    return cause?.code ?? message;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
