import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, execute } from '../engine.ts';
import { newSession } from '../operations/new-session.ts';
import { splitWindow } from '../operations/split-window.ts';
import { isAlive, startTestServer, type TestServer } from '../testing/index.ts';
import { runHostStep } from './host.ts';
import { Plan } from './plan.ts';

describe('host steps', () => {
  let server: TestServer;
  let engine: Engine;
  beforeAll(async () => {
    server = await startTestServer();
    engine = server.engine();
    (await execute(engine, newSession({ name: 'home', width: 120, height: 60, shell: 'cat' }))).unwrap();
  });
  afterAll(() => server.stop());

  it('run scripts with their folder and variables, and keep what they print', async () => {
    const plan = new Plan();
    plan.host({
      type: 'script',
      command: 'echo "$WHO in $(pwd)"; echo careful >&2',
      cwd: '/',
      env: { WHO: 'me' },
    });
    const result = await plan.execute(engine);
    expect(result.steps[0]).toMatchObject({
      status: 'complete',
      value: { stdout: 'me in /\n', stderr: 'careful\n' },
    });
  });

  it('fail with what a script printed when it does not exit 0, and skip the rest', async () => {
    const plan = new Plan();
    plan.host({ type: 'script', command: 'echo no database >&2; exit 3' });
    plan.add(splitWindow({ target: '%0' }));
    const result = await plan.execute(engine);
    expect(result.steps.map(({ status }) => status)).toEqual(['failed', 'skipped']);
    expect(() => result.raiseForStatus()).toThrow(
      expect.objectContaining({
        code: 'script_failed',
        message: expect.stringMatching(/ended with 3.*\n.*no database/),
      }),
    );
  });

  it('fail with a typed error when a script cannot start', async () => {
    const plan = new Plan();
    plan.host({ type: 'script', command: 'true', cwd: '/no/such/folder' });
    const result = await plan.execute(engine);
    expect(result.failure?.error).toMatchObject({
      code: 'script_failed',
      message: expect.stringContaining('/no/such/folder'),
    });
  });

  it('do not wait for what a script leaves running', async () => {
    const pidFile = join(server.directory, 'left');
    const value = await runHostStep(
      { type: 'script', command: `sleep 1000 & echo $! > ${pidFile}; echo up` },
      { engine, bindings: {} },
    );
    expect(value).toEqual({ stdout: 'up\n', stderr: '' });
    process.kill(Number(await readFile(pidFile, 'utf8')));
  });

  it('end a script and all it started when the plan is aborted', async () => {
    const pidFile = join(server.directory, 'child');
    const stop = new AbortController();
    const plan = new Plan();
    plan.host({
      type: 'script',
      command: `sleep 1000 & echo $! > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; wait`,
    });
    const running = plan.execute(engine, { signal: stop.signal });
    await expect.poll(() => existsSync(pidFile), { interval: 5 }).toBe(true);
    stop.abort();
    const result = await running;
    expect(result.failure?.error).toMatchObject({ code: 'aborted' });
    const child = Number(await readFile(pidFile, 'utf8'));
    await expect.poll(() => isAlive(child), { interval: 5 }).toBe(false);
  });

  it('wait until a program has drawn something in a pane', async () => {
    const plan = new Plan();
    const side = plan.add(splitWindow({ target: '%0', shell: 'printf ready; exec cat' }));
    plan.host({ type: 'wait_pane', target: side.self, timeoutMs: 20_000 });
    const result = (await plan.execute(engine)).raiseForStatus();
    expect(result.steps[1]).toMatchObject({ status: 'complete', value: { ready: true } });
  });

  it('take silence for an answer once the time is up', async () => {
    const plan = new Plan();
    const side = plan.add(splitWindow({ target: '%0', shell: 'cat' }));
    plan.host({ type: 'wait_pane', target: side.self, timeoutMs: 60 });
    const result = (await plan.execute(engine)).raiseForStatus();
    expect(result.steps[1]).toMatchObject({ status: 'complete', value: { ready: false } });
  });

  it('fail when the pane to wait for does not exist', async () => {
    const plan = new Plan();
    plan.host({ type: 'wait_pane', target: '%4321', timeoutMs: 20_000 });
    const result = await plan.execute(engine);
    expect(result.failure?.error).toMatchObject({
      code: 'command_failed',
      message: expect.stringContaining('%4321'),
    });
  });

  it('call functions with the ids known by then, and fail with what they throw', async () => {
    const plan = new Plan();
    const side = plan.add(splitWindow({ target: '%0', shell: 'cat' }));
    plan.host({ type: 'call', name: 'look', run: ({ bindings }) => bindings[`${side.index}:pane`] });
    plan.host({ type: 'call', name: 'complain', run: () => Promise.reject(new Error('no')) });
    const result = await plan.execute(engine);
    expect(result.steps[1]).toMatchObject({ value: result.id(side.pane) });
    expect(() => result.raiseForStatus()).toThrow('no');
  });

  it('can be carried out by somebody else', async () => {
    const plan = new Plan();
    plan.host({ type: 'sleep', ms: 1_000_000 });
    const result = await plan.execute(engine, { host: async (step) => `pretended ${step.type}` });
    expect(result.steps[0]).toMatchObject({ status: 'complete', value: 'pretended sleep' });
  });
});
