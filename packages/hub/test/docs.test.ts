import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');

interface Step {
  readonly command: string;
  readonly printed: string;
}

/** What each line of a console block with `$` types, and what stands below it. */
function stepsOf(page: string): readonly Step[] {
  const blocks = [...page.matchAll(/```console\n(.*?)```/gs)].map(([, block = '']) => block);
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((step) => {
        const [command = '', ...lines] = step.split('\n');
        return { command, printed: lines.join('\n').trim() };
      }),
  );
}

/** `…` stands for anything. */
function pattern(printed: string): RegExp {
  const parts = printed.split('…').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}

describe.each([
  ['hub.md', 20],
  ['mail.md', 10],
  ['work.md', 20],
  ['floor.md', 15],
])('docs/%s', (page, least) => {
  const steps = stepsOf(readFileSync(join(root, 'docs', page), 'utf8'));
  const home = mkdtempSync(join(tmpdir(), 'poly-docs-'));
  const mark = 'END-OF-STEP';
  const shell = spawn('sh', {
    cwd: home,
    env: {
      PATH: `${join(root, 'node_modules', '.bin')}:${process.env.PATH}`,
      HOME: home,
      LANG: 'C.UTF-8',
      SHELL: '/bin/sh',
      POLY_HOME: join(home, '.poly'),
      POLY_TMUX_SOCKET: join(home, 'tmux.sock'),
      POLY_PORT: '0',
    },
  });

  /** Types a command into one shell, and answers what it printed. */
  function run(command: string): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    let text = '';
    const read = (chunk: Buffer): void => {
      text += chunk;
      if (!text.includes(mark)) return;
      shell.stdout.off('data', read);
      resolve(text.slice(0, text.indexOf(mark)).trim());
    };
    shell.stdout.on('data', read);
    shell.stdin.write(`${command}\necho ${mark}\n`);
    return promise;
  }

  beforeAll(() => run('exec 2>&1'));
  afterAll(async () => {
    await run('poly server stop --all');
    shell.kill();
    rmSync(home, { recursive: true, force: true });
  });

  it('has examples', () => expect(steps.length).toBeGreaterThan(least));

  it.each(steps)('$command', async ({ command, printed }) => {
    expect(await run(command)).toMatch(pattern(printed));
  });
});
