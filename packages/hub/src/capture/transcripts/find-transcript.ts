import { readdir } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { Store } from '../../store/store.ts';
import { parsePayload } from '../normalise.ts';
import { openKept } from './kept-file.ts';
import { plainName, Refused } from './transcript.ts';
import { transcriptKinds } from './transcripts.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Where an agent keeps a conversation, and why it cannot be read there; nothing where it is not found. */
export async function findTranscript(
  store: Store,
  vendor: string,
  conversation: string,
  homes: readonly Env[],
): Promise<{ readonly path?: string; readonly problem?: string }> {
  const kind = Object.hasOwn(transcriptKinds, vendor) ? transcriptKinds[vendor] : undefined;
  if (!kind || !plainName.test(conversation)) return {};
  const way = kind.way(conversation);
  const said = await saidBy(store, vendor, conversation);
  const folders = [...new Set(homes.map((env) => kind.folder(env)))];
  const found = said !== undefined && isThat(said, way) ? [said] : [];
  for (const folder of folders) found.push(...(await below(folder, way)));
  const [path] = found;
  if (path === undefined) return {};
  try {
    await (await openKept(path)).close();
    return { path };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { path, problem: error.message };
  }
}

/** What its hooks said last of where it is. */
async function saidBy(store: Store, vendor: string, conversation: string): Promise<string | undefined> {
  const [row] = await store.query<{ readonly raw: Uint8Array }>(
    `SELECT raw FROM captures WHERE session = ? AND agent = ? AND origin <> 'transcript' ORDER BY seq DESC LIMIT 1`,
    [conversation, vendor],
  );
  const { transcript_path: path } = (row ? (parsePayload(row.raw) ?? {}) : {}) as Readonly<
    Record<string, unknown>
  >;
  return typeof path === 'string' && isAbsolute(path) && !path.includes('\0') ? path : undefined;
}

/** Whether a path ends as those of its agent do: whatever a hook says, nothing else is read. */
function isThat(path: string, way: readonly RegExp[]): boolean {
  const [last, ...before] = way.toReversed();
  if (!last?.test(basename(path))) return false;
  let folder = dirname(path);
  for (const step of before) {
    if (!step.test(basename(folder))) return false;
    folder = dirname(folder);
  }
  return true;
}

/** Everything below a folder that the way leads to, the newest name first. */
async function below(folder: string, [step, ...rest]: readonly RegExp[]): Promise<readonly string[]> {
  if (step === undefined) return [folder];
  const names = await readdir(folder).catch(() => [] as string[]); // There is no such folder, or it is another's.
  const found: string[] = [];
  for (const name of names
    .filter((one) => step.test(one))
    .sort()
    .reverse())
    found.push(...(await below(join(folder, name), rest)));
  return found;
}
