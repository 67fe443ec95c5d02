import { type Effect, PolyError, readGiven } from '@polyphony/protocol';
import type { Engine, TmuxError } from '@polyphony/tmux';
import * as z from 'zod';
import { missingTmux } from '../../../platform/missing-tmux.ts';
import { type Caller, isUser, nameOf } from '../../../registry/caller.ts';
import { schemaToList } from '../schema-to-list.ts';
import {
  type McpTool,
  safeties,
  safetyOf,
  type ToolAnswer,
  type ToolContext,
  type Toolset,
} from '../tool.ts';
import { callerPlace, isCallersServer } from './caller-place.ts';
import { seatedEngine } from './guarded-engine.ts';
import type { Reach } from './operation-effect.ts';
import type { Seat, TmuxServers } from './servers.ts';
import type { Look, Use } from './use.ts';

/** One row of the table of tmux tools. */
export interface Verb<Shape extends z.ZodRawShape = z.ZodRawShape> {
  readonly description: string;
  readonly effect: Effect;
  readonly params: Shape;
  /** What its answer always holds for programs, which may hold more; only where that stays short. */
  readonly answers?: z.ZodRawShape;
  /** It may take long, and tells so meanwhile. */
  readonly waits?: boolean;
  /** Why a call with these parameters goes further than the tool's effect, if it does. */
  raised?(given: z.output<z.ZodObject<Shape>>): string | undefined;
  run(given: z.output<z.ZodObject<Shape>>, use: Use): Promise<ToolAnswer>;
}

/** Ties the parameters of a verb to those it is run with. */
export function verb<Shape extends z.ZodRawShape>(spec: Verb<Shape>): Verb {
  return spec as unknown as Verb;
}

/** Makes tools of verbs, each acting on the server its client means. */
export function toolsOf(
  verbs: Readonly<Record<string, Verb>>,
  servers: TmuxServers,
  toolset: Toolset = 'tmux',
): readonly McpTool[] {
  return Object.entries(verbs).map(([name, { description, effect, params, answers, raised, waits, run }]) => {
    const schema = z.strictObject(params);
    return {
      ...{ name, description, effect, toolset, needsUser: true },
      ...(raised && { raises: true }),
      ...(waits && { waits }),
      inputSchema: schemaToList(schema),
      ...(answers && { outputSchema: schemaToList(z.object(answers)) }),
      async run(args: unknown, context: ToolContext) {
        const given = readGiven(schema, args, { what: name });
        const why = raised?.(given);
        if (why !== undefined) requireSafety(name, { effect: 'destructive', why }, context);
        return withUse(servers, context, (use) => {
          if (effect !== 'read' || why !== undefined) use.audit(name);
          return run(given, use);
        });
      },
    };
  });
}

/** Gives a tool what it works with; what the library refuses is told in our words. */
export async function withUse<T>(
  servers: TmuxServers,
  context: ToolContext,
  work: (use: Use) => Promise<T>,
): Promise<T> {
  requireUser(context.caller);
  const seat = await servers.for(context.choice, context.place);
  const taken = await servers.driven.notFor(context.caller, seat.socket);
  try {
    return await work(useOf(seat, context, servers, taken.size === 0));
  } catch (error) {
    throw error instanceof seat.tmux.TmuxError ? inOurWords(error) : error;
  }
}

/** Refuses what goes further than its client may; the refusal says why, and who decides. */
export function requireSafety(
  name: string,
  { effect, why }: Reach,
  { choice: { safety } }: ToolContext,
): void {
  const needed = safetyOf[effect];
  if (safeties.indexOf(needed) <= safeties.indexOf(safety)) return;
  const reason = why ?? `it is ${needed}`;
  throw new PolyError('forbidden', `${name}: ${reason}, and the safety of this client is ${safety}.`, {
    hint: `Your user decides that, with poly mcp --safety ${needed}.`,
  });
}

