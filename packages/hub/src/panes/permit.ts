import { isUtf8 } from 'node:buffer';
import { type Action, type ApprovalKind, type PaneWriteParams, PolyError } from '@polyphony/protocol';
import type { Config } from '../platform/config.ts';
import { fitsFolder, fitsText, type Judgement, judge, realFolder } from '../platform/rules.ts';
import { grantHint, type Question } from '../registry/ask.ts';
import { type Caller, isUser, nameOf } from '../registry/caller.ts';
import { changedCodeVariables } from './code-variables.ts';
import type { PaneBook } from './pane-book.ts';
import type { PaneRecord } from './pane-record.ts';
import { fitsProgram, type ProgramNames, programNames, type Start } from './program-names.ts';
import { writtenBytes } from './written-bytes.ts';

export interface PermitOptions {
  readonly book: PaneBook;
  readonly config: Config;
  /** The user's environment. */
  readonly user: Start['user'];
  readonly seatOf: SeatOf;
}

/** Who drives the session that a pane feeds, if anybody; nothing where it feeds none. */
export type SeatOf = (paneId: string) => { readonly driver: string | undefined } | undefined;

/** The user may act on every pane; a pane on itself, on those it made, and on what config.toml or the user grants. */
export function permitPane(
  { book, config, user, seatOf }: PermitOptions,
  caller: Caller,
  action: Action,
  params: PaneParams,
): Question | undefined {
  const { permission } = config;
  const { paneId } = params;
  if (caller.person !== undefined) return permitPerson(seatOf, caller, action, paneId);
  if (isUser(caller) || owns(book, caller, paneId)) return undefined;
  // Whether that pane exists is not for everybody to find out, so the answer is the same for one that does not.
  const judgement = judge(permission.write, (pattern) => fitsText(pattern, paneId), 'ask');
  const refusal = `${nameOf(caller)} may not touch the pane ${paneId}`;
  const reason =
    reasonOf('write', judgement) ?? 'no rule of [permission.write] fits, and other panes are asked for';
  if (!mustAsk([judgement], refusal)) return undefined;
  const record = book.find(paneId);
  const question: Question = {
    kind: kindOf(action),
    action: action.name,
    paneId,
    ...textOf(action, params),
    reason,
    refusal,
    holds: () => book.find(paneId)?.tokenHash === record?.tokenHash,
  };
  return action.name === 'pane:restart' ? ofRestart(question, record, { ...params, user }) : question;
}

/** A person whom the user has invited sees what feeds a session, and types there while that person has the seat. */
function permitPerson(
  seatOf: SeatOf,
  { participant }: Caller,
  { name, effect }: Action,
  paneId: string,
): undefined {
  const seat = seatOf(paneId);
  if (!seat)
    throw new PolyError(
      'forbidden',
      `${participant} may not touch the pane ${paneId}: it feeds no session.`,
      {
        hint: 'Whoever is in it joins a project: poly join <project>',
      },
    );
  if (effect === 'read' || seat.driver === participant) return undefined;
  throw new PolyError(
    'forbidden',
    `${participant} may not run ${name} on the pane ${paneId}: ${seat.driver ?? 'nobody'} has its seat.`,
    { hint: 'Claim the seat, or advise whoever has it.' },
  );
}

/** What would run in the pane from then on, and the names of the variables it would get: the values may be secrets. */
function ofRestart(
  question: Question,
  record: PaneRecord | undefined,
  { env: given, user }: { readonly env?: Env; readonly user: Start['user'] },
): Question {
  const env = { ...(given ?? record?.env), ...record?.fixedEnv };
  const code = changedCodeVariables(env, user);
  return {
    ...question,
    ...(record && { command: record.argv, cwd: realFolder(record.cwd) }),
    ...changedNames(env, user),
    reason: `${question.reason}${code.length > 0 ? `, and ${listed(code)} can make it run other code` : ''}`,
  };
}

type Env = Readonly<Record<string, string>>;

function changedNames(env: Env, user: Start['user']): Pick<Question, 'env'> {
  const changed = Object.keys(env).filter((name) => env[name] !== user[name]);
  return changed.length > 0 ? { env: changed.sort() } : {};
}

