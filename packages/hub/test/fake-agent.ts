import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
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
    tool) CODEX_THREAD_ID=01a1 sh '${hook}' codex <"$given" ;;
    session) printf '%s' "$given" >"$CLAUDE_CONFIG_DIR/sessions/$$.json" ;;
    session-pipe) mkfifo "$CLAUDE_CONFIG_DIR/sessions/$$.json" ;;
    end) exit 0 ;;
  esac
done`;

/** A program that looks like Claude Code, with its hooks and its session file, and does what it is told. */
export class FakeAgent {
  readonly #hub: TestHub;
  #events = 0;
  readonly paneId: string;

  private constructor(hub: TestHub, paneId: string) {
    this.#hub = hub;
    this.paneId = paneId;
  }

  static async start(hub: TestHub, { backend = 'pty' }: { backend?: Backend } = {}): Promise<FakeAgent> {
    const file = join(hub.home, 'claude');
    writeFileSync(file, program);
    chmodSync(file, 0o700);
    const config = join(hub.home, 'claude-config');
    mkdirSync(join(config, 'sessions'), { recursive: true });
    if (backend === 'tmux') await hub.client.call('session:start', {});
    const env = { CLAUDE_CONFIG_DIR: config };
    const { id } = await hub.client.call('agent:create', { argv: [file], env });
    return new FakeAgent(hub, id);
  }

  async #order(verb: string, given = ''): Promise<void> {
    await this.#hub.client.call('pane:write', { paneId: this.paneId, data: `${verb} ${given}`, enter: true });
  }

  /** Shows a screen that stands still. */
  show(screen: string): Promise<void> {
    return this.#order('show', join(screens, 'claude', `${screen}.txt`));
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

  /** A hook of an agent that it runs as its tool. */
  async hookOfTool(event: string, more: object = {}): Promise<void> {
    await this.#order('tool', this.#event(event, more));
  }

  #event(event: string, more: object): string {
    const file = join(this.#hub.home, `event-${++this.#events}.json`);
    writeFileSync(file, JSON.stringify({ session_id: 's1', hook_event_name: event, cwd: '/', ...more }));
    return file;
  }

  /** Writes down what it does, as Claude Code does beside its hooks. */
  writeSession(status: string, waitingFor?: string): Promise<void> {
    return this.#order('session', JSON.stringify({ status, waitingFor }));
  }

  end(): Promise<void> {
    return this.#order('end');
  }
}
