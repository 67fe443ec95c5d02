import { describe, expect, it } from 'vitest';
import { parseWorkspace, parseWorkspaceValue } from './parse.ts';

const values = (text: string): unknown[] => parseWorkspace(text).sessions.map(({ value }) => value);

describe('parseWorkspace', () => {
  it('reads YAML, and JSON with tabs between its words', () => {
    const wanted = [{ session_name: 'a', windows: [{ panes: [null] }] }];
    expect(values('session_name: a\nwindows:\n  - panes:\n    -\n')).toEqual(wanted);
    expect(values('{\n\t"session_name": "a",\n\t"windows": [{ "panes": [null] }]\n}\n')).toEqual(wanted);
  });

  it('finds several sessions: as documents, as a list and under "sessions"', () => {
    const both = [{ session_name: 'a' }, { session_name: 'b' }];
    expect(values('session_name: a\n---\nsession_name: b\n---\n')).toEqual(both);
    expect(values('- session_name: a\n- session_name: b\n')).toEqual(both);
    expect(values('sessions:\n  - session_name: a\n  - session_name: b\n')).toEqual(both);
    expect(parseWorkspaceValue({ sessions: both }).sessions.map(({ value }) => value)).toEqual(both);
  });

  it('reports what stands beside "sessions"', () => {
    const { warnings } = parseWorkspace('start_directory: /tmp\nsessions:\n  - session_name: a\n');
    expect(warnings).toMatchObject([{ code: 'unknown_key', path: 'start_directory', line: 1 }]);
  });

  it('keeps numbers as they are written where writing them again would change them', () => {
    expect(values('a: 1.10\nb: 0700\nc: 8080\nd: True\ne: true\nf: yes\n')).toEqual([
      { a: '1.10', b: '0700', c: 8080, d: true, e: true, f: 'yes' },
    ]);
  });

  it('follows anchors and merge keys', () => {
    expect(values('base: &b { layout: tiled }\nw:\n  <<: *b\n  focus: true\n')).toMatchObject([
      { w: { layout: 'tiled', focus: true } },
    ]);
  });

  it('says where the text is wrong', () => {
    const attempt = (): unknown => parseWorkspace('session_name: a\nwindows: [\n', 'dev.yaml');
    expect(attempt).toThrow(/^dev\.yaml:\d+:\d+: /);
    expect(attempt).toThrow(expect.objectContaining({ code: 'invalid_workspace' }));
    expect(() => parseWorkspace('a: 1\na: 2\n', 'dev.yaml')).toThrow(
      'dev.yaml:2:1: Map keys must be unique.',
    );
  });

  it('refuses an empty text and aliases that multiply without end', () => {
    expect(() => parseWorkspace('# nothing\n')).toThrow('declares no session');
    const bomb = [
      'a0: &a0 [x]',
      ...Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(10)}]`),
    ];
    expect(() => parseWorkspace(bomb.join('\n'))).toThrow(
      expect.objectContaining({ code: 'invalid_workspace' }),
    );
  });

  it('refuses a text that stands inside itself or is nested without end, in words', () => {
    const deep = (depth: number): string => `${'['.repeat(depth)}x${']'.repeat(depth)}`;
    const endless = ['&a [*a]', '&a [*a, *a]', '&a { sessions: *a }', '- &b [[*b]]'];
    for (const text of [...endless, deep(30), deep(500), deep(20_000), '['.repeat(50_000)])
      expect(() => parseWorkspace(text, 'dev.yaml'), text.slice(0, 20)).toThrow(
        expect.objectContaining({
          code: 'invalid_workspace',
          message: expect.stringMatching(/^dev\.yaml.*nested too deeply/),
        }),
      );
    const value: unknown[] = [];
    value.push(value);
    expect(() => parseWorkspaceValue(value)).toThrow(/nested too deeply/);
  });

  it('reports a tag it does not know, and never writes to the console of others', () => {
    const warned: unknown[] = [];
    const listen = (warning: unknown): unknown => warned.push(warning);
    process.on('warning', listen);
    const text = 'session_name: !!python/object:os.system a\n? [b, c]\n: d\n';
    const { sessions, warnings } = parseWorkspace(text, 'dev.yaml');
    process.off('warning', listen);
    expect(sessions[0]?.value).toMatchObject({ session_name: 'a' });
    expect(warnings).toMatchObject([
      { code: 'changed_value', message: expect.stringMatching(/tag.*python/i), line: 1, column: 15 },
    ]);
    expect(warned).toEqual([]);
  });

  it('tells the position of what a path leads to', () => {
    const [session] = parseWorkspace(
      '- session_name: a\n- session_name: b\n  windows:\n    - focus: 7\n',
    ).sessions.slice(1);
    expect(session?.locate(['windows', 0, 'focus'])).toEqual({ line: 4, column: 14 });
    expect(session?.locate(['windows', 5, 'nothing'])).toEqual({ line: 4, column: 5 });
  });
});
