import { type ConnectionOptions, type Engine, execute, executeChain, type RunOptions } from '../engine.ts';
import type { Operation } from '../operation/operation.ts';

/** What every live handle needs of its server: a way to run operations, and to open connections of its own. */
export class ServerAccess {
  readonly engine: Engine;
  readonly connection: ConnectionOptions;

  constructor(engine: Engine, connection: ConnectionOptions = {}) {
    this.engine = engine;
    this.connection = connection;
  }

  /** Runs any operation and gives its typed answer. */
  async run<P, V>(operation: Operation<P, V>, options?: RunOptions): Promise<V> {
    return (await execute(this.engine, operation, options)).unwrap();
  }

  /** Runs operations on one line: all of them, or an error for the first that failed. */
  async runAll(...operations: readonly Operation[]): Promise<void> {
    for (const result of await executeChain(this.engine, operations)) result.raiseForStatus();
  }
}
