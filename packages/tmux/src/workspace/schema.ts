import * as z from 'zod';
import { findLayout, layoutNames } from './layout.ts';
import type { SessionFile } from './workspace-file.ts';

/** Files write one value in several ways: `yes`, `"on"` and `true`; 8080 and "8080". These read them all. */
const text: z.ZodType<string, unknown> = z
  .union([z.string(), z.number(), z.boolean()], 'must be a text')
  .transform(String)
  .refine((value) => !value.includes('\0'), 'cannot hold a NUL byte');
const name: z.ZodType<string, unknown> = text.refine(
  (value) => !/\p{Cc}/u.test(value),
  'a name cannot hold control characters',
);
const answers: ReadonlyMap<string, boolean> = new Map([
  ['true', true], ['yes', true], ['on', true], ['1', true], ['false', false], ['no', false], ['off', false], ['0', false],
]); // biome-ignore format: a table
const flag: z.ZodType<boolean, unknown> = z.unknown().transform((value, context) => {
  const found = answers.get(String(value).toLowerCase());
  if (found !== undefined) return found;
  context.addIssue('must be true or false');
  return z.NEVER;
});
const number = z.preprocess(
  (value) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value),
  z.number('must be a number'),
);
/** Larger ones tmux refuses, but for the last index, where the window waits that the session is made with. */
const [mostCells, lastIndex] = [65_535, 2 ** 31 - 2];
const most = (limit: number): string => `must be at most ${limit}`;
const whole = number.pipe(z.int('must be a whole number').min(0, 'cannot be negative'));
const cells = number.pipe(
  z.int('must be a whole number').min(1, 'must be at least 1').max(mostCells, most(mostCells)),
);
/** More than 24 days no timer can wait. */
const mostSeconds = 2_000_000;
const seconds = number.pipe(
  z
    .number()
    .min(0, 'cannot be negative')
    .max(mostSeconds, `${most(mostSeconds)} seconds`),
);
const share: z.ZodType<number | `${number}%`, unknown> = z.union([
  cells,
  z.templateLiteral([z.int().min(1).max(100), '%']),
]);
const layout = text.transform((written, context) => {
  const found = findLayout(written);
  if (found !== undefined) return found;
  context.addIssue(`must be one of ${layoutNames.join(', ')}, or a layout as tmux writes it`);
  return z.NEVER;
});
const variables = z.record(
  z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not the name of a variable'),
  text,
);
/** tmux says on and off; files say true and false. */
const optionValue = z.union([z.boolean().transform((on) => (on ? 'on' : 'off')), text]);
const options = z.record(z.string().min(1), optionValue);

const commandObject = z.object({
  cmd: text,
  enter: flag.nullish(),
  sleep_before: seconds.nullish(),
  sleep_after: seconds.nullish(),
});
const command = z.union([text, commandObject], 'must be a text or { cmd: … }');
const commandList = z.union(
  [z.null(), text, z.array(z.union([z.null(), command]))],
  'must be a command or a list of commands',
);
const commandGroup = z
  .object({ ...commandObject.shape, cmd: text.optional(), shell_command: commandList.optional() })
  .refine(
    (group) => group.cmd === undefined || group.shell_command === undefined,
    'give cmd or shell_command, not both',
  );
const before = z.union([commandGroup, commandList], 'must be a command or a list of commands');

const paneShape = {
  shell_command: commandList.optional(),
  cmd: commandList.optional(),
  shell_command_before: before.optional(),
  focus: flag.nullish(),
  start_directory: text.nullish(),
  shell: text.nullish(),
  environment: variables.nullish(),
  enter: flag.nullish(),
  sleep_before: seconds.nullish(),
  sleep_after: seconds.nullish(),
  suppress_history: flag.nullish(),
};
const oneOfTwo = (pane: { shell_command?: unknown; cmd?: unknown }): boolean =>
  pane.shell_command === undefined || pane.cmd === undefined;
const paneObject = z.object(paneShape).refine(oneOfTwo, 'give shell_command or cmd, not both');
const pane = z.union(
  [paneObject, commandList],
  'must be a command, a list of commands, blank, or a mapping of pane keys',
);

