import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type PaneToolName, paneTools, readGiven } from '@polyphony/protocol';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { commands } from '../src/edges/cli/commands.ts';
import { parse } from '../src/edges/cli/parse.ts';
import { mcpFloorTools } from '../src/edges/mcp/floor-tools.ts';
import { mcpMailTools } from '../src/edges/mcp/mail-tools.ts';
import { changing } from '../src/edges/mcp/tmux/changing.ts';
import { looking } from '../src/edges/mcp/tmux/looking.ts';
import { plans } from '../src/edges/mcp/tmux/plans.ts';
import { relative } from '../src/edges/mcp/tmux/relative.ts';
import { waiting } from '../src/edges/mcp/tmux/waiting.ts';
import { workspaces } from '../src/edges/mcp/tmux/workspaces.ts';
import { CliGround, type Outcome } from './cli-ground.ts';

const tmuxVerbs = { ...looking, ...relative, ...waiting, ...changing };
const ground = new CliGround();
afterAll(() => ground[Symbol.asyncDispose]());
const skill = readFileSync(join(import.meta.dirname, '..', 'skill', 'SKILL.md'), 'utf8');
/** Where Claude Code 2.1 and Codex 0.166 look. */
const places = ['.claude/skills/polyphony/SKILL.md', '.agents/skills/polyphony/SKILL.md'];

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(ground.home, 'home-'));
});

function poly(words: string): Promise<Outcome> {
  const env = { HOME: home, POLY_HOME: join(home, '.poly'), PATH: '', CODEX_HOME: '', CLAUDE_CONFIG_DIR: '' };
  return ground.run(words.split(' '), { cwd: home, env });
}

const read = (file: string): string => readFileSync(join(home, file), 'utf8');

describe('the skill', () => {
  it('is short, and begins as agents want it', () => {
    expect(skill.split('\n').length).toBeLessThan(150);
    const [, name, description = ''] = /^---\nname: (.*)\ndescription: (.*)\n---\n/.exec(skill) ?? [];
    expect(name).toBe('polyphony');
    expect(description.length).toBeLessThan(1024);
    // A colon with a space behind it would end the value in YAML.
    expect(description).not.toMatch(/: |#|^["'[{&*!|>%@`]/);
  });

  it('names every tool of a terminal, and calls each as it wants to be called', () => {
    for (const name of Object.keys(paneTools)) expect(skill).toContain(`\`${name}\``);
    const calls = [...skill.matchAll(/^(pty_\w+) +(.*)$/gm)];
    expect(calls.length).toBeGreaterThan(9);
    for (const [, name = '', given = ''] of calls) {
      const params = JSON.parse(`{${given.replace(/(?<=^|, )(\w+):/g, '"$1":')}}`) as unknown;
      readGiven(paneTools[name as PaneToolName].params as never, params, { what: name });
    }
  });

  it('names every tool of mail, and no tool of any kind that there is not', () => {
    for (const { name } of mcpMailTools) expect(skill).toContain(`\`${name}\``);
    const known = new Set([
      ...Object.keys({ ...paneTools, ...tmuxVerbs, ...plans, ...workspaces }),
      ...[...mcpMailTools, ...mcpFloorTools].map(({ name }) => name),
    ]);
    const named = [...skill.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  it('calls the tools of tmux as they want to be called', () => {
    const calls = [...skill.matchAll(/^(\w+) +(target: .*)$/gm)];
    expect(calls.length).toBeGreaterThan(3);
    for (const [, name = '', given = ''] of calls) {
      const params = JSON.parse(`{${given.replace(/(?<=^|, )(\w+):/g, '"$1":')}}`) as unknown;
      readGiven(z.strictObject(tmuxVerbs[name]?.params ?? {}), params, { what: name });
    }
  });

  it('shows command lines that poly takes', () => {
    const blocks = [...skill.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block).join('\n');
    const lines = [...blocks.matchAll(/^poly ((?:floor )?\w+) ?(.*?)(?: +#.*)?$/gm)];
    expect(lines.length).toBeGreaterThan(12);
    for (const [, name = '', words = ''] of lines) {
      const command = commands.find((one) => one.name === name);
      expect([name, command?.name]).toEqual([name, name]);
      const given = (words.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ''));
      expect(() => parse(given, command?.flags ?? {})).not.toThrow();
    }
  });

  it('says how to join, rename, disconnect, show the status and hand off', () => {
    for (const verb of ['join', 'status', 'rename', 'handoff', 'disconnect'])
      expect(skill).toMatch(new RegExp(`^\\| ${verb}\\b.* \\| \`poly `, 'm'));
  });

  it('is printed by poly skill', async () => {
    for (const words of ['skill', 'skill print']) expect((await poly(words)).stdout).toBe(skill);
    expect(JSON.parse((await poly('skill --json')).stdout)).toEqual({ name: 'polyphony', skill });
    expect((await poly('skill instal')).stderr).toContain('Did you mean skill install?');
  });

  it('is installed for those who are here, and taken away again', async () => {
    expect((await poly('skill install')).code).toBe(3);
    mkdirSync(join(home, '.claude'));
    const { stdout } = await poly('skill install --dry-run');
    expect(stdout).toContain('+name: polyphony\n');
    expect(existsSync(join(home, '.claude/skills'))).toBe(false);
    expect((await poly('skill install')).stdout).toMatch(/^Claude Code +added .*SKILL.md\n$/);
    expect(places.map((place) => existsSync(join(home, place)))).toEqual([true, false]);
    expect((await poly('skill install claude codex')).stdout).toMatch(/unchanged.*added/s);
    for (const place of places) expect(read(place)).toBe(skill);
    expect((await poly('skill uninstall')).code).toBe(0);
    expect([existsSync(join(home, '.claude/skills')), existsSync(join(home, '.agents'))]).toEqual([
      false,
      false,
    ]);
    expect((await poly('skill uninstall')).stderr).toBe('There is nothing to remove.\n');
  });

  it('is installed into a project', async () => {
    expect((await poly('skill install claude codex --scope project')).code).toBe(0);
    for (const place of places) expect(read(place)).toBe(skill);
  });

  it('replaces one of its own versions, and no other', async () => {
    const [place = ''] = places;
    const path = join(home, place);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'mine\n');
    for (const verb of ['install', 'uninstall']) {
      const { code, stderr } = await poly(`skill ${verb} claude`);
      expect([code, read(place)]).toEqual([4, 'mine\n']);
      expect(stderr).toContain('--force');
    }
    expect((await poly('skill install claude --force')).stdout).toContain('updated');
    expect(read(place)).toBe(skill);
    await poly('skill uninstall claude');
    expect(read(place)).toBe('mine\n');
  });
});
