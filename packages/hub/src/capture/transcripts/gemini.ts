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

/** What it is told beside what somebody wrote. */
const notSaid = /^\s*<(?:session_context|hook_context)>/;

/**
 * Gemini CLI, 0.61.0: a line for each message, again whole when it has changed, and lines that set what all of them are.
 * Its hooks have no names for turns and tools: what is said is all they are known by.
 */
export const gemini: TranscriptKind = {
  folder: (env) => join(env.GEMINI_CLI_HOME || env.HOME || homedir(), '.gemini', 'tmp'),
  way: (conversation) => [/./, /^chats$/, new RegExp(`^session-.*-${conversation.slice(0, 8)}\\.jsonl$`)],
  async *read(path, conversation) {
    const so: SoFar = {
      around: { session_id: conversation },
      isThat: false,
      told: new Set(),
      answer: new Map(),
    };
    for await (const line of keptLines(path))
      yield* 'trouble' in line ? [line] : eventsIn(fieldsOf(line.value), conversation, so);
    yield* answered(so);
  },
};

/** What later lines mean by the ones before. */
interface SoFar {
  readonly around: Fields;
  isThat: boolean;
  /** Messages and tools that were told. */
  readonly told: Set<string>;
  /** What it has said in this turn, by message; the turn is over with one that calls no tool. */
  readonly answer: Map<string, { readonly text: string; readonly at: number; readonly isLast: boolean }>;
}

function* eventsIn(line: Fields, conversation: string, so: SoFar): Generator<KeptEvent> {
  const named = textOf(line.sessionId) ?? textOf(fieldsOf(line.$set).sessionId);
  if (named !== undefined) so.isThat = named === conversation;
  const at = timeOf(line.timestamp);
  const id = textOf(line.id);
  if (at === undefined || id === undefined || !so.isThat) return;
  if (line.type === 'user') yield* prompted(line, id, at, so);
  if (line.type !== 'gemini') return;
  const calls = listOf(line.toolCalls).map(fieldsOf);
  so.answer.set(id, { text: saidIn(line.content), at, isLast: calls.length === 0 });
  for (const call of calls) yield* called(call, at, so);
}

function* prompted(line: Fields, id: string, at: number, so: SoFar): Generator<KeptEvent> {
  const prompt = saidIn(line.content);
  if (prompt === '' || so.told.has(id)) return;
  so.told.add(id);
  yield* answered(so);
  yield { id, at, payload: { ...so.around, hook_event_name: 'BeforeAgent', prompt } };
}

function* called(call: Fields, at: number, { told, around }: SoFar): Generator<KeptEvent> {
  const id = textOf(call.id);
  if (id === undefined || told.has(id)) return;
  told.add(id);
  const tool = { ...around, tool_name: call.name, tool_input: call.args };
  yield { id: `${id}-before`, at, payload: { ...tool, hook_event_name: 'BeforeTool' } };
  // No hook tells of the end of one that was refused.
  if (call.status !== 'success' && call.status !== 'error') return;
  const [{ functionResponse } = {}] = listOf(call.result).map(fieldsOf);
  const tool_response = {
    llmContent: fieldsOf(fieldsOf(functionResponse).response).output,
    returnDisplay: call.resultDisplay,
  };
  yield {
    ...{ id: `${id}-after`, at: timeOf(call.timestamp) ?? at },
    payload: { ...tool, hook_event_name: 'AfterTool', tool_response },
  };
}

/** All that it said since the last prompt, as its hooks tell it at the end of a turn. */
function* answered({ answer, around }: SoFar): Generator<KeptEvent> {
  const [id, last] = [...answer].at(-1) ?? [];
  const text = [...answer.values()]
    .map((one) => one.text)
    .join('\n')
    .trim();
  answer.clear();
  if (id === undefined || !last?.isLast || text === '') return;
  const payload = { ...around, hook_event_name: 'AfterAgent', prompt_response: text };
  yield { id: `${id}-answer`, at: last.at, payload };
}

const saidIn = (content: unknown): string =>
  textOf(content) ??
  wordsIn(content)
    .filter((text) => !notSaid.test(text))
    .join('\n');
