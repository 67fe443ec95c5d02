import type { Channel } from '../../registry/ask.ts';
import type { LineTransport } from './line-transport.ts';
import type * as Sdk from './sdk.ts';

type Server = InstanceType<typeof Sdk.Server>;

/** What a server of MCP says of itself so that Claude Code listens to what comes unasked. */
export const channelCapability: Record<string, Record<string, never>> = { 'claude/channel': {} };

/**
 * The channel of Claude Code, a preview: `notifications/claude/channel`, which it answers with nothing. Claude Code
 * 2.1.325 takes it in the protocol of 2025 only, so that the one of 2026 is not offered beside it.
 */
export class ClaudeChannel implements Channel {
  readonly #transport: LineTransport;
  #server: Server | undefined;
  #waiting: (() => void)[] = [];

  constructor(transport: LineTransport) {
    this.#transport = transport;
    transport.unknown.add('server/discover');
  }

  /** Opens it when the client has said hello. */
  serve(server: Server): Server {
    server.oninitialized = () => {
      this.#server = server;
      for (const listener of this.#waiting.splice(0)) listener();
    };
    return server;
  }

  get isOpen(): boolean {
    return this.#server !== undefined && this.#transport.isOpen;
  }

  send(text: string, about: Readonly<Record<string, string>>): boolean {
    const server = this.#server;
    if (!server || !this.isOpen) return false;
    const params = { content: text, meta: plainKeys(about) };
    // Whether it arrives is told by nobody; that the line has gone is told by the end of the connection.
    server.notification({ method: 'notifications/claude/channel', params }).catch(() => undefined);
    return true;
  }

  whenOpen(listener: () => void): void {
    if (this.isOpen) listener();
    else this.#waiting.push(listener);
  }
}

/** Claude Code drops other keys. */
function plainKeys(about: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(about).map(([name, value]) => [name.replace(/[^A-Za-z0-9_]/g, '_'), value]),
  );
}