/** Whoever reaches a server reaches all of its panes: neither a pane nor one that has registered may. */
function requireUser(caller: Caller): void {
  if (isUser(caller)) return;
  throw new PolyError('forbidden', `${nameOf(caller)} may not look at or use a tmux server.`, {
    hint: 'Use the pty_ tools on the panes you have made, or ask your user.',
  });
}

function useOf(bare: Seat, context: ToolContext, servers: TmuxServers, isAlone: boolean): Use {
  const { tmux, engine, socket } = bare;
  const { signal } = context;
  const caller = callerPlace(context.place);
  const by =
    (carrier: Engine): Use['run'] =>
    async (operation) =>
      (await tmux.execute(carrier, operation, { signal })).unwrap();
  const ask = by(engine);
  const look = async (): Promise<Look> => {
    const [panes, { text }] = await Promise.all([
      ask(tmux.listPanes({ all: true })),
      ask(tmux.displayMessage({ message: '#{pid}' })),
    ]);
    const pid = Number(text);
    const own = isCallersServer(caller, { socket, pid });
    return { socket, pid, panes, isCaller: (paneId) => own && caller?.pane === paneId };
  };
  const audit = (tool: string): void => servers.onChange({ by: context.caller.participant, tool, socket });
  const parts = { bare: engine, driven: servers.driven, isAlone, tmux, caller, context, ask, look, audit };
  const seated = seatedEngine({ ...parts, seat: bare, run: ask });
  return { ...parts, seat: { ...bare, engine: seated }, run: by(seated) };
}

const codes: Readonly<Record<string, ConstructorParameters<typeof PolyError>[0]>> = {
  invalid_parameters: 'invalid_arguments',
  invalid_target: 'invalid_arguments',
  invalid_workspace: 'invalid_arguments',
  forward_reference: 'invalid_arguments',
  unknown_operation: 'not_found',
  workspace_exists: 'conflict',
  script_failed: 'action_failed',
  version_unsupported: 'invalid_arguments',
  no_server: 'unavailable',
  unknown_outcome: 'uncertain',
  connection_lost: 'uncertain',
  aborted: 'uncertain',
  timed_out: 'timed_out',
};

/** Tools that are called otherwise than the function of the library that a hint names. */
const toolNames: Readonly<Record<string, string>> = {
  newSession: 'create_session',
  kinds: 'result_schema',
  copyMode: 'op_copy_mode',
};

/** Where the hint of the library names what no tool does; the first that fits what tmux said. */
const hintsByMessage: readonly (readonly [said: RegExp, hint: string])[] = [
  [/duplicate session/, 'Choose another name, or use the session that has it.'],
  [
    /no space for new pane|pane too small/,
    'Make room with select_layout or resize_pane, or use create_window.',
  ],
  [/no buffer|unknown buffer/, 'set_buffer fills one; without buffer_name the newest is meant.'],
];

/** Where the hint of the library is about what only its caller can do. */
const hints: Readonly<Record<string, string>> = {
  timed_out: 'It may still take effect: look with list_panes or capture_pane before you try again.',
  workspace_exists: 'Say on_exists: replace or reuse in the spec, or choose another session_name.',
};

export function inOurWords(error: TmuxError): PolyError {
  const { code, message, hint } = error;
  if (code === 'missing_binary') return missingTmux(error, { whose: ' of the hub' });
  // Only the hub closes it, and nothing was sent any more.
  if (code === 'engine_closed')
    return new PolyError('stopping', 'the hub is stopping.', {
      hint: 'Nothing was done: call again in a moment.',
      cause: error,
    });
  const known = codes[code] ?? (/can't find|no such|no buffer/.test(message) ? 'not_found' : 'conflict');
  const asTools = hint.replace(
    /\b(?:operations\.)?([a-z]\w+)\(\)/g,
    (_, name: string) => toolNames[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  );
  const advice = hints[code] ?? hintsByMessage.find(([said]) => said.test(message))?.[1] ?? asTools;
  return new PolyError(known, message, { ...(advice && { hint: advice }), cause: error });
}
