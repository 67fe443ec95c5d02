import { type ErrorCode, PolyError } from '@polyphony/protocol';
import type { Host } from '../host/client.ts';
import { HostError, type HostErrorCode } from '../host/host-error.ts';

export interface HostLinkOptions {
  /** Finds the host, or starts one. */
  readonly connect: () => Promise<Host>;
  /** The host that runs already, if one does. */
  readonly find: () => Promise<Host | undefined>;
  /** Called with every host that was found or started, before anybody else gets it. */
  readonly onConnected: (host: Host) => Promise<void>;
  /** Called when a host has gone; its panes went with it. */
  readonly onLost: () => void;
}

/** The way to the host: found when first needed, and found again when it was lost. */
export class HostLink {
  readonly #options: HostLinkOptions;
  #current: Promise<Host> | undefined;
  #connected: Host | undefined;
  #closed = false;

  constructor(options: HostLinkOptions) {
    this.#options = options;
  }

  /** Works with the host; what it refuses becomes an error of ours. */
  async use<T>(work: (host: Host) => Promise<T>): Promise<T> {
    try {
      return await work(await this.#host());
    } catch (error) {
      throw error instanceof HostError ? translate(error) : error;
    }
  }

  /** The same for what is only nice to know: neither starts a host nor waits for one that does not answer. */
  async ifConnected<T>(work: (host: Host) => Promise<T>): Promise<T | undefined> {
    return this.#connected && work(this.#connected).catch(() => undefined);
  }

  /** Meets the host that runs already; starts none. */
  async find(): Promise<void> {
    const host = await this.#options.find();
    if (!host) return;
    this.#current ??= this.#meet(host);
    await this.#current;
  }

  /** Ends the host that runs, if one does, with every pane it has. */
  async stop(): Promise<void> {
    if (!this.#current) await this.find();
    const stopping = this.#current && this.use((host) => host.stop({ killPanes: true }));
    this.#closed = true;
    await stopping;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const host = await this.#current?.catch(() => undefined); // It was never there.
    await host?.close();
  }

  #host(): Promise<Host> {
    if (this.#closed) throw new PolyError('stopping', 'the hub is stopping.');
    this.#current ??= this.#connect();
    return this.#current;
  }

  async #connect(): Promise<Host> {
    try {
      return await this.#meet(await this.#options.connect());
    } catch (error) {
      this.#current = undefined;
      throw error;
    }
  }

  async #meet(host: Host): Promise<Host> {
    host.onClose(() => {
      this.#current = undefined;
      this.#connected = undefined;
      if (!this.#closed) this.#options.onLost();
    });
    await this.#options.onConnected(host);
    this.#connected = host;
    return host;
  }
}

/** What the host's refusals are to those who asked the hub. */
const codes: Partial<Record<HostErrorCode, ErrorCode>> = {
  invalid_parameters: 'invalid_arguments',
  program_missing: 'spawn_failed',
  program_not_executable: 'spawn_failed',
  cwd_unusable: 'spawn_failed',
  pty_unavailable: 'unavailable',
  pipe_unavailable: 'unavailable',
  duplicate_pane: 'conflict',
  unknown_pane: 'not_found',
  pane_running: 'conflict',
  pane_exited: 'pane_exited',
  input_full: 'conflict',
  kill_failed: 'conflict',
  output_unreadable: 'unavailable',
  search_busy: 'too_many_requests',
  unknown_request: 'unavailable',
  protocol_mismatch: 'unavailable',
  unsafe_directory: 'unavailable',
  host_unavailable: 'unavailable',
  host_silent: 'unavailable',
  connection_lost: 'uncertain',
};

function translate({ code, message, hint, details, ...rest }: HostError): PolyError {
  return new PolyError(codes[code] ?? 'internal', message, { hint, details, cause: rest });
}
