import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CliGround } from './cli-ground.ts';

let ground: CliGround;
beforeEach(() => {
  ground = new CliGround();
});
afterEach(() => ground[Symbol.asyncDispose]());

const story = [
  'is at version 1.',
  'ada writes to bruno.',
  'A task: Show refunds in the checkout.',
  'bruno takes it.',
  'bruno writes to ada.',
  'is at version 2, which breaks the one before: the property reason is required now.',
  'The task is stale: it is built on version 1 of openapi.yaml.',
  'hub writes to bruno.',
  'Version 2 of openapi.yaml is acknowledged.',
  'bruno has completed the task.',
  'bruno writes to ada.',
];

/** What is left of a text behind words that come in this order. */
const inOrder = (text: string): readonly string[] => {
  let at = 0;
  return story.filter((words) => {
    const found = text.indexOf(words, at);
    if (found >= 0) at = found + words.length;
    return found >= 0;
  });
};

it('shows two agents that find each other, write, and hear what the other changed', async () => {
  const told = await ground.ok('demo');
  expect(inOrder(told)).toEqual(story);
  const [, folder = ''] = /^Two agents work in (\S+):/.exec(told) ?? [];
  expect([folder !== '', existsSync(folder)]).toEqual([true, false]);
  const panes = await ground.json<{ id: string; title: string; exitCode: number }[]>('ls');
  expect(panes.map(({ title, exitCode }) => [title, exitCode])).toEqual([
    ['bruno (demo)', 0],
    ['ada (demo)', 0],
  ]);
  const bruno = await ground.ok('read', panes[0]?.id ?? '');
  expect(bruno).toContain(
    'is built on a contract that has changed: openapi.yaml (built on version 1, now 2).',
  );
});

it('goes on when the hub is killed in the middle of it', async () => {
  await ground.ok('server', 'start');
  const child = spawn(process.execPath, [ground.program, 'demo'], { env: ground.env, cwd: ground.home });
  const ended = once(child, 'close');
  let told = '';
  let killed = false;
  child.stdout.on('data', (chunk: Buffer) => {
    told += chunk;
    // Both wait now, and ask again when nobody answers.
    if (killed || !told.includes('bruno writes to ada.')) return;
    killed = true;
    const { pid } = JSON.parse(readFileSync(join(ground.home, '.poly', 'hub.json'), 'utf8')) as {
      pid: number;
    };
    process.kill(pid, 'SIGKILL');
  });
  expect([(await ended)[0], killed]).toEqual([0, true]);
  expect(inOrder(told)).toEqual(story);
});
