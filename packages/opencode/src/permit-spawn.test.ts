import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { PermissionRequest, ToolContext } from './opencode.ts';
import { isOutside, permitSpawn, realFolder, subjectsOf } from './permit-spawn.ts';

describe('what the rules are held against', () => {
  it.each([
    [['git', 'push'], ['git push']],
    [
      ['/bin/rm', '-rf', 'x'],
      ['/bin/rm -rf x', 'rm -rf x'],
    ],
    [
      ['/usr/bin/env', '-i', 'A=b', '/bin/rm', 'x'],
      ['/usr/bin/env -i A=b /bin/rm x', 'env -i A=b /bin/rm x', '/bin/rm x', 'rm x'],
    ],
    [['env'], ['env']],
    [
      ['sh', '-ec', 'cd a && rm b; echo $(curl c | d)\nlast'],
      ['sh -ec cd a && rm b; echo $(curl c | d)\nlast', 'cd a', 'rm b', 'echo', 'curl c', 'd', 'last'],
    ],
    [['bash', 'script.sh'], ['bash script.sh']],
    [
      ['sh', '-ce', '--', 'rm b'],
      ['sh -ce -- rm b', 'rm b'],
    ],
    [
      ['bash', '-cx', '-o', 'errexit', 'rm b', 'name', 'argument'],
      ['bash -cx -o errexit rm b name argument', 'rm b'],
    ],
    [
      ['env', '-u', 'HOME', '--chdir', '/', 'A=b c', 'rm', 'b'],
      ['env -u HOME --chdir / A=b c rm b', 'rm b'],
    ],
    [
      ['env', '-iS', 'A=b /bin/rm /c', 'd'],
      ['env -iS A=b /bin/rm /c d', '/bin/rm /c d', 'rm /c d'],
    ],
    [
      ['env', '--split-string=/bin/rm /c'],
      ['env --split-string=/bin/rm /c', '/bin/rm /c', 'rm /c'],
    ],
    [
      ['env', '-Srm b'],
      ['env -Srm b', 'rm b'],
    ],
    [['env', '-u', 'HOME'], ['env -u HOME']],
    [['bash', '-c'], ['bash -c']],
    [['bash', 'script.sh', '-c', 'rm b'], ['bash script.sh -c rm b']],
  ])('%j', (argv, subjects) => {
    expect(subjectsOf(argv)).toEqual(subjects);
  });

  it('names the variables that were added, too', () => {
    expect(subjectsOf(['git', 'log'], { PATH: '/my own' })).toEqual(['git log', "'PATH=/my own' git log"]);
  });
});

describe('a folder', () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'poly-folders-')));
  const project = join(root, 'project');
  for (const name of ['project/inside', 'project-evil']) mkdirSync(join(root, name), { recursive: true });
  symlinkSync(join(root, 'project-evil'), join(project, 'way-out'));
  symlinkSync(project, join(root, 'alias'));
  afterAll(() => rmSync(root, { recursive: true }));

  it.each([
    ['.', false],
    ['inside', false],
    ['inside/..', false],
    ['..', true],
    ['../project-evil', true],
    ['way-out', true],
    ['/', true],
  ])('%s is outside: %s', (workdir, outside) => {
    expect(isOutside(realFolder(project, workdir), [project, '/'])).toBe(outside);
    expect(isOutside(realFolder(project, workdir), [join(root, 'alias')])).toBe(outside);
  });

  it('that is none is refused', () => {
    expect(() => realFolder(project, 'nowhere')).toThrow(/workdir "nowhere" is not there/);
    expect(() => realFolder(import.meta.filename)).toThrow(/is no folder/);
  });

  const asking = (answer: (request: PermissionRequest) => Promise<void>): ToolContext => ({
    sessionID: 'ses_1',
    directory: project,
    worktree: '/',
    abort: new AbortController().signal,
    ask: answer,
  });

  it('outside the project is asked for before the command is', async () => {
    const asked: string[] = [];
    const args = { command: 'rm', args: ['*'] };
    const context = asking(async ({ permission, patterns, always, metadata }) => {
      asked.push(`${permission} ${patterns} ${always} ${metadata.command} ${args.command}`);
    });
    await permitSpawn({ argv: ['rm', '*'], env: {}, cwd: root }, args, context);
    expect(asked).toEqual([
      `external_directory ${root}/* ${root}/* rm '*' rm '*'`,
      // An approval for good must not stand for more than was seen.
      `bash rm * rm ? rm '*' rm '*'`,
    ]);
    expect(args.command).toBe('rm');
  });

  it('or a command that nobody can decide about is refused', async () => {
    const context = asking(async () => {
      throw new Error('the configuration cannot be read');
    });
    await expect(permitSpawn({ argv: ['ls'], env: {}, cwd: project }, {}, context)).rejects.toMatchObject({
      code: 'forbidden',
      message: '"ls" was not allowed: the configuration cannot be read',
    });
  });
});
