import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createEngine, killPane, resizePane, Server, splitWindow } from '../src/index.ts';
import { demoServer, startTestServer } from '../src/testing/index.ts';
import { loadWorkspace } from '../src/workspace/index.ts';

/** Slips of the pen that must never reach somebody's server. */
test.each(['work', 'work:1', '=work', '', '%-1', '%1x'])(
  'the target %j is refused with what to give instead',
  (target) => {
    expect(() => killPane({ target } as never)).toThrow(
      `kill_pane: target: ${JSON.stringify(target)} is no target: give an id`,
    );
  },
);

test.each(['0%', '101%', '-5%', '5'])('the size %j is refused', (size) => {
  expect(() => splitWindow({ target: '%0', size } as never)).toThrow(
    expect.objectContaining({ code: 'invalid_parameters' }),
  );
});

test('a misspelt connection option is refused, and never means the default server', () => {
  expect(() => createEngine('control', { socket: 'x' } as never)).toThrow(/no connection options: .*socket/);
  expect(() => Server.connect('work' as never)).toThrow(/no connection options/);
  expect(() => resizePane({ target: '%0', widht: 1 } as never)).toThrow(/widht/);
});

test('a server in memory never listens to a real one', async () => {
  await expect(Server.connect({}, 'memory').events()).rejects.toMatchObject({ code: 'invalid_parameters' });
});

test('a file that stands where the socket is said to be survives', async () => {
  await using server = await startTestServer();
  const file = join(server.directory, 'precious');
  await writeFile(file, 'kept');
  for (const name of ['control', 'subprocess', 'imsg'] as const) {
    const engine = createEngine(name, { ...server.connection, socketPath: file });
    await expect(engine.run({ argv: ['new-session', '-d'] })).rejects.toMatchObject({
      code: 'invalid_parameters',
    });
    await engine.close();
  }
  expect(await readFile(file, 'utf8')).toBe('kept');
});

test('an unknown wish for an existing session touches nothing', async () => {
  await using server = await demoServer();
  const engine = server.engine();
  const before = await engine.run({ argv: ['list-sessions', '-F', '#{session_id} #{session_name}'] });
  const workspace = { session_name: 'demo', windows: [{ panes: ['true'] }] };
  await expect(loadWorkspace(engine, workspace, { onExists: 'attach' as never })).rejects.toThrow(
    /error, replace, reuse/,
  );
  await expect(loadWorkspace(engine, undefined as never)).rejects.toMatchObject({
    code: 'invalid_workspace',
  });
  expect(await engine.run({ argv: ['list-sessions', '-F', '#{session_id} #{session_name}'] })).toEqual(
    before,
  );
});
