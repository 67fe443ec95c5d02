import * as z from 'zod';
import { paneId } from '../id.ts';
import type { PtySpawn } from '../pty-session.ts';

/** Something an agent can be offered, over MCP or inside OpenCode. */
export interface Tool<Params = unknown> {
  readonly name: string;
  /** What the agent reads before it decides. */
  readonly description: string;
  readonly params: z.ZodType<Params> & { readonly shape: z.ZodRawShape };
}

export type PtySpawnParams = Omit<PtySpawn, 'cols' | 'rows'>;

export interface PtyWriteParams {
  readonly id: string;
  readonly data: string;
}

export interface PtyReadParams {
  readonly id: string;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
  readonly pattern?: string | undefined;
  readonly ignoreCase?: boolean | undefined;
}

export interface PtyKillParams {
  readonly id: string;
  readonly cleanup?: boolean | undefined;
}

export interface PtyParams {
  readonly id: string;
}

export interface PtyWaitParams {
  readonly id: string;
  readonly exit?: boolean | undefined;
  readonly text?: string | undefined;
  readonly idleMs?: number | undefined;
  readonly since?: number | undefined;
  readonly timeout?: number | undefined;
}

const text = z.string().refine((value) => !value.includes('\0'), 'must not contain NUL');
const id = paneId.describe('Id of the terminal, as pty_spawn answered it.');
const longestWait = 240;

/** The terminals, as tools: what opencode-pty calls them, and what each takes. */
export const paneTools: {
  readonly pty_spawn: Tool<PtySpawnParams>;
  readonly pty_write: Tool<PtyWriteParams>;
  readonly pty_read: Tool<PtyReadParams>;
  readonly pty_list: Tool<Record<string, never>>;
  readonly pty_kill: Tool<PtyKillParams>;
  readonly pty_screen: Tool<PtyParams>;
  readonly pty_wait: Tool<PtyWaitParams>;
} = {
  pty_spawn: {
    name: 'pty_spawn',
    description:
      'Starts a program on a terminal of its own and answers at once. It runs on in the background: use it for servers, watchers, REPLs and whatever asks questions. No shell is involved; for a shell line say command "sh" with args ["-c", "…"].',
    params: z.strictObject({
      command: text.min(1).describe('The program.'),
      args: z.array(text).optional().describe('Its arguments, one each.'),
      workdir: text.min(1).optional().describe('Where it starts; the project when left out.'),
      env: z
        .record(z.string().regex(/^[^=\0]+$/), text)
        .optional()
        .describe('Variables to add.'),
      title: text.max(200).optional().describe('What people see.'),
      description: text.max(1000).optional().describe('What it is for, in 5 to 10 words.'),
      notifyOnExit: z
        .boolean()
        .optional()
        .describe('Be told here when it ends; then there is no need to look.'),
    }),
  },
  pty_write: {
    name: 'pty_write',
    description:
      'Types into a terminal. Escapes: \\n \\r \\t \\\\ \\e \\0 \\xNN \\uNNNN; \\x03 is Ctrl-C, \\e[A the up arrow. End a command with \\n.',
    params: z.strictObject({ id, data: z.string().min(1).describe('What is typed, with escapes.') }),
  },
  pty_read: {
    name: 'pty_read',
    description:
      'Reads what a terminal has printed, also after its program has ended: the last lines, those from a line on, or those that match a pattern. A line keeps its number for good.',
    params: z.strictObject({
      id,
      offset: z
        .int()
        .min(0)
        .optional()
        .describe(
          'Number of the first line; the last lines when left out. With a pattern: only lines before this one.',
        ),
      limit: z.int().min(1).max(10_000).optional().describe('At most so many lines; 500 when left out.'),
      pattern: z
        .string()
        .min(1)
        .max(1000)
        .optional()
        .describe('Only lines that match this regular expression.'),
      ignoreCase: z.boolean().optional().describe('Whether the pattern ignores case.'),
    }),
  },
  pty_list: {
    name: 'pty_list',
    description: 'Lists the terminals of this project and how each is doing.',
    params: z.strictObject({}),
  },
  pty_kill: {
    name: 'pty_kill',
    description: 'Ends the program of a terminal with everything it started. What it printed stays readable.',
    params: z.strictObject({
      id,
      cleanup: z.boolean().optional().describe('Forget the terminal and what it printed, too.'),
    }),
  },
  pty_screen: {
    name: 'pty_screen',
    description: 'Shows what stands on a terminal now: for full-screen programs, menus and prompts.',
    params: z.strictObject({ id }),
  },
  pty_wait: {
    name: 'pty_wait',
    description:
      'Waits until a terminal’s program has ended, has printed something, or has been silent for a while. Say one of exit, text and idleMs.',
    params: z
      .strictObject({
        id,
        exit: z.literal(true).optional().describe('Until its program has ended.'),
        text: z
          .string()
          .min(1)
          .max(1000)
          .optional()
          .describe(
            'Until a line matches this regular expression; of what was printed since you last wrote or waited.',
          ),
        idleMs: z
          .int()
          .min(1)
          .max(longestWait * 1000)
          .optional()
          .describe('Until it printed nothing for so long; not before it printed something.'),
        since: z
          .int()
          .min(0)
          .optional()
          .describe('Look only at what it printed from this byte on: the "Next" of an answer.'),
        timeout: z
          .number()
          .positive()
          .max(longestWait)
          .optional()
          .describe('Seconds to wait at most; 60 when left out.'),
      })
      .refine(
        ({ exit, text: wanted, idleMs }) =>
          [exit, wanted, idleMs].filter((given) => given !== undefined).length === 1,
        { message: 'say one of exit, text and idleMs' },
      ),
  },
};

export type PaneToolName = keyof typeof paneTools;
