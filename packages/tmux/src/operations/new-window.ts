import { type Builder, defineOperation } from '../operation/operation.ts';
import { type CreatedWindow, createdWindow } from '../operation/outcome.ts';
import {
  argument,
  choice,
  environment,
  flag,
  named,
  startDirectory,
  target,
  unless,
} from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface NewWindow {
  readonly target: Target;
  readonly place?: 'before' | 'after';
  readonly name?: string;
  readonly startDirectory?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly kill?: boolean;
  readonly select?: boolean;
  readonly shell?: string;
}

export const newWindow: Builder<NewWindow, CreatedWindow> = defineOperation<NewWindow, CreatedWindow>({
  kind: 'new_window',
  scope: 'session',
  effect: 'write',
  summary: 'Opens a window in a session.',
  params: {
    target: target(
      'the session, with a free index if a certain one is wanted, or the window it goes next to',
    ),
    place: choice({ before: ['-b'], after: ['-a'] }, 'on which side of the target window it goes'),
    name: named('-n', 'its name, which then stays as it is', { expanded: true }),
    startDirectory: startDirectory(),
    environment: environment(),
    kill: flag('-k', 'kill the window that has this index'),
    select: unless('-d', 'make it the current window of the session'),
    shell: argument('command the shell runs; the user’s shell unless told'),
  },
  result: createdWindow,
  creates: 'window',
  example: { target: { session: 'demo' }, name: 'tests' },
});
