import { homedir } from 'node:os';
import { join } from 'node:path';
import { keptLines } from './kept-file.ts';
import {
  type Fields,
  fieldsOf,
  type KeptEvent,
  type TranscriptKind,
  textOf,
  timeOf,
  wordsIn,
} from './transcript.ts';

/** Which tools its hooks tell of, in their words; of others they tell nothing. */
const tools: Readonly<Record<string, (call: Fields) => Fields>> = {
  exec_command: (call) => ({ tool_name: 'Bash', tool_input: { command: argumentsOf(call).cmd } }),
  shell_command: (call) => ({ tool_name: 'Bash', tool_input: { command: argumentsOf(call).command } }),
  apply_patch: (call) => ({
    ...{ tool_name: 'apply_patch', tool_input: { command: call.input ?? argumentsOf(call).input } },
  }),
};

/** No hook tells how a tool ended that somebody refused. */
const refused = /^(?:exec command |patch )?(?:rejected|aborted) by user/i;

/** Codex, 0.166.0: a line for each thing that happens, numbered. Subagents have files of their own, which are not read. */
export const codex: TranscriptKind = {
  folder: (env) => join(env.CODEX_HOME || join(env.HOME || homedir(), '.codex'), 'sessions'),
  way: (conversation) => [/^\d{4}$/, /^\d\d$/, /^\d\d$/, new RegExp(`^rollout-.*-${conversation}\\.jsonl$`)],
  async *read(path, conversation) {
    const so: SoFar = { calls: new Map(), outputs: new Map(), cwd: undefined, isThat: false };
    for await (const line of keptLines(path))
      yield* 'trouble' in line ? [line] : eventsIn(fieldsOf(line.value), conversation, so);
  },
};

/** What later lines mean by the ones before. */
interface SoFar {
  readonly calls: Map<string, Fields>;
  readonly outputs: Map<string, unknown>;
  cwd: string | undefined;
  isThat: boolean;
}

function* eventsIn(line: Fields, conversation: string, so: SoFar): Generator<KeptEvent> {
  const at = timeOf(line.timestamp);
  const payload = fieldsOf(line.payload);
  if (line.type === 'session_meta') so.isThat = payload.id === conversation;
  so.cwd = textOf(payload.cwd) ?? so.cwd;
  if (at === undefined || !so.isThat) return;
  const turn =
    textOf(payload.turn_id) ?? textOf(fieldsOf(payload.internal_chat_message_metadata_passthrough).turn_id);
  const around = {
    ...{ session_id: conversation, ...(turn !== undefined && { turn_id: turn }) },
    ...(so.cwd !== undefined && { cwd: so.cwd }),
  };
  const told = meaningOf(`${String(line.type)} ${String(payload.type)}`, payload, so);
  if (told) yield { id: `${String(line.ordinal ?? at)}`, at, payload: { ...around, ...told } };
}

/** What a line is in the words of its hooks; nothing where they do not speak of it. */
function meaningOf(what: string, payload: Fields, so: SoFar): Fields | undefined {
  const call = textOf(payload.call_id);
  switch (what) {
    case 'event_msg item_completed': {
      const item = fieldsOf(payload.item);
      if (item.type === 'CommandExecution') so.outputs.set(String(item.id), item.aggregated_output);
      if (item.type !== 'UserMessage') return undefined;
      return { hook_event_name: 'UserPromptSubmit', prompt: wordsIn(item.content).join('\n') };
    }
    case 'event_msg task_complete': {
      const last = textOf(payload.last_agent_message);
      return last ? { hook_event_name: 'Stop', last_assistant_message: last } : undefined;
    }
    case 'event_msg turn_aborted':
      return { hook_event_name: 'Interrupt' };
    case 'response_item function_call':
    case 'response_item custom_tool_call': {
      const tool = toolOf(payload);
      if (!tool || call === undefined) return undefined;
      so.calls.set(call, { ...tool, tool_use_id: call });
      return { hook_event_name: 'PreToolUse', ...so.calls.get(call) };
    }
    case 'response_item function_call_output':
    case 'response_item custom_tool_call_output': {
      const begun = call === undefined ? undefined : so.calls.get(call);
      const output =
        so.outputs.get(call ?? '') ?? textOf(payload.output) ?? wordsIn(payload.output).join('\n');
      if (!begun || (typeof output === 'string' && refused.test(output))) return undefined;
      return { hook_event_name: 'PostToolUse', ...begun, tool_response: output };
    }
    default:
      return undefined;
  }
}

function toolOf(call: Fields): Fields | undefined {
  const name = textOf(call.name) ?? '';
  const namespace = textOf(call.namespace) ?? '';
  if (namespace.startsWith('mcp__'))
    return { tool_name: `${namespace.replace(/_+$/, '')}__${name}`, tool_input: argumentsOf(call) };
  return Object.hasOwn(tools, name) ? tools[name]?.(call) : undefined;
}

function argumentsOf({ arguments: given }: Fields): Fields {
  try {
    return fieldsOf(JSON.parse(textOf(given) ?? ''));
  } catch {
    return {}; // Nothing that a tool was given.
  }
}
