import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CallToolResult, Client, Tool } from '@modelcontextprotocol/client';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { demoServer } from '@polyphony/tmux/testing';
import { expect } from 'vitest';
import { safeties, toolsets } from '../src/edges/mcp/tool.ts';
import { byHttp } from './mcp-clients.ts';
import { TestHub } from './test-hub.ts';

// A hub, a server of tmux, and a client of each safety with every tool there is: for what holds of all of them.

type Json = Readonly<Record<string, unknown>>;
type Safety = (typeof safeties)[number];

export const hub: TestHub = await TestHub.start();
const server = await demoServer();
const socket = server.connection.socketPath ?? '';
const clients: Record<string, Client> = {};
const listed: Record<string, readonly Tool[]> = {};
for (const safety of safeties) {
  const query = new URLSearchParams({ toolsets: toolsets.join(','), safety, 'socket-path': socket });
  // Everything there is, also what is only there on request.
  query.set('operations', 'true');
  clients[safety] = await byHttp(hub, { query: `?${query}` });
  listed[safety] = (await clients[safety].listTools()).tools;
}
export async function end(): Promise<void> {
  for (const client of Object.values(clients)) await client.close();
  await server.stop();
  await hub[Symbol.asyncDispose]();
}

export const toolsOf = (safety: Safety): readonly Tool[] => listed[safety] ?? [];
export const namesOf = (safety: Safety): readonly string[] => toolsOf(safety).map(({ name }) => name);
export const every: readonly Tool[] = toolsOf('destructive');
export const marker: string = join(server.directory, 'ran');

