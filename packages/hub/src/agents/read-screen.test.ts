import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentStatus, BlockedOn, PaneScreen } from '@polyphony/protocol';
import { describe, expect, it } from 'vitest';
import type { Reading } from './read-screen.ts';
import { checkRecordings } from './screens/recording.ts';
import { ScreenRules } from './screens/screen-rules.ts';
import type { VendorName } from './vendors/vendor.ts';

const recordings = join(import.meta.dirname, '../../test/screens');
const rules = new ScreenRules({ shipped: join(import.meta.dirname, '../../screens'), own: '/dev/null' });
const readScreen = (vendor: VendorName, screen: PaneScreen): Reading => rules.readScreen(vendor, screen);

function showing(text: string, title = ''): PaneScreen {
  const lines = text.split('\n');
  return {
    rows: lines.length,
    cols: 120,
    lines,
    cursor: { x: 0, y: 0, visible: false },
    title,
    alternate: true,
  };
}

const record = (vendor: VendorName, name: string, title?: string): PaneScreen =>
  showing(readFileSync(join(recordings, vendor, `${name}.txt`), 'utf8'), title);

/** A recorded screen: its name, what it must be read as, the draft in its composer (null: no composer), the title. */
type Row = readonly [
  name: string,
  read: AgentStatus | `blocked ${BlockedOn}` | 'running queued',
  draft: string | null,
  title?: string,
];

const codexAtRest = 'xxxxxxxxxxxxxxxxx';
const codexBusy = `⠋ ${codexAtRest}`;

const screens: Readonly<Record<'claude' | 'codex' | 'opencode' | 'gemini', readonly Row[]>> = {
  claude: [
    ['idle-80x24', 'idle', '', '✳ Claude Code'],
    ['idle-first-80x24', 'idle', ''],
    ['classic-idle-80x24', 'idle', ''],
    ['finished-120x40', 'idle', ''],
    ['named-120x40', 'idle', '', '✳ the name'],
    ['interrupted-80x24', 'idle', 'draft kept?'],
    ['shortcuts', 'idle', ''],
    ['typed-80x24', 'idle', 'hello there'],
    ['paste3-80x24', 'idle', 'line one\nline two\nline three'],
    ['paste30-80x24', 'idle', '[Pasted text #1 +30 lines]'],
    ['slash-menu-120x40', 'idle', '/compact'],
    ['bang-80x24', 'idle', '!echo BANG > /home/dev/xxxxxxxxxxxxxxxxxxxxxxx'],
    ['shell-empty', 'idle', '!'],
    ['working-80x24', 'running', '', '◐ Claude Code'],
    ['working-80x24', 'running', ''],
    ['working-tool-80x24', 'running', ''],
    ['classic-working-80x24', 'running', ''],
    ['typed-80x24', 'running', 'hello there', '◑ Claude Code'],
    ['busy-typed-80x24', 'running', 'typed while busy'],
    ['busy-queued-80x24', 'running queued', ''],
    ['retry', 'running', '', '◐ Claude Code'],
    ['retry', 'running', ''],
    ['error', 'error', '', '✳ Claude Code'],
    ['permission-bash-80x24', 'blocked permission', null, '✳ Claude Code'],
    ['permission-write-80x24', 'blocked permission', null],
    ['permission-mcp-80x24', 'blocked permission', null],
    ['classic-permission-80x24', 'blocked permission', null],
    ['ask-question-80x24', 'blocked question', null],
    ['onboard-A-80x24', 'blocked trust', null],
    ['onboard-A2-apikey-80x24', 'blocked setup', null],
    ['mcpjson-approval-80x24', 'blocked setup', null],
    ['transcript', 'unknown', null, '✳ Claude Code'],
    ['exit-80x24', 'unknown', null],
  ],
  codex: [
    ['daemon-first', 'starting', null],
    ['idle', 'idle', '', codexAtRest],
    ['idle', 'idle', '', 'dev'],
    ['idle', 'unknown', ''],
    ['idle', 'unknown', '', 'somebody@machine'],
    ['idle', 'running', '', codexBusy],
    ['idle-home', 'idle', '', 'poly-codex-home'],
    ['idle-home', 'unknown', '', 'somebody@machine: ~'],
    ['idle-home', 'running', '', '⠋ poly-codex-home'],
    ['typed', 'idle', 'SLOW 5 finished-text', codexAtRest],
    ['paste-large', 'idle', '[Pasted Content 1500 chars]', codexAtRest],
    ['interrupted', 'idle', '', codexAtRest],
    ['shell', 'idle', '!ls', 'work'],
    ['shell-empty', 'idle', '!', 'work'],
    ['working', 'running', '', codexBusy],
    ['working', 'unknown', ''],
    ['working-shell', 'running', ''],
    ['busy-typed', 'running', 'typed while busy'],
    ['busy-steer', 'running queued', ''],
    ['busy-queued', 'running queued', '', codexBusy],
    ['error', 'error', '', 'work'],
    ['server-died', 'error', '', codexAtRest],
    ['approval', 'blocked permission', null, `[ ! ] Action Required | ${codexAtRest}`],
    ['approval', 'blocked permission', null],
    ['working', 'blocked', null, `[ . ] Action Required | ${codexAtRest}`],
    ['approval-patch', 'blocked permission', null],
    ['approval-mcp', 'blocked permission', null],
    ['onboarding-git', 'blocked trust', null],
    ['hooks-review', 'blocked setup', null],
    ['update-prompt', 'blocked setup', null],
    ['migration-1', 'blocked setup', null],
    ['warnings', 'blocked menu', null, codexAtRest],
    ['model-menu', 'blocked menu', null, 'work'],
    ['quit-hint', 'unknown', null],
  ],
  opencode: [
    ['01-home', 'idle', '', 'OpenCode'],
    ['40-attached', 'idle', ''],
    ['07-perm-once-done', 'idle', ''],
    ['28-esc2', 'idle', ''],
    ['52-error', 'idle', ''],
    [
      '02-typed',
      'idle',
      'please @@[{"sleep":4000,"chunk_ms":300,"text":"one two three four\nfive six seven eight nine ten"}]@@',
    ],
    ['14-paste2lines', 'idle', 'line1 pasted\nline2 pasted'],
    ['16-paste-long', 'idle', '[Pasted ~12 lines]'],
    ['21-bang', 'idle', '!'],
    ['22-bang-paste', 'idle', '!bang pasted != x'],
    ['23-slash', 'idle', '/hub'],
    ['45-deleted', 'idle', 'half typed draft'],
    ['03-working-wait', 'running', ''],
    ['27-esc1', 'running', ''],
    ['53-retry', 'running', ''],
    ['25-queued', 'running queued', ''],
    ['06-permission', 'blocked permission', null],
    ['09-perm-always-confirm', 'blocked permission', null],
    ['38-question', 'blocked question', null],
    ['palette', 'blocked menu', null],
    ['32-toast', 'unknown', null],
  ],
  gemini: [
    ['01-idle', 'idle', '', '◇  Ready (work)      '],
    ['01-idle', 'idle', ''],
    ['01-idle', 'running', '', '✦  Working… (work)'],
    ['06-paste-fast-enter', 'idle', 'pl1\npl2'],
    ['yolo', 'error', '', '◇  Ready (work)'],
    ['shell-empty', 'idle', '!Type your shell command', '◇  Ready (work)'],
    ['02-working', 'running', ''],
    ['03-done', 'unknown', ''],
    ['03-done', 'idle', '', '◇  Ready (work)'],
    ['error', 'error', '', '◇  Ready (work)'],
    ['04-permission', 'blocked permission', null, '✋  Action Required (work)'],
    ['04-permission', 'blocked permission', null],
    ['02-working', 'blocked', null, '✋  Action Required (work)'],
  ],
};

