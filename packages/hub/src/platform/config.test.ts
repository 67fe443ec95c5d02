import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readConfig } from './config.ts';

const folder = mkdtempSync(join(tmpdir(), 'poly-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

function read(text: string) {
  const file = join(folder, 'config.toml');
  writeFileSync(file, text);
  return readConfig(file);
}

it('has nothing to say when there is none', () => {
  expect(readConfig(join(folder, 'none'))).toEqual({
    floor: { seat_lease: 1_800_000 },
    mail: { unread_alert: 900_000 },
    notify: { terminal: true, desktop: true },
    output: { keep: 'memory', pane_mb: 16, all_mb: 512, pane_disk_mb: 64, all_disk_mb: 2048 },
    permission: { timeout: 300_000, spawn: {}, write: {}, directory: {} },
    problems: [],
  });
});

it.each([
  ['0s', 0],
  ['250ms', 250],
  ['90s', 90_000],
  ['5m', 300_000],
  ['24h', 86_400_000],
])('waits for an answer for %s', (text, timeout) => {
  expect(read(`[permission]\ntimeout = "${text}"`).permission.timeout).toBe(timeout);
});

it('knows the home of the user in folders', () => {
  const { directory } = read('[permission.directory]\n"~/x" = "deny"\n"~" = "ask"').permission;
  expect(directory).toEqual({ [join(homedir(), 'x')]: 'deny', [homedir()]: 'ask' });
});

it('says in one line where it is no TOML', () => {
  const { problems } = read('[output]\npane_mb = = 3\n');
  expect(problems).toEqual([expect.stringMatching(/config\.toml, line 2, column \d+: [^\n]+\.$/)]);
});

it('refuses more for one pane than for all of them, and says which and how much', () => {
  expect(read('[output]\npane_mb = 600').problems).toEqual([
    expect.stringMatching(/config\.toml: output\.pane_mb must be at most all_mb, which is 512, not 600\.$/),
  ]);
  expect(read('[output]\npane_disk_mb = 9\nall_disk_mb = 8').problems).toEqual([
    expect.stringMatching(/output\.pane_disk_mb must be at most all_disk_mb, which is 8, not 9\.$/),
  ]);
  expect(read('[output]\nall_mb = 8\nall_disk_mb = 8')).toMatchObject({
    output: { pane_mb: 8, pane_disk_mb: 8 },
    problems: [],
  });
});

it.each([
  ['no TOML', '[permission'],
  ['an unknown key', '[permissions.spawn]'],
  ['an unknown table', '[permission.spwan]\n"x" = "allow"'],
  ['an unknown verdict', '[permission.spawn]\n"x" = "never"'],
  ['a verdict that is none', '[permission.spawn]\n"x" = true'],
  ['an empty pattern', '[permission.spawn]\n"" = "allow"'],
  ['a folder that is no whole path', '[permission.directory]\n"src" = "allow"'],
  ['a home of somebody else', '[permission.directory]\n"~root" = "deny"'],
  ['a time without unit', '[permission]\ntimeout = "5"'],
  ['a time that is a number', '[permission]\ntimeout = 5'],
  ['a time that is too long', '[permission]\ntimeout = "25h"'],
])('denies everything and asks nobody for %s', (_, text) => {
  const denyAll = { '*': 'deny' };
  const { permission, problems } = read(text);
  expect(permission).toEqual({ timeout: 0, spawn: denyAll, write: denyAll, directory: denyAll });
  expect(problems).toEqual([expect.stringContaining('config.toml')]);
});

it.each([
  ['[permission.spwan]', '"spwan" is unknown: permission takes timeout, spawn, write and directory; did you'],
  [
    '[permision]',
    '"permision" is unknown: it takes floor, mail, notify, output and permission; did you mean permission?',
  ],
  ['[permission.spawn]\n"x" = "never"', 'permission.spawn.x must be allow, ask or deny, not "never".'],
  ['[permission]\ntimeout = 5', 'permission.timeout must be text, not 5.'],
  [
    '[permission]\ntimeout = "5"',
    'permission.timeout must be a time like "90s", "5m" or "1h", at most 24h, not',
  ],
  ['[output]\npane_mb = 0', 'output.pane_mb must be 1 to 1024, not 0.'],
  ['[permission.directory]\n"src" = "deny"', 'permission.directory.src must begin with "/", "~/" or "*"'],
])('says of %j what is wrong and what may stand there', (text, problem) => {
  expect(read(text).problems[0]).toContain(`config.toml: ${problem}`);
});

it('denies everything when it is no file', () => {
  expect(readConfig(folder).permission.write).toEqual({ '*': 'deny' });
});
