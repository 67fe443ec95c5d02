import { closeSync, writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { hostDirectory } from './instance-socket.ts';
import { LydellPtyDriver } from './pty-driver.ts';
import { HostServer } from './server.ts';

/**
 * Runs the terminal host until it has nothing left to do. It takes `--dir` (its private folder), and may be given
 * `--panes` (the folder for output that is to outlive it), `--idle-ms`, `--screen-idle-ms`, `--umask` (in octal, for the programs it starts), `--version` and `--ready-fd` (a
 * number that it writes a line to and closes when it serves, or when another host does).
 */
export async function runHost(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      dir: { type: 'string' },
      panes: { type: 'string' },
      'idle-ms': { type: 'string', default: '60000' },
      'screen-idle-ms': { type: 'string', default: '60000' },
      umask: { type: 'string' },
      version: { type: 'string', default: '0' },
      'ready-fd': { type: 'string' },
    },
  });
  if (values.dir === undefined) throw new TypeError('The host needs --dir, the folder it lives in.');
  // Own files are made with a mode of their own: the mask is for what the programs make.
  if (values.umask !== undefined) process.umask(Number.parseInt(values.umask, 8));
  // Its end is the end of everybody's terminals: what nobody foresaw is noted and survived, also where the disk has no room for the note.
  process.stderr.on('error', () => {});
  process.on('uncaughtException', (error) => console.error(new Date().toISOString(), error));
  process.on('SIGHUP', () => {});

  const server = new HostServer({
    dir: hostDirectory(values.dir),
    panes: values.panes,
    driver: new LydellPtyDriver(),
    version: values.version,
    idleMs: Number(values['idle-ms']),
    screenIdleMs: Number(values['screen-idle-ms']),
  });
  const serves = await server.start();
  if (values['ready-fd'] !== undefined) sayReady(Number(values['ready-fd']));
  if (serves) {
    process.on('SIGTERM', () => void server.stop(true));
    await server.finished;
  }
  process.exit(0);
}

function sayReady(fd: number): void {
  try {
    writeSync(fd, 'ready\n');
    closeSync(fd);
  } catch {
    // Who started us has gone; others will come.
  }
}
