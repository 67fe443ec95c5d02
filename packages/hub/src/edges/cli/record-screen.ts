import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type AgentRecording, type AgentStatus, blockedReasons, PolyError } from '@polyphony/protocol';
import { placesOf } from '../../platform/places.ts';
import { screensFolder } from './build.ts';
import type { Call } from './command.ts';
import { fileTrouble } from './file-trouble.ts';
import { shown } from './output.ts';
import { callOnPane } from './panes.ts';
import { shellWord } from './shell-word.ts';

interface RecordFlags {
  readonly state?: string;
  readonly dir?: string;
}

/** What is known of an agent shows as this; that it is gone, no screen shows. */
const showsAs: Partial<Readonly<Record<AgentStatus, string>>> = {
  idle: 'idle',
  running: 'running',
  blocked: 'blocked',
  done: 'idle',
  error: 'error',
  starting: 'starting',
};

/** Saves the screen as text, and beside it what is known of it. */
export async function recordScreen({
  args: [paneId = ''],
  flags,
  hub,
  env,
  out,
  json,
}: Call & { flags: RecordFlags }): Promise<void> {
  const { vendor, version, told, screen, read } = await callOnPane<AgentRecording>(hub, 'agent:record', {
    paneId,
  });
  const { lines, cols, rows, title, cursor, alternate, bracketedPaste } = screen;
  const { dir = 'screens' } = flags;
  const state = flags.state ?? (told && stateOf(told));
  const [status, blockedOn] = state?.split('-') ?? [];
  const notes = {
    ...{ vendor, version, state: status, blockedOn, told },
    screen: { cols, rows, title, cursor, alternate, bracketedPaste },
    // Recordings are shared: where somebody keeps the rules is nobody's business.
    read: { ...read, rules: read.rules && `${vendor}/${basename(read.rules)}` },
  };
  const file = save(join(dir, vendor), `${state ?? 'unknown'}-${cols}x${rows}`, {
    txt: `${lines.map((line) => line.replace(/ +$/, '')).join('\n')}\n`,
    json: `${JSON.stringify(notes, null, 2)}\n`,
  });
  const agrees =
    status === undefined
      ? undefined
      : status === read.status && (blockedOn === undefined || blockedOn === read.blockedOn);
  if (json) return out.json({ file, ...(agrees !== undefined && { agrees }), ...notes });
  out.line(`Saved ${file}, and what is known of it beside it.`);
  const words = `${[read.status, read.blockedOn].filter(Boolean).join(', ')} ("${shown(read.evidence, 200)}")`;
  const again = `poly agent check ${shellWord(dir)}`;
  if (agrees === undefined)
    out.line(
      `Nobody has told what it was doing; the rules read ${words}. Write "state" into ${notesOf(file)}, then: ${again}`,
    );
  else if (agrees) out.line(`The rules read ${words}, as it was.`);
  else {
    const from = version ?? 'VERSION';
    const sign = { status, blockedOn, in: 'screen', pattern: 'words that only this screen has' };
    out.line(`The rules read ${words}, but it was ${[status, blockedOn].filter(Boolean).join(', ')}.`);
    out.line(`Write a rule for it into ${join(placesOf(env).screens, vendor, `${from}.json`)}, for example`);
    out.line(`  ${JSON.stringify({ from, signs: [sign] })}`);
    out.line(`Then: ${again}`);
  }
}

function stateOf({ status, kind }: NonNullable<AgentRecording['told']>): string | undefined {
  const reason = blockedReasons.find((one) => status === 'blocked' && one === kind);
  return [showsAs[status], reason].filter(Boolean).join('-') || undefined;
}

const notesOf = (file: string): string => join(dirname(file), `${basename(file, '.txt')}.json`);

/** Under a name that nobody has: a number is added where somebody does. */
function save(folder: string, name: string, parts: { readonly txt: string; readonly json: string }): string {
  makeFolder(dirname(folder));
  makeFolder(folder);
  for (let count = 1; ; count++) {
    const file = join(folder, `${name}${count === 1 ? '' : `-${count}`}.txt`);
    if (!isNew(notesOf(file), parts.json)) continue;
    if (isNew(file, parts.txt)) return file;
    rmSync(notesOf(file));
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      throw fileTrouble(folder, 'written', error);
  }
}

/** Writes a file, unless there is one of that name. */
function isNew(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw fileTrouble(file, 'written', error);
  }
}

/** Says of each recorded screen how it is read; ends with 1 when one is read as something else. */
export async function checkScreens({
  args: [folder = 'screens'],
  env,
  out,
  json,
  offline,
}: Call): Promise<number> {
  const rules = { shipped: screensFolder, own: placesOf(env).screens };
  const checked = await offline.checkScreens(folder, rules).catch((error: unknown) => {
    throw fileTrouble(folder, 'read', error);
  });
  if (checked.length === 0)
    throw new PolyError('not_found', `there are no recordings in ${folder}.`, {
      hint: `Make one with: poly agent record <pane>${folder === 'screens' ? '' : ` --dir ${shellWord(folder)}`}`,
    });
  const wrong = checked.filter(({ problem }) => problem !== undefined);
  if (json) out.json(checked);
  else {
    for (const { file, problem } of wrong)
      out.line(`${out.paint('red', '✕')} ${file}: ${shown(problem ?? '', 1000)}`);
    for (const problem of await offline.ruleProblems(rules)) out.note(`poly: ${problem}`);
    const right = checked.length - wrong.length;
    out.line(`${right} of ${checked.length} recorded screens are read as what they are.`);
  }
  return wrong.length > 0 ? 1 : 0;
}
