export type Message = Readonly<Record<string, unknown>>;

/** One conversation with Codex's app-server: JSON-RPC without its `jsonrpc` field, a message a frame. */
export interface Conversation {
  /** Resolves with the result; rejects with what went wrong, at the latest when the time is over. */
  call(method: string, params: Message): Promise<Message>;
  notify(method: string): void;
  /** Resolves with the first notification, from the beginning on, that fits; nothing when none came in time. */
  heard(fits: (method: string, params: Message) => boolean, ms: number): Promise<boolean>;
  /** Settles when it has ended, whoever ended it. */
  readonly ended: Promise<void>;
  close(): void;
}

export interface RpcOptions {
  readonly token: string | undefined;
  readonly timeoutMs: number;
  /** Hears what it tells and what it asks for, instead of `heard`. */
  readonly onTold?: ((method: string, params: Message) => void) | undefined;
}

const isTable = (value: unknown): value is Message => typeof value === 'object' && value !== null;

/** Connects, or rejects within the time given; everything asked later has the same time. */
export async function connectRpc(
  url: string,
  { token, timeoutMs, onTold }: RpcOptions,
): Promise<Conversation> {
  // Not before somebody needs it: with its TLS it weighs 4 MB.
  const { WebSocket } = await import('ws');
  const socket = new WebSocket(url, {
    handshakeTimeout: timeoutMs,
    ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
  });
  const waiting = new Map<number, { resolve(result: Message): void; reject(error: Error): void }>();
  const notifications: { readonly method: string; readonly params: Message }[] = [];
  const listeners = new Set<() => void>();
  const ended = Promise.withResolvers<void>();
  let broken: Error | undefined;
  const fail = (error: Error): void => {
    broken ??= error;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
    for (const listener of listeners) listener();
    ended.resolve();
    socket.terminate();
  };
  const take = (data: unknown): void => {
    const message = parse(String(data));
    if (!message) {
      fail(new Error('it answered something that is no JSON'));
      return;
    }
    const { id, method, params, result, error } = message;
    if (typeof method === 'string' && onTold) {
      onTold(method, isTable(params) ? params : {});
      return;
    }
    if (typeof method === 'string') {
      // What it asks us, an approval for example, is for whoever sits before the agent.
      if (id !== undefined || notifications.length >= mostNotifications) return;
      notifications.push({ method, params: isTable(params) ? params : {} });
      for (const listener of listeners) listener();
      return;
    }
    const asked = waiting.get(Number(id));
    waiting.delete(Number(id));
    if (isTable(error)) asked?.reject(new Error(String(error.message ?? 'it refused')));
    else asked?.resolve(isTable(result) ? result : {});
  };
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  socket.on('message', take);
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('it hung up')));
  let next = 1;
  return {
    call(method, params) {
      if (broken) return Promise.reject(broken);
      const id = next++;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(id);
          reject(new Error(`it did not answer within ${timeoutMs / 1000} s`));
        }, timeoutMs);
        waiting.set(id, {
          resolve(result) {
            clearTimeout(timer);
            resolve(result);
          },
          reject(error) {
            clearTimeout(timer);
            reject(error);
          },
        });
        socket.send(JSON.stringify({ id, method, params }));
      });
    },
    notify: (method) => socket.send(JSON.stringify({ method })),
    heard(fits, ms) {
      return new Promise((resolve) => {
        const end = (found: boolean): void => {
          listeners.delete(look);
          clearTimeout(timer);
          resolve(found);
        };
        const look = (): void => {
          if (notifications.some(({ method, params }) => fits(method, params))) end(true);
          else if (broken) end(false);
        };
        const timer = setTimeout(() => end(false), ms);
        listeners.add(look);
        look();
      });
    },
    ended: ended.promise,
    close() {
      broken ??= new Error('closed');
      ended.resolve();
      socket.terminate();
    },
  };
}

/** A server that talks without end is not listened to without end. */
const mostNotifications = 10_000;

function parse(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isTable(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
