import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CallToolResult, Client, Tool } from '@modelcontextprotocol/client';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { demoServer } from '@polyphony/tmux/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { safeties, toolsets } from '../src/edges/mcp/tool.ts';
import { byHttp } from './mcp-clients.ts';
import { TestHub } from './test-hub.ts';

type Json = Readonly<Record<string, unknown>>;
type Safety = (typeof safeties)[number];

const hub = await TestHub.start();
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
afterAll(async () => {
  for (const client of Object.values(clients)) await client.close();
  await server.stop();
  await hub[Symbol.asyncDispose]();
});

const toolsOf = (safety: Safety): readonly Tool[] => listed[safety] ?? [];
const namesOf = (safety: Safety): readonly string[] => toolsOf(safety).map(({ name }) => name);
const every = toolsOf('destructive');
const marker = join(server.directory, 'ran');

function tmux(...args: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync('tmux', ['-S', socket, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`tmux ${args.join(' ')}: ${stderr}`);
  return stdout.trimEnd();
}

const panes = tmux('list-panes', '-a', '-F', '#{pane_id}').split('\n');
const [ownPane = '', otherPane = ''] = panes;
const demoWindow = tmux('display-message', '-p', '-t', '=demo:1', '#{window_id}');
const ptyPane = (await hub.client.call('pane:new', { argv: ['cat'] })).id;

const ajv = new AjvJsonSchemaValidator();
const accepts = (schema: unknown, value: unknown): boolean =>
  ajv.getValidator(schema as never)(value as never).valid;
const propertiesOf = ({ inputSchema }: Tool): readonly (readonly [string, unknown])[] =>
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
  operations: [[{ kind: 'list_panes', params: {} }], []],
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
function fitting(tool: Tool): Record<string, unknown> {
  const { required = [] } = tool.inputSchema as { readonly required?: readonly string[] };
  const wanted = propertiesOf(tool).filter(([name]) => required.includes(name) || alwaysGiven.has(name));
  return Object.fromEntries(wanted.map(([name, schema]) => [name, sample(name, schema)]));
}

async function call(safety: Safety, name: string, given: Json): Promise<CallToolResult> {
  const client = clients[safety];
  return (await client?.callTool({ name, arguments: { ...given } })) as CallToolResult;
}

async function answer(safety: Safety, name: string, given: Json): Promise<string> {
  const { content, isError } = await call(safety, name, given);
  const [first] = content;
  if (first?.type !== 'text') throw new Error(`${name} answered no text`);
  return isError ? `ERROR ${first.text}` : first.text;
}

/** All that a call could have changed: the server of tmux, and the hub with its panes. */
async function state(): Promise<unknown> {
  const columns = ['pane_id', 'pane_pid', 'pane_title', 'pane_active', 'pane_in_mode', 'history_size'];
  const around = ['session_name', 'window_name', 'window_active', 'window_layout', 'window_zoomed_flag'];
  const format = [...columns, ...around].map((name) => `#{${name}}`).join(' ');
  const asked = [
    ['list-panes', '-a', '-F', format],
    ['show-options', '-s'],
    ['show-options', '-g'],
  ];
  const tables = [...asked, ['show-options', '-gw'], ['show-hooks', '-g'], ['list-buffers'], ['list-keys']];
  const { pid, session } = await hub.client.call('server:status', {});
  return {
    tmux: tables.map((args) => tmux(...args)),
    screens: panes.map((pane) => tmux('capture-pane', '-p', '-t', pane)),
    panes: await hub.client.call('pane:list', {}),
    extensions: await hub.client.call('extensions:list', {}),
    ...{ pid, session },
  };
}

describe('every tool', () => {
  it('has a name that every client takes, once', () => {
    expect(new Set(namesOf('destructive')).size).toBe(every.length);
    for (const { name, description } of every) {
      expect(name).toMatch(/^[a-zA-Z][a-zA-Z0-9_]{0,50}$/);
      expect([name, description]).toEqual([name, expect.stringMatching(/\S/)]);
    }
  });

  it('says in JSON Schema what it takes and, if it does, what it answers', () => {
    for (const tool of every) {
      const { name, inputSchema, outputSchema } = tool;
      for (const schema of [inputSchema, outputSchema].filter((one) => one !== undefined)) {
        expect([name, schema.type]).toEqual([name, 'object']);
        expect([name, JSON.stringify(schema).includes('$ref')]).toEqual([name, false]);
        ajv.getValidator(schema as never);
      }
      expect([name, accepts(inputSchema, fitting(tool))]).toEqual([name, true]);
      expect([name, accepts(inputSchema, { ...fitting(tool), surprise: 1 })]).toEqual([name, false]);
    }
  });

  it('is there from the safety on that its effect needs, and is marked by it', () => {
    const [readonly, mutating] = [new Set(namesOf('readonly')), new Set(namesOf('mutating'))];
    for (const name of readonly) expect(mutating).toContain(name);
    for (const name of mutating) expect(namesOf('destructive')).toContain(name);
    for (const { name, annotations } of toolsOf('readonly'))
      expect([name, annotations]).toEqual([name, { readOnlyHint: true, openWorldHint: false }]);
    for (const { name, annotations } of toolsOf('mutating'))
      expect([name, annotations?.readOnlyHint]).toEqual([name, readonly.has(name)]);
    for (const { name, annotations } of every) {
      if (!mutating.has(name))
        expect([name, annotations]).toMatchObject([name, { readOnlyHint: false, destructiveHint: true }]);
      expect([name, annotations?.readOnlyHint && !readonly.has(name)]).toEqual([name, false]);
    }
  });
});

/** Of every kind one; a parameter is given those that its schema does not take. */
const wrong: readonly unknown[] = [5, -1.5, 'no such thing', true, null, [5], { a: 1 }];

describe('a call with the wrong arguments', () => {
  let before: unknown;
  beforeAll(async () => {
    before = await state();
  });

  it.each(every.map((tool) => [tool.name, tool] as const))(
    'of %s is told what is wrong',
    async (name, tool) => {
      const given = fitting(tool);
      for (const [property, schema] of propertiesOf(tool)) {
        for (const value of wrong.filter((one) => !accepts(schema, one))) {
          const said = await answer('destructive', name, { ...given, [property]: value });
          expect([name, property, value, said.slice(0, 300)]).toEqual([
            ...[name, property, value],
            expect.stringMatching(new RegExp(`^ERROR invalid_arguments: .*${property}`, 's')),
          ]);
        }
      }
      expect(await answer('destructive', name, { ...given, surprise: 1 })).toMatch(
        /^ERROR invalid_arguments: .*surprise/s,
      );
      const { required = [] } = tool.inputSchema as { readonly required?: readonly string[] };
      if (required.length > 0)
        expect(await answer('destructive', name, {})).toMatch(/^ERROR invalid_arguments/);
    },
  );

  it('has changed nothing, of whatever tool it was', async () => {
    expect(await state()).toEqual(before);
  });
});

/** Text that is text, whatever it looks like. */
const hostile: readonly string[] = [
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

/** For the operations, of which there are very many: what would be run, and what could not be written. */
const fewHostile: readonly string[] = [
  'a\0b',
  `#(touch ${marker})`,
  `x\nrun-shell 'touch ${marker}'\n`,
  '\ud800',
];
const hostileFor = (tool: string): readonly string[] => (tool.startsWith('op_') ? fewHostile : hostile);

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

describe('a call with hostile text', () => {
  const safety = 'mutating';
  it.each(toolsOf(safety).map((tool) => [tool.name, tool] as const))(
    'of %s runs nothing, breaks nothing, and is answered in few words',
    async (name, tool) => {
      const { pid } = hub.discovery;
      const tmuxPid = await server.pid();
      for (const [property, at] of textPlaces(tool)) {
        for (const text of hostileFor(name)) {
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
    },
  );
});

describe('a client that may only look', () => {
  it('is answered, with what each tool promises, and nothing has changed after all of it', async () => {
    const before = await state();
    for (const tool of toolsOf('readonly')) {
      const { structuredContent, isError, content } = await call('readonly', tool.name, fitting(tool));
      if (!tool.outputSchema || isError) continue;
      const shown = [tool.name, JSON.stringify(structuredContent ?? content).slice(0, 400)];
      expect([...shown, accepts(tool.outputSchema, structuredContent)]).toEqual([...shown, true]);
    }
    expect(await state()).toEqual(before);
  });

  it('finds no way to change anything, whatever it calls', async () => {
    const before = await state();
    const mayLook = new Set(namesOf('readonly'));
    for (const tool of every.filter(({ name }) => !mayLook.has(name))) {
      const said = await answer('readonly', tool.name, fitting(tool));
      expect([tool.name, said.slice(0, 200)]).toEqual([
        tool.name,
        expect.stringMatching(/^ERROR unknown_action: there is no tool/),
      ]);
    }
    expect(await state()).toEqual(before);
  });
});
