import { expect, test } from 'vitest';
import { selectLayout } from './select-layout.ts';

test('a layout that crashes the server of tmux 3.3a cannot be built', () => {
  for (const layout of ['nonsense', '', 'zz,80x24', 'Tiled', '-x']) {
    expect(() => selectLayout({ target: '@0', layout })).toThrow('a layout is one of');
  }
});

test('a layout is taken by name and as tmux writes it, with floating panes too', () => {
  const written = ['c195,80x24,0,0[80x12,0,0,0,80x11,0,13,1]', 'b25d,80x24,0,0,0<40x10,5,5,1>'];
  for (const layout of ['tiled', 'even-vertical', ...written]) {
    expect(selectLayout({ target: '@0', layout }).render('3.3a')).toEqual([
      'select-layout',
      '-t',
      '@0',
      '--',
      layout,
    ]);
  }
});

test.each([
  ['main-vertical-mirrored', '3.5'],
  ['{"V":2,"L":{"t":"p","w":80,"h":24,"x":0,"y":0}}', '3.8'],
])('the layout %s is refused before tmux %s', (layout, since) => {
  const arrange = selectLayout({ target: '@0', layout });
  expect(() => arrange.render('3.3a')).toThrow(`needs tmux ${since}; this server is 3.3a`);
  expect(arrange.render(since)).toContain(layout);
});

test('a layout and a change exclude each other', () => {
  expect(() => selectLayout({ target: '@0', layout: 'tiled', change: 'undo' })).toThrow('exclude each other');
});
