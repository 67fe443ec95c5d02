import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Capture } from './capture.ts';
import type { OpenCodeEvent } from './opencode.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'poly-opencode-capture-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const files = (folder = 'new'): readonly string[] => readdirSync(join(home, 'journal', folder)).sort();
const event = (type: string, properties: OpenCodeEvent['properties']): OpenCodeEvent => ({
  type,
  properties,
});

/** What lies in the journal as soon as there are so many: the lines of each, and what was said. */
async function dropped(count: number): Promise<readonly (readonly [head: string, said: object])[]> {
  await vi.waitFor(() => expect(files()).toHaveLength(count));
  return files().map((name) => {
    const text = readFileSync(join(home, 'journal', 'new', name), 'utf8');
    const end = text.indexOf('\n\n');
    return [text.slice(0, end), JSON.parse(text.slice(end + 2)) as object] as const;
  });
}

it('drops what tells something, in order and for nobody else to read, and leaves out what only draws', async () => {
  const env = { POLY_HOME: home, POLY_PANE: 'p', POLY_TOKEN: 't', TMUX_PANE: '%1', TMUX: '/s,1,0' };
  const capture = new Capture(env, '/work');
  const begun = Date.now();
  capture.event(event('session.created', { info: { id: 'child', parentID: 'a', agent: 'general' } }));
  capture.event(event('session.created', { info: { id: 'grandchild', parentID: 'child' } }));
  capture.event(event('message.part.updated', { sessionID: 'a' }));
  capture.tell('chat.message', { sessionID: 'a', text: 'one\n\ntwo' });
  capture.event(event('session.idle', { sessionID: 'child' }));
  const told = Date.now();
  const all = await dropped(4);
  for (const name of files()) {
    const { mtimeMs } = statSync(join(home, 'journal', 'new', name));
    expect(mtimeMs >= begun && mtimeMs <= told).toBe(true);
  }
  expect(all[2]).toEqual([
    `poly-capture 1\nagent opencode\npane p\ntoken t\ntmux %1 /s,1,0\nparent ${process.pid}\nfrom opencode-plugin\ntool `,
    { type: 'chat.message', directory: '/work', properties: { sessionID: 'a', text: 'one\n\ntwo' } },
  ]);
  expect(all.map(([, said]) => said)).toMatchObject([
    { type: 'session.created', parentID: 'a', agent: 'general', properties: { sessionID: 'child' } },
    { type: 'session.created', parentID: 'a', properties: { sessionID: 'grandchild' } },
    { type: 'chat.message' },
    { type: 'session.idle', parentID: 'a', agent: 'general' },
  ]);
  expect(statSync(join(home, 'journal', 'new', files()[0] ?? '')).mode & 0o777).toBe(0o600);
  expect(files('tmp')).toEqual([]);
  capture.close();
});

it('tells once what two copies of the plugin hear, and goes on with the other when one has ended', async () => {
  const [one, two, elsewhere] = ['/a', '/a', '/b'].map((folder) => new Capture({ POLY_HOME: home }, folder));
  const idle = event('session.idle', { sessionID: 'a' });
  for (const copy of [one, two, elsewhere]) copy?.event(idle);
  await dropped(2);
  one?.close();
  two?.event(idle);
  await dropped(3);
  for (const copy of [two, elsewhere]) copy?.close();
});

it('holds up nothing where nothing can be written', async () => {
  writeFileSync(join(home, 'journal'), 'a file');
  const capture = new Capture({ POLY_HOME: home }, '/work');
  capture.event(event('session.idle', { sessionID: 'a' }));
  rmSync(join(home, 'journal'));
  capture.event(event('session.idle', { sessionID: 'b' }));
  await vi.waitFor(() => expect(files().length).toBeGreaterThan(0));
  capture.close();
});
