import { expect, it } from 'vitest';
import { nearest } from './nearest.ts';

it('a slip is near to what was meant, and a text without end to nothing', () => {
  expect(nearest('kil_pane', ['list_panes', 'kill_pane'])).toBe('kill_pane');
  expect(nearest('kill_pane'.repeat(1_000_000), ['list_panes', 'kill_pane'])).toBeUndefined();
});
