import { type Builder, defineOperation } from '../operation/operation.ts';
import { type CreatedSession, createdSession } from '../operation/outcome.ts';
import { argument, custom, environment, integer, named, optional, path, target } from '../operation/param.ts';
import { literalFormat, quoteLine } from '../operation/quote.ts';
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

const absent = "can't find the session to group with";

/** How tmux looks at every session, window or pane, by what an id begins with. */
const everyOne: Readonly<Record<string, (look: string) => string>> = {
  $: (look) => `#{S:${look}}`,
  '@': (look) => `#{S:#{W:${look}}}`,
  '%': (look) => `#{S:#{W:#{P:${look}}}}`,
};
const idOf: Readonly<Record<string, string>> = { $: 'session_id', '@': 'window_id', '%': 'pane_id' };

/** A format that is empty unless what is to be grouped with is there. */
function isThere(groupWith: Target): string {
  const session = typeof groupWith === 'object' && 'session' in groupWith ? groupWith.session : groupWith;
  const value = String(session);
  const mark = value.charAt(0) in idOf ? value.charAt(0) : '$';
  const field = value.startsWith(mark) ? idOf[mark] : 'session_name';
  const look = `#{?#{==:#{${field}},${value.replace(/[#,}]/g, '#$&')}},1,}`;
  return everyOne[mark]?.(look) ?? '';
}

/** A group with a session that is not there is no error to tmux, it makes one by that name: so the two are tied to a look. */
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
    groupWith: optional(target('an existing session; both then have the same windows')),
    shell: argument('command the shell of the first window runs; the user’s shell unless told'),
  },
  fixed: ['-d'],
  refuse: ({ groupWith, windowName, shell }) => {
    if (groupWith === undefined) return undefined;
    if ((windowName ?? shell) !== undefined)
      return 'a session with groupWith has the windows of the other: it takes no windowName and no shell';
    return typeof groupWith === 'object' && 'window' in groupWith && groupWith.window !== undefined
      ? 'groupWith is a session: its name or its id, without a window'
      : undefined;
  },
  protect: (argv, { groupWith }) =>
    groupWith === undefined
      ? argv
      : ['if-shell', '-F', isThere(groupWith), quoteLine(argv), quoteLine(['display-message', '-p', absent])],
  result: { ...createdSession, refused: ({ stdout }) => (stdout.trim() === absent ? absent : undefined) },
  creates: 'session',
  example: { name: 'build', windowName: 'make', width: 100, height: 30 },
});
