import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Backend } from '@polyphony/protocol';
import type { TestHub } from './test-hub.ts';

const hook = join(import.meta.dirname, '..', 'hooks', 'capture.sh');
const screens = join(import.meta.dirname, 'screens');

/** Obeys what is typed: shows a recorded screen once or all the time, as spinners do, or runs its hook. */
const program = `#!/bin/sh
stty -echo
while read -r verb given; do
  [ -z "$drawing" ] || { kill "$drawing"; wait "$drawing" 2>/dev/null; drawing=; }
  case $verb in
    show) printf '\\033[H\\033[2J'; head -c -1 "$given" ;;
    work) printf '\\033[2J'; (while :; do printf '\\033[H'; head -c -1 "$given"; sleep 0.05; done) & drawing=$! ;;
    hook) sh '${hook}' claude <"$given" ;;
    orphan) CLAUDE_PID=$$ sh -c '(sleep 0.2; exec sh "$0" claude <"$1") &' '${hook}' "$given" ;;
    tool) CODEX_THREAD_ID=01a1 sh '${hook}' codex <"$given" ;;
    session) printf '%s' "$given" >"$CLAUDE_CONFIG_DIR/sessions/$$.json" ;;
    session-pipe) mkfifo "$CLAUDE_CONFIG_DIR/sessions/$$.json" ;;
    outlive) trap '' 1; exec sleep 600 ;;
    end) exit 0 ;;
  esac
done`;

/** How many events all of them have told: each has a file of its own. */
let events = 0;

/** Writes the program down, and answers how it is started. */
export function fakeProgram({ home }: Pick<TestHub, 'home'>): {
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
} {
  const file = join(home, 'claude');
  // One that runs reads it as it goes.
  if (!existsSync(file)) {
    writeFileSync(file, program);
    chmodSync(file, 0o700);
  }
  const config = join(home, 'claude-config');
  mkdirSync(join(config, 'sessions'), { recursive: true });
  return { file, env: { CLAUDE_CONFIG_DIR: config } };
}

/** A program that looks like Claude Code, with its hooks and its session file, and does what it is told. */
export class FakeAgent {
  readonly #home: string;
  readonly #type: (line: string) => Promise<unknown>;
  readonly paneId: string;

  /** One that runs already: what is typed at it is all it obeys. */
  constructor(home: string, paneId: string, type: (line: string) => Promise<unknown>) {
    this.#home = home;
    this.paneId = paneId;
    this.#type = type;
  }

  static async start(hub: TestHub, { backend = 'pty' }: { backend?: Backend } = {}): Promise<FakeAgent> {
    const { file, env } = fakeProgram(hub);
    if (backend === 'tmux') await hub.client.call('session:start', {});
    const { id: paneId } = await hub.client.call('agent:create', { argv: [file], env });
    return new FakeAgent(hub.home, paneId, (data) =>
      hub.client.call('pane:write', { paneId, data, enter: true }),
    );
  }

  async #order(verb: string, given = ''): Promise<void> {
    await this.#type(`${verb} ${given}`);
  }

  /** Shows a screen that stands still. */
  show(screen: string): Promise<void> {
    return this.#order('show', join(screens, 'claude', `${screen}.txt`));
  }

  /** Shows nothing that can be read. */
  blank(): Promise<void> {
    return this.#order('show', '/dev/null');
  }

  /** Puts something else where its session file belongs. */
  async makeSessionPipe(): Promise<void> {
    await this.#order('session-pipe');
  }

  /** Draws a screen again and again. */
  work(screen: string): Promise<void> {
    return this.#order('work', join(screens, 'claude', `${screen}.txt`));
  }

  async hook(event: string, more: object = {}): Promise<void> {
    await this.#order('hook', this.#event(event, more));
  }

  /** A hook that tells when the shell it was run by has ended, as the `sh -c` of Claude Code mostly has. */
  async hookOfEndedShell(event: string, more: object = {}): Promise<void> {
    await this.#order('orphan', this.#event(event, more));
  }

  /** A hook of an agent that it runs as its tool. */
  async hookOfTool(event: string, more: object = {}): Promise<void> {
    await this.#order('tool', this.#event(event, more));
  }

  #event(event: string, more: object): string {
    const file = join(this.#home, `event-${++events}.json`);
    writeFileSync(file, JSON.stringify({ session_id: 's1', hook_event_name: event, cwd: '/', ...more }));
    return file;
  }

  /** Writes down what it does, as Claude Code does beside its hooks. */
  writeSession(status: string, waitingFor?: string): Promise<void> {
    return this.#order('session', JSON.stringify({ status, waitingFor }));
  }

  /** From now on it obeys nobody, and does not end with its terminal. */
  outlive(): Promise<void> {
    return this.#order('outlive');
  }

  end(): Promise<void> {
    return this.#order('end');
  }
}
