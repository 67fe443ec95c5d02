import { type Builder, defineOperation } from '../operation/operation.ts';
import { type CreatedSession, createdSession } from '../operation/outcome.ts';
import { argument, custom, environment, integer, named, optional, path, target } from '../operation/param.ts';
import { literalFormat } from '../operation/quote.ts';
import { sessionNameSchema, type Target } from '../operation/target.ts';

export interface NewSession {
  readonly name?: string;
  readonly windowName?: string;
  readonly startDirectory?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly width?: number;
  readonly height?: number;
  readonly groupWith?: Target;
  readonly shell?: string;
}

export const newSession: Builder<NewSession, CreatedSession> = defineOperation<NewSession, CreatedSession>({
  kind: 'new_session',
  scope: 'server',
  effect: 'write',
  summary: 'Creates a session nobody is attached to, and starts the server if none runs.',
  params: {
    name: custom(sessionNameSchema, '-s', 'its name; a number unless told', (name) => [
      '-s',
      literalFormat(name),
    ]),
    windowName: named('-n', 'name of its first window', { expanded: true }),
    startDirectory: path('-c', 'working directory of its processes', { expanded: true }),
    environment: environment('variables of all its processes'),
    width: integer('-x', 'columns until a client is attached', { min: 1 }),
    height: integer('-y', 'lines until a client is attached', { min: 1 }),
    // A session that does not exist is no error to tmux: it starts a group by that name.
    groupWith: optional(target('an existing session; both then have the same windows')),
    shell: argument('command the shell of the first window runs; the user’s shell unless told'),
  },
  fixed: ['-d'],
  refuse: ({ groupWith, windowName, shell }) =>
    groupWith !== undefined && (windowName ?? shell) !== undefined
      ? 'a session with groupWith has the windows of the other: it takes no windowName and no shell'
      : undefined,
  result: createdSession,
  creates: 'session',
  example: { name: 'build', windowName: 'make', width: 100, height: 30 },
});
