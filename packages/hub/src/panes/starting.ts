import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';
import { type Backend, type PaneNewParams, type PaneNewResult, PolyError } from '@polyphony/protocol';
import { draft, type Source } from '../events/event-log.ts';
import { type ProcessGauges, processGauges } from '../platform/process-gauges.ts';
import type { Asker } from '../registry/ask.ts';
import type { PaneBackend } from './backend.ts';
import type { Endings } from './endings.ts';
import { paneEnvironment } from './environment.ts';
import { limitNotes } from './notes.ts';
import type { PanesOptions } from './options.ts';
import type { PaneBook } from './pane-book.ts';
import { defaultSize, familyOf, type PaneRecord } from './pane-record.ts';
import { permitSpawn } from './permit.ts';
import type { Start } from './program-names.ts';

interface StartingOptions extends PanesOptions {
  readonly book: PaneBook;
  readonly backends: Readonly<Record<Backend, PaneBackend>>;
  readonly endings: Endings;
  /** Ends a pane; its record and its output stay. */
  readonly close: (id: string) => Promise<void>;
  readonly hostGauges: () => Promise<ProcessGauges | undefined>;
}

interface CreateOptions {
  /** What it is started by. */
  readonly action: string;
  /** Variables it is given whenever it starts. */
  readonly fixedEnv?: Readonly<Record<string, string>>;
  /** Draw its screen from the start. */
  readonly drawn?: boolean;
}

/** What is decided about a pane before its program runs. */
type PanePlan = Omit<
  PaneRecord,
  'status' | 'exitCode' | 'exitSignal' | 'tokenHash' | 'pid' | 'startTime' | 'tmuxPane'
>;

/** How programs come into panes: asked for, started anew, or brought back. */
export class Starting {
  readonly #options: StartingOptions;

  constructor(options: StartingOptions) {
    this.#options = options;
  }

  async create(
    params: PaneNewParams,
    asker: Asker,
    { action, drawn = false, fixedEnv = {} }: CreateOptions,
  ): Promise<PaneRecord> {
    const { caller } = asker;
    const { book, clock, env: user, session, random } = this.#options;
    const backend = params.backend ?? ((await session.usable()) ? 'tmux' : 'pty');
    await this.#needBackend(backend);
    const id = params.id ?? `${backend === 'pty' ? 'pty' : 'pane'}_${random.hex(4)}`;
    const argv = params.argv ?? [user.SHELL || userInfo().shell || '/bin/sh'];
    const cwd = params.cwd ?? user.HOME ?? homedir();
    if (!isAbsolute(cwd)) {
      throw new PolyError('invalid_arguments', `cwd "${cwd}" must be an absolute path.`);
    }
    const { meta = {} } = params;
    limitNotes(meta);
    await this.#mayStart(asker, action, { argv, cwd, env: { ...params.env, ...fixedEnv } });
    const plan: PanePlan = {
      id,
      backend,
      title: params.title ?? argv.join(' ').slice(0, 200),
      argv,
      cwd,
      env: params.persist ? (params.env ?? {}) : {},
      fixedEnv,
      meta,
      persist: params.persist ?? false,
      notifyOnExit: params.notifyOnExit ?? false,
      cols: params.cols ?? defaultSize.cols,
      rows: params.rows ?? defaultSize.rows,
      createdAt: clock.now(),
      createdBy: caller.birth ?? null,
      family: caller.family,
      drawn,
    };
    return book.exclusive(id, async () => {
      if (book.find(id)) {
        throw new PolyError('conflict', `there is a pane "${id}" already.`, {
          hint: 'Close it, or take another id.',
        });
      }
      if (this.#options.isReserved(id)) {
        throw new PolyError('conflict', `"${id}" is the id of an agent that runs in no pane of ours.`, {
          hint: `Take another id, or let it go first: poly agent release ${id}`,
        });
      }
      return this.#start(plan, params.env ?? {}, caller);
    });
  }

