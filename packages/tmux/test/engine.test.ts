import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createEngine, type EngineName } from '../src/engines/index.ts';
import { MemoryEngine } from '../src/engines/memory/engine.ts';
import { Server } from '../src/facade/server.ts';
import { startTestServer, testBinaries } from '../src/testing/index.ts';
import { engineContract, type Ground, type OpenGround } from './engine.contract.ts';
import { runScript } from './engine-script.ts';

const carriers: readonly EngineName[] = ['subprocess', 'control', 'imsg'];
const source = new URL('../src/engines/index.ts', import.meta.url).href;

function realGround(name: EngineName, tmux: string): OpenGround {
  return async (env): Promise<Ground> => {
    const server = await startTestServer({ tmux, ...(env && { env }) });
    const { env: _, ...connection } = server.connection;
    const made = `createEngine(${JSON.stringify(name)}, ${JSON.stringify(connection)})`;
    return {
      engine: server.engine(name),
      directory: server.directory,
      program: (body) =>
        `import { createEngine } from ${JSON.stringify(source)};\nconst engine = ${made};\n${body}`,
      [Symbol.asyncDispose]: () => server.stop(),
    };
  };
}

async function memoryGround(): Promise<Ground> {
  const directory = await mkdtemp(join(tmpdir(), 'poly-memory-'));
  return {
    engine: new MemoryEngine(),
    directory,
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  };
}

engineContract('the memory engine', memoryGround);

describe.each(testBinaries())('%s', (tmux) => {
  for (const name of carriers) engineContract(`the ${name} engine`, realGround(name, tmux));

  test.each(carriers)('the %s engine types and pastes a text of any length into a program', async (name) => {
    await using server = await startTestServer({ tmux });
    const handles = new Server(server.engine(name), server.connection);
    const file = join(server.directory, 'typed');
    const shell = `stty raw -echo; echo ready; exec cat > ${file}`;
    const pane = await (await handles.newSession({ shell })).pane();
    await expect.poll(async () => (await pane.capture())[0]).toBe('ready');
    const text = "Enter; 'é🎉' ".repeat(5_000);
    await pane.sendText(text);
    await pane.paste(text);
    await expect
      .poll(async () => (await readFile(file, 'utf8')) === text + text, { timeout: 10_000 })
      .toBe(true);
  });

  test('one script of operations comes to the same on every engine, the remembered one included', async () => {
    await using first = await startTestServer({ tmux });
    const expected = await runScript(first.engine('subprocess'));
    const { text: version } = await first.engine('subprocess').version();
    for (const name of carriers.filter((one) => one !== 'subprocess')) {
      await using server = await startTestServer({ tmux });
      expect(await runScript(server.engine(name)), name).toEqual(expected);
    }
    expect(await runScript(new MemoryEngine({ version })), 'memory').toEqual(expected);
  });
});

test.each(carriers)('the %s engine names a tmux program that is not there', async (name) => {
  await using server = await startTestServer();
  const engine = createEngine(name, { ...server.connection, tmux: join(server.directory, 'no-such-tmux') });
  const missing = expect.objectContaining({ code: 'missing_binary' });
  await expect(engine.version()).rejects.toEqual(missing);
  await expect(engine.run({ argv: ['new-session', '-d'] })).rejects.toEqual(missing);
  await engine.close();
});

test('an engine nobody knows is refused with the names there are', () => {
  expect(() => createEngine('telnet' as EngineName)).toThrow(/control, subprocess, imsg, memory/);
});
