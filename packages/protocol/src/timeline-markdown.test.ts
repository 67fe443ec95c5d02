import { describe, expect, it } from 'vitest';
import type { FloorSession } from './floor-session.ts';
import type { TimelineEntry } from './floor-timeline.ts';
import { entryMarkdown, sessionMarkdown } from './timeline-markdown.ts';

const hostile = [
  '</pre><script>alert(1)</script>',
  '```\n# h\n[x](javascript:alert(1))',
  '~~~~\n![x](http://localhost/?leak)',
  'a\r\n````\r# b',
  '&lt;img src=x onerror=alert(1)&gt;',
  '\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b31m',
  'abc\u202etxt.exe\u2066',
  '\0',
];

describe.each(hostile)('Markdown of %j', (text) => {
  const entry: TimelineEntry = {
    ...{ entry_id: 'ent_1', seq: 1, session_id: 'ses_1', kind: 'tool', sender: 'agent:dean' },
    ...{ at: '2026-01-01', received_at: '2026-01-01', text, data: {} },
    ...{ result: { text, at: '2026-01-01', entry_id: 'ent_2' }, decision: text, tags: ['t'] },
  } as never;
  const session = { project: 'p', slug: 's', label: text, created_at: '2026-01-01' } as FloorSession;
  const written = [
    entryMarkdown(entry),
    sessionMarkdown(session, [{ kind: 'branch', value: text } as never]),
  ].join('\n');

  it('holds nothing that a terminal obeys or that is read backwards', () => {
    expect(written).not.toMatch(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/u);
  });

  it('has every mark that means something inside of a block that it cannot end, or behind a backslash', () => {
    const outside = written.replace(/^(`{3,})\n.*?\n\1$/gms, '');
    const words = outside.replace(/^#+ |^- /gm, '').replace(/ used a tool \(#t\)$/gm, '');
    expect(words.replace(/\\[\\`*_{}[\]<>()#+!|~&-]/g, '')).not.toMatch(/[`<>[\]*_&~!]/);
  });
});
