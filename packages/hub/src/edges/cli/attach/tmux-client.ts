import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { PolyError, type TmuxSession } from '@polyphony/protocol';
import { isAbsent, missingTmux } from '../../../platform/missing-tmux.ts';
import type { Env } from '../env.ts';
import type { Output } from '../output.ts';

/** Puts a tmux client into this terminal; answers the exit code it ended with. */
export async function attachTmux(session: TmuxSession, env: Env, out: Output): Promise<number> {
  const target = `=${session.name}`;
  if (!isInside(env, session.socket)) {
    if (env.TMUX) out.note(nested);
    return showTmux(session, env, ['attach-session', '-t', target]);
  }
  // A client inside the same server cannot show that server once more; it goes to the session instead.
  const here = (await ask(session, env, ['display-message', '-p', '#{session_name}'])).trim();
  if (here === session.name) {
    out.note(`This is the tmux session "${session.name}" already; Ctrl-b w shows its windows.`);
    return 0;
  }
  return switched(await showTmux(session, env, ['switch-client', '-t', target]), session.name, out);
}

const nested = 'This terminal is inside another tmux: Ctrl-b goes to that one. Ctrl-b Ctrl-b d leaves.';

/** Says what would otherwise happen without a word; answers the exit code. */
function switched(code: number, what: string, out: Output): number {
  out.note(
    code === 0
      ? `The terminal shows ${what} now; Ctrl-b L goes back.`
      : 'poly: no terminal shows this tmux pane, so that none can be switched. Run it in a terminal.',
  );
  return code;
}

/**
 * Shows one pane in a session of its own that shares the windows, so that nobody else's view moves with it. It is ended
 * by hand: tmux 3.3a sometimes crashes, with every pane, when a session with destroy-unattached loses its client.
 */
export async function attachTmuxPane(
  session: TmuxSession,
  paneId: string,
  { env, out, readOnly = false }: { readonly env: Env; readonly out: Output; readonly readOnly?: boolean },
): Promise<number> {
  await endLeftViews(session, env);
  const [window, pane] = await findPane(session, paneId, env);
  const view = `${session.name}-${randomBytes(4).toString('hex')}`;
  const inside = isInside(env, session.socket);
  if (inside && readOnly)
    throw new PolyError('forbidden', 'a terminal inside this tmux cannot be made to look on only.', {
      hint: `Run it in a terminal outside, or look with: poly screen ${paneId}`,
    });
  if (!inside && env.TMUX) out.note(nested);
  try {
    const code = await showTmux(session, env, [
      ...['new-session', ...(inside || readOnly ? ['-d'] : []), '-t', `=${session.name}`, '-s', view],
      ...[';', 'select-window', '-t', `=${view}:${window}`],
      ...[';', 'select-pane', '-t', `=${view}:${window}.${pane}`],
      ...(inside ? [';', 'switch-client', '-t', `=${view}`] : []),
      ...(!inside && readOnly ? [';', 'attach-session', '-r', '-t', `=${view}`] : []),
    ]);
    return inside ? switched(code, paneId, out) : code;
  } finally {
    await endLeftViews(session, env).catch(() => undefined); // With tmux itself gone, nothing is left over.
  }
}

/** Ends the views nobody looks at any more, also those of a terminal that had no time to do it. */
async function endLeftViews(session: TmuxSession, env: Env): Promise<void> {
  const format = '#{session_attached} #{session_group} #{session_name}';
  const left = new RegExp(`^0 ${session.name} (${session.name}-[0-9a-f]{8})$`);
  for (const line of (await ask(session, env, ['list-sessions', '-F', format])).split('\n')) {
    const view = left.exec(line)?.[1];
    // Another terminal may be ending it too.
    if (view !== undefined)
      // Gone by itself, or with tmux.
      await ask(session, env, ['kill-session', '-t', `=${view}`]).catch(() => undefined);
  }
}

async function findPane(
  session: TmuxSession,
  paneId: string,
  env: Env,
): Promise<readonly [window: string, pane: string]> {
  const format = '#{window_id} #{pane_id} #{@poly-pane}';
  const panes = await ask(session, env, ['list-panes', '-s', '-t', `=${session.name}:`, '-F', format]);
  for (const line of panes.split('\n')) {
    const [window = '', pane = '', id] = line.split(' ');
    if (id === paneId) return [window, pane];
  }
  throw new PolyError('not_found', `the tmux session has no pane ${paneId} any more.`, {
    hint: 'poly ls shows the panes.',
  });
}

/** What one command of tmux prints. */
async function ask({ tmux, socket }: TmuxSession, env: Env, argv: readonly string[]): Promise<string> {
  try {
    const options = { env: environmentFor(socket, env) };
    return (await promisify(execFile)(tmux, [...serverFlags(socket), ...argv], options)).stdout;
  } catch (cause) {
    if (isAbsent(cause)) throw missingTmux(cause as Error);
    throw new PolyError('unavailable', `tmux does not answer: ${(cause as Error).message.trim()}`, { cause });
  }
}

async function showTmux({ tmux, socket }: TmuxSession, env: Env, argv: readonly string[]): Promise<number> {
  if (!process.stdin.isTTY)
    throw new PolyError('invalid_arguments', 'attaching needs a terminal.', {
      hint: 'poly ls shows the panes.',
    });
  const child = spawn(tmux, [...serverFlags(socket), ...argv], {
    stdio: 'inherit',
    env: environmentFor(socket, env),
  });
  const passOn = (signal: NodeJS.Signals): void => void child.kill(signal);
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) process.on(signal, passOn);
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => reject(missingTmux(cause)));
    child.once('exit', (code) => resolve(code === 0 ? 0 : 1));
  });
}

function serverFlags(socket: string): readonly string[] {
  return socket.includes('/') ? ['-S', socket] : ['-L', socket];
}

function environmentFor(socket: string, env: Env): Env {
  const { TMUX: _, TMUX_PANE: __, ...outside } = env;
  return isInside(env, socket) ? env : outside;
}

function isInside({ TMUX = '' }: Env, socket: string): boolean {
  const [path = ''] = TMUX.split(',');
  return path === socket || (path !== '' && basename(path) === socket);
}
