import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkRecordings } from './recording.ts';
import { ScreenRules } from './screen-rules.ts';

const hub = join(import.meta.dirname, '../../..');
const rules = new ScreenRules({ shipped: join(hub, 'screens'), own: '/dev/null' });
const screen = {
  ...{ cols: 80, rows: 24, title: '', alternate: true },
  cursor: { x: 0, y: 0, visible: true },
};

describe('checkRecordings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'poly-recordings-'));
  beforeAll(() => mkdirSync(join(folder, 'deep')));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function check(notes: unknown, text = '') {
    writeFileSync(join(folder, 'deep', 'x.txt'), text);
    writeFileSync(join(folder, 'deep', 'x.json'), typeof notes === 'string' ? notes : JSON.stringify(notes));
    const [checked] = checkRecordings(folder, rules);
    expect(checked?.file).toBe(join(folder, 'deep', 'x.txt'));
    return checked;
  }
  const permission = '│ Do you want to proceed?\n\n Esc to cancel · Tab to amend\n\n';

  it('says what is read as something else', () => {
    const notes = { vendor: 'claude', screen, state: 'blocked', blockedOn: 'permission', draft: null };
    expect(check(notes, permission)).toEqual({
      file: expect.any(String),
      status: 'blocked',
      evidence: 'screen: Esc to cancel · Tab to amend',
    });
    expect(check({ ...notes, blockedOn: 'question' }, permission)?.problem).toBe(
      'blockedOn is read as "permission", not "question" (screen: Esc to cancel · Tab to amend)',
    );
    expect(check({ ...notes, draft: '', queued: true }, permission)?.problem).toMatch(
      /^draft is read as null, not "", queued is read as false, not true/,
    );
    expect(check({ ...notes, state: 'idle', blockedOn: undefined }, permission)?.problem).toMatch(
      /^state is read as "blocked", not "idle"/,
    );
  });

  it('says of one without a state, of another agent and of one that is cut what it lacks', () => {
    expect(check({ vendor: 'claude', screen })?.problem).toMatch(/^nobody has said what it shows/);
    expect(check({ vendor: 'cluade', screen })?.problem).toMatch(/vendor must be .* did you mean claude/);
    expect(check('{')?.problem).toMatch(/JSON/);
  });

  it('leaves alone what is no recording', () => {
    rmSync(join(folder, 'deep', 'x.txt'));
    expect(checkRecordings(folder, rules)).toEqual([]);
  });
});