  /** Starts the program of a pane anew, whether it runs or has ended; what it printed is forgotten. */
  async restart(
    id: string,
    changed: { readonly env?: PaneRecord['env'] | undefined; readonly argv?: PaneRecord['argv'] },
    asker: Asker,
    action: string,
  ): Promise<PaneRecord> {
    const { book, endings, clock, credentials } = this.#options;
    const { cwd, backend, tokenHash, ...record } = book.get(id);
    const { env: added = record.env, argv = record.argv } = changed;
    await this.#needBackend(backend);
    await this.#mayStart(asker, action, { argv, cwd, env: { ...added, ...record.fixedEnv } });
    await this.#options.close(id);
    return book.exclusive(id, async () => {
      const { killed: _, ...ended } = book.get(id);
      if (ended.tokenHash !== tokenHash)
        throw new PolyError('conflict', `somebody else has started ${id} anew meanwhile.`);
      credentials.revoke(id);
      await endings.forget(id);
      const family = ended.family ?? tokenHash;
      const again = { ...ended, argv, family, createdAt: clock.now(), env: ended.persist ? added : {} };
      return this.#start(again, added, asker.caller);
    });
  }

  async #needBackend(backend: Backend): Promise<void> {
    const { session, hostGauges } = this.#options;
    needRoom('the hub', processGauges(process.pid));
    needRoom('the host of the panes', await hostGauges());
    if (backend === 'pty' || (await session.running())) return;
    await session.needProgram();
    throw new PolyError('unavailable', 'the tmux session is not running.', {
      hint: 'Start it with poly session start, or use a pty pane: --backend pty.',
    });
  }

  async #mayStart(asker: Asker, action: string, start: Omit<Start, 'user'>): Promise<void> {
    const { ask, config, env: user } = this.#options;
    const question = permitSpawn(config, asker.caller, action, { ...start, user });
    if (question) await ask(question, asker);
  }

  /** What whoever asked for a pane is told of it. */
  describe({ id, meta, backend, pid }: PaneRecord, asked: PaneNewParams): PaneNewResult {
    const { trouble } = this.#options.session;
    const instead = trouble !== undefined && asked.backend === undefined && backend === 'pty';
    return { id, meta, backend, pid, ...(instead && { notice: `${trouble} So this is a pty pane.` }) };
  }

  /** Runs the program of a pane and writes down that it runs. */
  async #start(plan: PanePlan, added: Readonly<Record<string, string>>, from: Source): Promise<PaneRecord> {
    const { book, backends, credentials, env: user, address, secretEnv } = this.#options;
    const secrets = secretEnv(plan.id);
    const { token, hash } = credentials.issue(plan.id, plan.family);
    const planned = {
      ...plan,
      ...(Object.keys(secrets).length > 0 && { secretive: true }),
      status: 'running' as const,
      exitCode: null,
      exitSignal: null,
      tokenHash: hash,
    };
    try {
      const env = paneEnvironment(
        user,
        { ...added, ...plan.fixedEnv, ...secrets },
        { id: plan.id, token, ...address() },
      );
      const opened = await backends[plan.backend].open({ record: planned, env });
      const record: PaneRecord = { ...planned, ...opened };
      await book.put(record, [draft(from, 'pane:created', { paneId: plan.id })]);
      return record;
    } catch (error) {
      credentials.revoke(plan.id);
      throw error;
    }
  }

  /** Starts the command of a pane again that was lost and is meant to outlive that. */
  async revive(record: PaneRecord): Promise<void> {
    if (!record.persist) return;
    const { book, endings, session, hub, credentials, clock, log } = this.#options;
    const again = { ...record, family: familyOf(record), createdAt: clock.now() };
    try {
      if (record.backend === 'tmux') await session.start();
      await book.exclusive(record.id, async () => {
        credentials.revoke(record.id);
        await endings.forget(record.id);
        await this.#start(again, record.env, { participant: hub });
      });
    } catch (error) {
      log.error('a pane that is to persist could not be started again', { pane: record.id, error });
    }
  }
}

/** Beyond this part of its limit a process keeps the rest for what it has to do anyway. */
const fullAt = 0.8;

function needRoom(who: string, gauges: ProcessGauges | undefined): void {
  if (!gauges || gauges.openFiles < gauges.openFilesLimit * fullAt) return;
  const { openFiles, openFilesLimit } = gauges;
  throw new PolyError(
    'unavailable',
    `${who} has ${openFiles} of ${openFilesLimit} files open, and starts no more.`,
    {
      hint: 'End panes that are no longer needed, or raise the limit (ulimit -n) and start everything anew.',
    },
  );
}