const floatShape = {
  ...paneShape,
  attach_to: text.nullish(),
  width: share.nullish(),
  height: share.nullish(),
  x: whole.nullish(),
  y: whole.nullish(),
  zoom: flag.nullish(),
  empty: flag.nullish(),
  style: text.nullish(),
  active_border_style: text.nullish(),
  inactive_border_style: text.nullish(),
  message: text.nullish(),
};
const floatObject = z
  .object(floatShape)
  .refine(oneOfTwo, 'give shell_command or cmd, not both')
  .refine(
    ({ empty, shell_command, cmd, shell }) => !(empty && (shell_command ?? cmd ?? shell)),
    'an empty float runs nothing: leave out empty, or what it is to run',
  );

const windowObject = z.object({
  window_name: name.nullish(),
  window_index: whole.refine((index) => index <= lastIndex, most(lastIndex)).nullish(),
  layout: layout.nullish(),
  start_directory: text.nullish(),
  focus: flag.nullish(),
  options: options.nullish(),
  options_after: options.nullish(),
  environment: variables.nullish(),
  window_shell: text.nullish(),
  suppress_history: flag.nullish(),
  shell_command_before: before.optional(),
  shell_command_after: before.optional(),
  clear: flag.nullish(),
  panes: z.array(pane, 'must be a list of panes').nullish(),
  floats: z.array(floatObject, 'must be a list of floats').nullish(),
});

const dimensionsObject = z.object({ width: cells, height: cells });
const readiness = z
  .enum(['auto', 'always', 'never'])
  .or(flag.transform((on) => (on ? ('always' as const) : ('never' as const))));
const builderOptions = z.object({ pane_readiness: readiness.nullish() });

const sessionObject = z.object({
  session_name: name.refine((value) => value.trim() !== '', 'cannot be empty'),
  start_directory: text.nullish(),
  dimensions: z
    .union(
      [z.tuple([cells, cells]).transform(([width, height]) => ({ width, height })), dimensionsObject],
      'must be [width, height]',
    )
    .nullish(),
  environment: variables.nullish(),
  options: options.nullish(),
  global_options: options.nullish(),
  before_script: text.nullish(),
  shell_command_before: before.optional(),
  suppress_history: flag.nullish(),
  on_exists: z.enum(['error', 'replace', 'reuse'], 'must be error, replace or reuse').nullish(),
  wait_pane: flag.nullish(),
  workspace_builder_options: builderOptions.nullish(),
  windows: z.array(windowObject, 'must be a list of windows').min(1, 'must declare at least one window'),
});

/** Reads a session of a file; keys that mean nothing are left out here and reported by `sessionLevel`. */
export const sessionSchema: z.ZodType<SessionFile, unknown> = sessionObject;

/** What tmuxp or its importers know and this library does not do, with the reason. */
const unsupported: Map<string, string> = new Map([
  ['plugins', 'plugins are Python code of tmuxp'],
  ['workspace_builder', 'builders are Python code of tmuxp'],
  ['workspace_builder_paths', 'builders are Python code of tmuxp'],
  ['config', 'the configuration of the server is given to the engine: configFile'],
  ['socket_name', 'the server is given to the engine: socketName'],
  ['socket_path', 'the server is given to the engine: socketPath'],
]);

/** One kind of mapping in a file: its keys, those tmuxp has and we do not, and where further mappings stand in it. */
export interface Level {
  readonly keys: readonly string[];
  readonly unsupported: ReadonlyMap<string, string>;
  readonly inside: ReadonlyMap<string, Level>;
}

function level(
  shape: object,
  inside: Readonly<Record<string, Level>> = {},
  refused = new Map<string, string>(),
): Level {
  return { keys: Object.keys(shape), unsupported: refused, inside: new Map(Object.entries(inside)) };
}

const commandLevel = level(commandObject.shape);
const groupLevel = level(
  { ...commandObject.shape, shell_command: commandList },
  { shell_command: commandLevel },
);
const paneInside = { shell_command: commandLevel, cmd: commandLevel, shell_command_before: groupLevel };
const windowLevel = level(windowObject.shape, {
  shell_command_before: groupLevel,
  shell_command_after: groupLevel,
  panes: level(paneShape, paneInside),
  floats: level(floatShape, paneInside),
});
export const sessionLevel: Level = level(
  sessionObject.shape,
  {
    shell_command_before: groupLevel,
    dimensions: level(dimensionsObject.shape),
    workspace_builder_options: level(builderOptions.shape),
    windows: windowLevel,
  },
  unsupported,
);
