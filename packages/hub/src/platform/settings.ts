import { PolyError } from '@polyphony/protocol';

/** What the environment decides about a hub. */
export interface Settings {
  /** Whether to listen on TCP beside the socket. */
  readonly tcp: boolean;
  /** A port asked for by name; 0 is the last one or any, nothing the last one, the usual one or any. */
  readonly port: number | undefined;
  readonly hostname: string;
  readonly tmuxSocket: string;
  readonly tmuxConfig: string | undefined;
  readonly sessionName: string;
  readonly handlerTimeoutMs: number;
  /** How many lines of a pane's output are kept. */
  readonly bufferLines: number;
  /** For so long nothing may have happened in a pane before a hint is typed there. */
  readonly quietMs: number;
}

type Env = Readonly<Record<string, string | undefined>>;

export function readSettings(env: Env): Settings {
  const hostname = env.POLY_HOSTNAME || env.PTY_WEB_HOSTNAME || '127.0.0.1';
  if (!['127.0.0.1', '::1', 'localhost'].includes(hostname)) {
    throw new PolyError(
      'forbidden',
      `the hub does not listen on ${hostname}: others could reach it without TLS.`,
      {
        hint: 'Use 127.0.0.1, and reach it from elsewhere through ssh -L.',
      },
    );
  }
  const sessionName = env.POLY_SESSION_NAME || 'poly';
  if (!/^[\w-]{1,64}$/.test(sessionName)) {
    throw new PolyError(
      'invalid_arguments',
      `POLY_SESSION_NAME "${sessionName}" is no name of 1-64 letters, digits, "_" or "-".`,
    );
  }
  return {
    tcp: env.POLY_NO_TCP !== '1',
    port: wholeNumber(env, 'POLY_PORT', 65_535),
    hostname,
    tmuxSocket: env.POLY_TMUX_SOCKET || 'poly',
    tmuxConfig: env.POLY_TMUX_CONFIG || undefined,
    sessionName,
    handlerTimeoutMs: wholeNumber(env, 'POLY_EVENT_HANDLER_TIMEOUT_MS', 600_000) ?? 5_000,
    bufferLines: wholeNumber(env, 'PTY_MAX_BUFFER_LINES', 10_000_000) ?? 50_000,
    quietMs: wholeNumber(env, 'POKE_QUIET_MS', 600_000) ?? 2_000,
  };
}

function wholeNumber(env: Env, name: string, most: number): number | undefined {
  const text = env[name];
  if (!text) return undefined;
  const number = Number(text);
  if (/^\d+$/.test(text) && number <= most) return number;
  throw new PolyError('invalid_arguments', `${name} is "${text}": give a whole number from 0 to ${most}.`);
}
