import { spawnSync } from 'node:child_process';
import type { Client } from '@modelcontextprotocol/client';
import { demoServer, type TestServer } from '@polyphony/tmux/testing';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { byHttp, byStdio } from './mcp-clients.ts';
import { TestHub } from './test-hub.ts';

interface Asked {
  readonly toolsets?: string;
  readonly safety?: 'readonly' | 'mutating' | 'destructive';
  readonly operations?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
}

export interface McpTmuxGround {
  readonly hub: TestHub;
  readonly server: TestServer;
  readonly socket: () => string;
  readonly overHttp: (asked?: Asked) => Promise<Client>;
  readonly overStdio: (asked?: Asked) => Promise<Client>;
  /** What a real tmux says, beside everything that is tested. */
  readonly tmux: (...args: readonly string[]) => string;
  /** The variables a program in a pane has. */
  readonly inPane: (pane: string) => Record<string, string>;
}

/** A hub for a file of tests, a tmux server with the demo for each of them, and MCP clients that act on it. */
export function mcpTmuxGround(): McpTmuxGround {
  let hub: TestHub;
  let server: TestServer;
  const clients: Client[] = [];
  beforeAll(async () => {
    hub = await TestHub.start();
  });
  afterAll(() => hub[Symbol.asyncDispose]());
  beforeEach(async () => {
    server = await demoServer();
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
    await server.stop();
  });

  const socket = (): string => server.connection.socketPath ?? '';
  const tmux = (...args: readonly string[]): string => {
    const { stdout, stderr, status } = spawnSync('tmux', ['-S', socket(), ...args], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`tmux ${args.join(' ')}: ${stderr}`);
    return stdout.trimEnd();
  };
  return {
    socket,
    tmux,
    get hub() {
      return hub;
    },
    get server() {
      return server;
    },
    async overHttp({ toolsets = 'tmux', safety = 'destructive', operations } = {}) {
      const query = new URLSearchParams({
        ...{ toolsets, safety, 'socket-path': socket() },
        ...(operations && { operations: 'true' }),
      });
      const client = await byHttp(hub, { query: `?${query}` });
      clients.push(client);
      return client;
    },
    async overStdio({ toolsets = 'tmux', safety = 'destructive', operations, env, args } = {}) {
      const more = [...(operations ? ['--operations'] : []), ...(args ?? ['--socket-path', socket()])];
      const client = await byStdio(hub, {
        args: ['--toolsets', toolsets, '--safety', safety, ...more],
        ...(env && { env }),
      });
      clients.push(client);
      return client;
    },
    inPane: (pane) => ({
      TMUX: tmux('display-message', '-p', '-t', pane, '#{socket_path},#{pid},0'),
      TMUX_PANE: tmux('display-message', '-p', '-t', pane, '#{pane_id}'),
    }),
  };
}
