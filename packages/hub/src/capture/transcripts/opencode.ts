import { homedir } from 'node:os';
import { join } from 'node:path';
import { openReader } from '../../store/connection.ts';
import { openKept } from './kept-file.ts';
import { type Fields, fieldsOf, type KeptEvent, type TranscriptKind, textOf, timeOf } from './transcript.ts';

interface Part {
  readonly id: string;
  readonly message: string;
  readonly role: string | null;
  readonly at: number;
  /** Nothing where it is longer than anything an agent says. */
  readonly data: string | null;
  readonly directory: string;
}

const longest = 16 * 1024 * 1024;

const parts = `SELECT part.id, part.message_id AS message, json_extract(message.data, '$.role') AS role,
    part.time_created AS at, CASE WHEN length(part.data) <= ${longest} THEN part.data END AS data, session.directory
  FROM part JOIN message ON message.id = part.message_id JOIN session ON session.id = part.session_id
  WHERE part.session_id = ? AND session.parent_id IS NULL ORDER BY part.time_created, part.id`;

/** OpenCode, 1.18.33: a database of all conversations. Its plugin tells prompts and tools, and no answers: neither does this. */
export const opencode: TranscriptKind = {
  folder: (env) => join(env.XDG_DATA_HOME || join(env.HOME || homedir(), '.local', 'share'), 'opencode'),
  way: () => [/^opencode\.db$/],
  async *read(path, conversation) {
    await (await openKept(path)).close();
    const db = openReader(path);
    try {
      let prompt: (Part & { readonly text: string }) | undefined;
      for (const part of db.prepare<[string], Part>(parts).iterate(conversation)) {
        if (part.data === null) {
          yield { trouble: `${part.id} is longer than ${longest} bytes` };
          continue;
        }
        const data = fieldsOf(JSON.parse(part.data));
        const text =
          part.role === 'user' && data.synthetic !== true && data.type === 'text'
            ? textOf(data.text)
            : undefined;
        if (prompt && prompt.message !== part.message) {
          yield prompted(prompt, conversation);
          prompt = undefined;
        }
        if (text !== undefined)
          prompt = prompt ? { ...prompt, text: `${prompt.text}\n${text}` } : { ...part, text };
        if (data.type === 'tool') yield* called(part, data, conversation);
      }
      if (prompt) yield prompted(prompt, conversation);
    } finally {
      db.close();
    }
  },
};

/** What somebody wrote in several parts is one prompt. */
const prompted = (
  { id, at, text, directory }: Part & { readonly text: string },
  sessionID: string,
): KeptEvent => ({
  ...{ id, at, payload: { type: 'chat.message', directory, properties: { sessionID, text } } },
});

function* called({ id, at, directory }: Part, data: Fields, sessionID: string): Generator<KeptEvent> {
  const state = fieldsOf(data.state);
  const time = fieldsOf(state.time);
  const begun = timeOf(time.start);
  // It was not run so far, or was not to be.
  if (begun === undefined) return;
  const properties = { tool: data.tool, sessionID, callID: data.callID, args: state.input };
  yield { id: `${id}-before`, at: begun, payload: { type: 'tool.execute.before', directory, properties } };
  if (state.status !== 'completed') return;
  const ended = { ...properties, output: state.output };
  yield {
    ...{ id: `${id}-after`, at: timeOf(time.end) ?? at },
    payload: { type: 'tool.execute.after', directory, properties: ended },
  };
}
