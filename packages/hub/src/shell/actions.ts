import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { PolyError, shellRun } from '@polyphony/protocol';
import type { Log } from '../platform/log.ts';
import type { Registry } from '../registry/registry.ts';

export interface ShellOptions {
  readonly registry: Registry;
  readonly log: Log;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Command lines run beside the hub, without a terminal; nobody waits for their end. */
export function registerShellActions({ registry, log, env }: ShellOptions): void {
  registry.register('shell', shellRun, async ({ command, cwd = env.HOME ?? '/' }) => {
    if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
      throw new PolyError('spawn_failed', `${cwd} is no folder.`, { details: { errno: 'ENOENT' } });
    }
    const child = spawn(env.SHELL || '/bin/sh', ['-c', command], {
      cwd,
      env: { ...env },
      detached: true,
      stdio: 'ignore',
    });
    child.on('exit', (code, signal) => log.info('shell:run ended', { command, code, signal }));
    try {
      await once(child, 'spawn');
    } catch (cause) {
      throw new PolyError('spawn_failed', `the shell could not be started: ${(cause as Error).message}`, {
        cause,
      });
    }
    child.unref();
    return {};
  });
}