export function tmux(...args: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync('tmux', ['-S', socket, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`tmux ${args.join(' ')}: ${stderr}`);
  return stdout.trimEnd();
}

export const panes: readonly string[] = tmux('list-panes', '-a', '-F', '#{pane_id}').split('\n');
const [ownPane = '', otherPane = ''] = panes;
const demoWindow = tmux('display-message', '-p', '-t', '=demo:1', '#{window_id}');
const ptyPane = (await hub.client.call('pane:new', { argv: ['cat'] })).id;

export const ajv: AjvJsonSchemaValidator = new AjvJsonSchemaValidator();
export const accepts = (schema: unknown, value: unknown): boolean =>
  ajv.getValidator(schema as never)(value as never).valid;
export const propertiesOf = ({ inputSchema }: Tool): readonly (readonly [string, unknown])[] =>
  Object.entries((inputSchema as { readonly properties?: Json }).properties ?? {});

/** What a parameter may be given so that a call makes sense: by its name, else by what its schema takes. */
const samples: Readonly<Record<string, readonly unknown[]>> = {
  id: [ptyPane],
  paneId: [ptyPane],
  target: [ownPane, { client: 'nobody' }],
  origin: [ownPane],
  src: [otherPane],
  dst: [demoWindow, ownPane],
  command: ['true'],
  argv: [['true']],
  args: [['list-sessions']],
  timeout: [0, 1],
  timeoutMs: [1, 100],
  idleMs: [1, 100],
  settle_ms: [10],
  option: ['@sample'],
  layout: ['tiled'],
  client: [{ client: 'nobody' }],
  path: ['/dev/null'],
  items: [[{ name: 'sample', key: 'x', command: 'refresh-client' }]],
  monitor: [{ name: 'sample', what: '%*', format: '#{pane_id}' }],
  kind: ['list_panes'],
  from: ['2026-01-01T00:00:00Z'],
  until: ['2026-01-02T00:00:00Z'],
  annotation: ['ann_0123456789abcdef'],
  message_id: ['msg_0123456789abcdef'],
  thread_id: ['msg_0123456789abcdef'],
  task_id: ['tsk_1f3c22aa'],
  depends_on: [['tsk_1f3c22aa']],
  operations: [[{ kind: 'list_panes', params: {} }], []],
  value: [null],
};
const anything: readonly unknown[] = ['sample', 1, 0, 100, false, ['sample'], [], {}];
/** What is given although nobody must: a call that waits does not wait for long. */
const alwaysGiven = new Set(['timeout', 'timeoutMs', 'settle_ms']);

function sample(name: string, schema: unknown): unknown {
  const { enum: choices = [] } = schema as { readonly enum?: readonly unknown[] };
  const found = [...(samples[name] ?? []), ...choices, ...anything].find((value) => accepts(schema, value));
  if (found === undefined) throw new Error(`say in samples what ${name} may be: ${JSON.stringify(schema)}`);
  return found;
}

/** Arguments that a tool takes. */
export function fitting(tool: Tool): Record<string, unknown> {
  const { required = [] } = tool.inputSchema as { readonly required?: readonly string[] };
  const wanted = propertiesOf(tool).filter(([name]) => required.includes(name) || alwaysGiven.has(name));
  return Object.fromEntries(wanted.map(([name, schema]) => [name, sample(name, schema)]));
}

export async function call(safety: Safety, name: string, given: Json): Promise<CallToolResult> {
  const client = clients[safety];
  return (await client?.callTool({ name, arguments: { ...given } })) as CallToolResult;
}

export async function answer(safety: Safety, name: string, given: Json): Promise<string> {
  const { content, isError } = await call(safety, name, given);
  const [first] = content;
  if (first?.type !== 'text') throw new Error(`${name} answered no text`);
  return isError ? `ERROR ${first.text}` : first.text;
}

/** Text that is text, whatever it looks like. */
export const hostile: readonly string[] = [
  'a\0b',
  'x'.repeat(1_000_000),
  '-k',
  '--',
  '-t%0',
  `#(touch ${marker})`,
  `#{E:#(touch ${marker})}`,
  `; run-shell 'touch ${marker}'`,
  `$(touch ${marker})`,
  `x\nrun-shell 'touch ${marker}'\n`,
  '\u001b]52;c;eA==\u0007',
  '\ud800',
  '',
];

/** Every place of a call where a text stands. */
function textPlaces(tool: Tool): readonly (readonly [string, (text: string) => unknown])[] {
  return propertiesOf(tool).flatMap(([property, schema]) => [
    ...(accepts(schema, 'x') || accepts(schema, '%0') || accepts(schema, '/')
      ? [[property, (text: string) => text] as const]
      : []),
    ...(accepts(schema, ['x']) ? [[property, (text: string) => [text]] as const] : []),
    ...(accepts(schema, { x: 'x' }) ? [[property, (text: string) => ({ x: text })] as const] : []),
  ]);
}

/** Calls a tool with each text in each of its places: nothing is run, nothing breaks, and the answer has few words. */
export async function attack(tool: Tool, texts: readonly string[]): Promise<void> {
  const safety = 'mutating';
  const { name } = tool;
  const { pid } = hub.discovery;
  const tmuxPid = await server.pid();
  for (const [property, at] of textPlaces(tool)) {
    for (const text of texts) {
      const said = await answer(safety, name, { ...fitting(tool), [property]: at(text) });
      const shown = [name, property, text.slice(0, 40), said.slice(0, 300)];
      expect([shown, said.length < 60_000]).toEqual([shown, true]);
      expect([shown, /^ERROR (internal|It failed)/.test(said)]).toEqual([shown, false]);
      if (text.length > 1000 && said.startsWith('ERROR'))
        expect([shown, said.length < 2000]).toEqual([shown, true]);
    }
  }
  // In copy mode keys are commands, some of which ask: nobody would answer.
  for (const pane of panes) spawnSync('tmux', ['-S', socket, 'copy-mode', '-q', '-t', pane]);
  expect(existsSync(marker)).toBe(false);
  expect([hub.discovery.pid, await server.pid()]).toEqual([pid, tmuxPid]);
  expect(await answer(safety, 'pty_list', {})).toContain('<pty_list>');
}
