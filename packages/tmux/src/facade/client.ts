import type { Target } from '../operation/target.ts';
import { detachClient, refreshClient, switchClient } from '../operations/index.ts';
import type { ServerAccess } from './server-access.ts';

/**
 * A live client: somebody's terminal, or a control connection.
 *
 * @example for (const client of await server.clients()) await client.refresh();
 */
export class Client {
  readonly server: ServerAccess;
  readonly name: string;

  constructor(server: ServerAccess, name: string) {
    this.server = server;
    this.name = name;
  }

  detach(): Promise<unknown> {
    return this.server.run(detachClient({ target: { client: this.name } }));
  }

  refresh(): Promise<unknown> {
    return this.server.run(refreshClient({ target: { client: this.name } }));
  }

  switchTo(session: Target): Promise<unknown> {
    return this.server.run(switchClient({ client: { client: this.name }, target: session }));
  }
}
