import { homedir } from 'node:os';
import { join } from 'node:path';
import { keptLines } from './kept-file.ts';
import {
  type Fields,
  fieldsOf,
  type KeptEvent,
  listOf,
  type TranscriptKind,
  textOf,
  timeOf,
  wordsIn,
} from './transcript.ts';

/** What it says to itself in the place of somebody. */
const notSaid = /^<(?:local-command|command-name|command-message|bash-|system-reminder)/;
const interrupted = /^\[Request interrupted by user/;
/** No hook tells how a tool ended that somebody refused, or that was interrupted. */
const refused = /^(?:The user doesn't want to|\[Request interrupted|User rejected|Interrupted by user)/;

/** Claude Code, 2.1.325: a line for each part of what was said. Subagents have files of their own, which are not read. */
export const claude: TranscriptKind = {
  folder: (env) => join(env.CLAUDE_CONFIG_DIR || join(env.HOME || homedir(), '.claude'), 'projects'),
  way: (conversation) => [/./, new RegExp(`^${conversation}\\.jsonl$`)],
  async *read(path, conversation) {
    const so: SoFar = { tools: new Map(), turn: undefined };
    for await (const line of keptLines(path))
      yield* 'trouble' in line ? [line] : eventsIn(fieldsOf(line.value), conversation, so);
  },
};

/** What later lines mean by the ones before. */
interface SoFar {
  readonly tools: Map<string, Fields>;
  turn: string | undefined;
}

function* eventsIn(line: Fields, conversation: string, so: SoFar): Generator<KeptEvent> {
  const at = timeOf(line.timestamp);
  const id = textOf(line.uuid);
  if (at === undefined || id === undefined || line.isSidechain === true || line.isMeta === true) return;
  // A fork begins with what was said before it, under the name it had there.
  if (line.sessionId !== conversation) return;
  // Only what is given to it says of which turn it is.
  so.turn = textOf(line.promptId) ?? so.turn;
  const around = {
    ...{ session_id: conversation, ...(so.turn !== undefined && { prompt_id: so.turn }) },
    ...(typeof line.cwd === 'string' && { cwd: line.cwd }),
  };
  const message = fieldsOf(line.message);
  const told = (part: string, event: string, more: Fields): KeptEvent => ({
    ...{ id: `${id}${part}`, at, payload: { ...around, hook_event_name: event, ...more } },
  });
  if (line.type === 'assistant') yield* said(line, message, so, told);
  if (line.type === 'user') yield* given(line, message, so, told);
}

type Tell = (part: string, event: string, more: Fields) => KeptEvent;

function* said(line: Fields, message: Fields, { tools }: SoFar, told: Tell): Generator<KeptEvent> {
  const parts = listOf(message.content).map(fieldsOf);
  for (const { type, id, name, input } of parts) {
    if (type !== 'tool_use' || typeof id !== 'string') continue;
    const tool = { tool_name: name, tool_input: input, tool_use_id: id };
    tools.set(id, tool);
    yield told(`-${id}`, 'PreToolUse', tool);
  }
  const text = parts.flatMap((part) => (part.type === 'text' ? (textOf(part.text) ?? []) : [])).join('\n');
  if (text === '') return;
  if (line.isApiErrorMessage === true) yield told('', 'StopFailure', { last_assistant_message: text });
  else if (message.stop_reason === 'end_turn') yield told('', 'Stop', { last_assistant_message: text });
}

function* given(line: Fields, message: Fields, { tools }: SoFar, told: Tell): Generator<KeptEvent> {
  const { content } = message;
  const parts = listOf(content).map(fieldsOf);
  for (const { type, tool_use_id: id, content: result, is_error } of parts) {
    if (type !== 'tool_result' || typeof id !== 'string') continue;
    const words = textOf(result) ?? wordsIn(result).join('\n');
    if (is_error === true && refused.test(words)) continue;
    const tool = { ...(tools.get(id) ?? { tool_use_id: id }) };
    yield is_error === true
      ? told(`-${id}`, 'PostToolUseFailure', { ...tool, error: words })
      : told(`-${id}`, 'PostToolUse', { ...tool, tool_response: line.toolUseResult ?? words });
  }
  if (parts.some(({ type }) => type === 'tool_result')) return;
  const text = textOf(content) ?? wordsIn(content).join('\n');
  if (text === '' || notSaid.test(text) || line.isCompactSummary === true) return;
  if (interrupted.test(text)) yield told('', 'Interrupt', {});
  else yield told('', 'UserPromptSubmit', { prompt: text });
}
