import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  accepts,
  ajv,
  answer,
  attack,
  call,
  end,
  every,
  fitting,
  hub,
  marker,
  namesOf,
  panes,
  propertiesOf,
  tmux,
  toolsOf,
} from './mcp-every-tool.ts';
import { until } from './test-hub.ts';

afterAll(end);

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
  // What an earlier call has made an agent is no longer starting after a while, by itself.
  await until(async () =>
    (await hub.client.call('pane:list', {})).every(({ meta }) => meta['agent.status'] !== 'starting'),
  );
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

  it('keeps what it promises to answer, which are the ids that other tools take', async () => {
    const own = 'promised';
    const calls: Readonly<Record<string, Record<string, unknown>>> = {
      has_session: { target: 'demo' },
      resolve_relative_pane: { direction: 'next', origin: 'demo:0.0' },
      find_pane_by_position: { corner: 'top-left', target: 'demo' },
      create_session: { name: own },
      create_window: { target: own },
      split_pane: { target: own },
      break_pane: { src: own },
      op_new_window: { target: own },
      op_split_window: { target: own },
      op_break_pane: { source: own, target: own },
      op_new_session: { groupWith: own },
    };
    const promising = toolsOf('mutating').filter(({ outputSchema }) => outputSchema !== undefined);
    // Floating panes are of tmux 3.7.
    const floating = ['new_pane', 'op_new_pane'];
    expect(promising.map(({ name }) => name).sort()).toEqual([...Object.keys(calls), ...floating].sort());
    for (const [name, given] of Object.entries(calls)) {
      // The client itself refuses an answer that is not as promised.
      const { structuredContent, isError } = await call('mutating', name, given);
      const { outputSchema } = promising.find((tool) => tool.name === name) ?? {};
      expect([name, isError, accepts(outputSchema, structuredContent)]).toEqual([name, undefined, true]);
      expect([name, accepts(outputSchema, {})]).toEqual([name, false]);
    }
    for (const session of tmux('list-sessions', '-F', '#{session_id} #{session_group}#{session_name}').split(
      '\n',
    ))
      if (session.includes(own)) tmux('kill-session', '-t', session.split(' ')[0] ?? '');
  });

  it('is there from the safety on that its effect needs, and is marked by it', () => {
    const [readonly, mutating] = [new Set(namesOf('readonly')), new Set(namesOf('mutating'))];
    for (const name of readonly) expect(mutating).toContain(name);
    for (const name of mutating) expect(namesOf('destructive')).toContain(name);
    for (const { name, annotations } of toolsOf('readonly'))
      expect([name, annotations]).toEqual([name, { readOnlyHint: true, openWorldHint: false }]);
    // Who may only look is let look; everybody else moves a cursor by it.
    const onlyLooks = (name: string): boolean => readonly.has(name) && name !== 'get_inbox';
    for (const { name, annotations } of toolsOf('mutating'))
      expect([name, annotations?.readOnlyHint]).toEqual([name, onlyLooks(name)]);
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
  }, 120_000);
});

/** What would be run, and what could not be written; the long tests have all. */
const fewHostile: readonly string[] = [
  'a\0b',
  `#(touch ${marker})`,
  `x\nrun-shell 'touch ${marker}'\n`,
  '\ud800',
];

describe('a call with hostile text', () => {
  it.each(toolsOf('mutating').map((tool) => [tool.name, tool] as const))(
    'of %s runs nothing, breaks nothing, and is answered in few words',
    (_, tool) => attack(tool, fewHostile),
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
  }, 120_000);

  it('finds no way to change anything, whatever it calls', async () => {
    const before = await state();
    const mayLook = new Set(namesOf('readonly'));
    for (const tool of every.filter(({ name }) => !mayLook.has(name))) {
      const said = await answer('readonly', tool.name, fitting(tool));
      expect([tool.name, said.slice(0, 200)]).toEqual([
        tool.name,
        expect.stringMatching(
          /^ERROR forbidden: .* the safety of this client is readonly\. Your user decides/,
        ),
      ]);
    }
    expect(await state()).toEqual(before);
  }, 120_000);
});