describe('a recorded screen', () => {
  for (const [vendor, rows] of Object.entries(screens) as [VendorName, readonly Row[]][]) {
    for (const [name, read, draft, title] of rows) {
      const called = title === undefined ? '' : ` titled "${title.trim()}"`;
      it(`of ${vendor}, ${name}${called}, is read as ${read}`, () => {
        const reading = readScreen(vendor, record(vendor, name, title));
        const { status, composer, blockedOn, queued } = reading;
        expect([status, blockedOn, queued && 'queued'].filter(Boolean).join(' '), reading.evidence).toBe(
          read,
        );
        expect(composer?.draft ?? null).toBe(draft);
      });
    }
  }

  it('is in the table, whichever it is, or was recorded with what it is', () => {
    for (const [vendor, rows] of Object.entries(screens)) {
      const files = readdirSync(join(recordings, vendor));
      const alone = files.filter((file) => !files.includes(file.replace(/\.txt$/, '.json')));
      expect(new Set(rows.map(([name]) => `${name}.txt`))).toEqual(new Set(alone));
    }
  });

  it('with notes beside it is read as they say', () => {
    expect(checkRecordings(recordings, rules).filter(({ problem }) => problem)).toEqual([]);
  });
});

describe('readScreen', () => {
  it('says where it read the status, and in which words', () => {
    expect(readScreen('claude', record('claude', 'working-80x24')).evidence).toBe('footer: esc to interrupt');
    expect(readScreen('opencode', record('opencode', '06-permission')).evidence).toBe(
      'screen: △ Permission required',
    );
    const withAnEmptyStatusLine = '────\n❯ \n────\n\n  ⏸ manual mode on';
    expect(readScreen('claude', showing(withAnEmptyStatusLine)).evidence).toBe('footer: ⏸ manual mode on');
  });

  it('knows nothing of an empty screen, of a shell, and of a program nobody described', () => {
    const shell = showing('user@machine:~$ ', 'user@machine: ~');
    for (const vendor of ['claude', 'codex', 'opencode', 'gemini', 'generic'] as const) {
      expect(readScreen(vendor, showing('')).status).toBe('unknown');
      expect(readScreen(vendor, shell)).toEqual({
        status: 'unknown',
        evidence: 'nothing on the screen that tells',
      });
    }
    expect(readScreen('generic', record('claude', 'idle-80x24')).status).toBe('unknown');
  });

  it('does not take an answer that quotes a dialog for a dialog', () => {
    const { lines } = record('claude', 'idle-80x24');
    const quoting = lines.with(8, '● Do you want to proceed?').with(9, '  Esc to cancel · Tab to amend');
    expect(readScreen('claude', showing(quoting.join('\n'))).status).toBe('idle');
  });

  it('reads any screen in a moment, also one that almost fits', () => {
    for (const [vendor, rows] of Object.entries(screens) as [VendorName, readonly Row[]][]) {
      for (const [name] of rows) {
        const text = record(vendor, name).lines.join('\n').trimEnd();
        const below = Array.from({ length: 20 }, () => ' x'.repeat(60)).join('\n');
        const before = performance.now();
        readScreen(vendor, showing(`${text}\n${below}\n─ neither footer nor rule`));
        expect(performance.now() - before, `${vendor} ${name}`).toBeLessThan(250);
      }
    }
  });
});