/** What a program in a pane may start, and where. */
export function permitSpawn(
  { permission }: Config,
  caller: Caller,
  action: string,
  start: Start,
): Question | undefined {
  if (isUser(caller)) return undefined;
  const { argv, env, user } = start;
  const cwd = realFolder(start.cwd);
  const names = programNames(start);
  const judged = (called: ProgramNames): Judgement =>
    judge(permission.spawn, (...rule) => fitsProgram(called, argv, ...rule), 'allow');
  const code = changedCodeVariables(env, user);
  const named = judged(names);
  // With these it is no longer the program that a rule allows by name, and counts as any other.
  const spawn = code.length > 0 ? judged({ ...names, certain: [] }) : named;
  const swayed = named.verdict === 'allow' && spawn.verdict !== 'allow' ? listed(code) : undefined;
  const directory = judge(permission.directory, (pattern) => fitsFolder(pattern, cwd), 'allow');
  // Arguments may hold secrets, and a refusal is written to the log.
  const refusal = `${nameOf(caller)} may not start "${argv[0]}" in ${cwd}${swayed ? ` with ${swayed}` : ''}`;
  if (!mustAsk([spawn, directory], refusal)) return undefined;
  return {
    kind: 'spawn',
    action,
    command: argv,
    cwd,
    ...changedNames(env, user),
    reason: [
      reasonOf('spawn', spawn),
      swayed && `no rule allows it by name with ${swayed}, which can make it run other code`,
      reasonOf('directory', directory),
    ]
      .filter(Boolean)
      .join(', '),
    refusal,
    holds: () => realFolder(start.cwd) === cwd && programNames(start).identity === names.identity,
  };
}

const mostListed = 5;
const listed = (names: readonly string[]): string =>
  [
    ...names.slice(0, mostListed),
    ...(names.length > mostListed ? [`${names.length - mostListed} more`] : []),
  ].join(', ');

function mustAsk(judgements: readonly Judgement[], refusal: string): boolean {
  const verdicts = judgements.map(({ verdict }) => verdict);
  if (verdicts.includes('deny'))
    throw new PolyError('forbidden', `${refusal}: config.toml denies it.`, { hint: grantHint });
  return verdicts.includes('ask');
}

function reasonOf(table: string, { pattern, verdict }: Judgement): string | undefined {
  return verdict === 'ask' && pattern !== undefined
    ? `[permission.${table}] "${pattern}" = "ask"`
    : undefined;
}

interface PaneParams {
  readonly paneId: string;
}

const kinds: Readonly<Record<string, ApprovalKind>> = { 'pane:close': 'close', 'pane:restart': 'restart' };

const kindOf = ({ name, effect }: Action): ApprovalKind =>
  kinds[name] ?? (effect === 'read' ? 'read' : 'write');

/** What reaches the terminal, whole; of other actions their other parameters. */
function textOf({ name }: Action, { paneId: _, ...params }: PaneParams): { readonly text?: string } {
  const given = params as { readonly keys?: readonly string[]; readonly text?: string };
  switch (name) {
    case 'pane:write':
      return { text: readable(writtenBytes(params as PaneWriteParams)) };
    case 'pane:keys':
      return { text: given.keys?.join(' ') ?? '' };
    // Told by `ofRestart`.
    case 'pane:restart':
      return {};
    case 'agent:message':
      return { text: given.text ?? '' };
    default:
      return Object.keys(params).length > 0 ? { text: JSON.stringify(params) } : {};
  }
}

/** Bytes that are no text are shown one by one, so that none is hidden. */
const readable = (bytes: Buffer): string => bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1');

/** By the credential each was born with: an id can be taken again, that cannot. */
export function owns(book: PaneBook, { birth }: Pick<Caller, 'birth'>, paneId: string): boolean {
  const seen = new Set<PaneRecord>();
  let current = book.find(paneId);
  while (current && !seen.has(current)) {
    const { createdBy }: PaneRecord = current;
    if (birth !== undefined && (current.tokenHash === birth || createdBy === birth)) return true;
    seen.add(current);
    current = createdBy === null ? undefined : book.list().find(({ tokenHash }) => tokenHash === createdBy);
  }
  return false;
}
