import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { ServerStatus } from '@polyphony/protocol';
import { launcher } from './build.ts';
import type { Call } from './command.ts';
import type { Env } from './env.ts';
import { shellWord } from './shell-word.ts';

/** The first minute: where the hub is, and what to try next. */
export function sayHello({ env, out }: Call, { url }: ServerStatus, started: boolean): void {
  out.line(`${out.paint('green', '●')} The hub ${started ? 'is up' : 'was up already'}.`);
  if (url) out.line(`  In a browser: ${out.paint('bold', 'poly open')} (${url})`);
  if (!isOnPath(env)) {
    const extended = `export PATH=${shellWord(dirname(launcher))}:"$PATH"`;
    out.line(`  So that your shell finds poly: ${out.paint('bold', extended)}`);
  }
  out.line();
  out.line('Try next:');
  out.table([
    ['  poly run -- top', out.paint('dim', 'start a program in a pane that outlives this terminal')],
    ['  poly ls', out.paint('dim', 'see every pane')],
    ['  poly attach <pane>', out.paint('dim', 'look at one and type; Ctrl-b d leaves it running')],
  ]);
}

/** npm puts the programs of a project on PATH only while it runs one of its scripts. */
function isOnPath({ PATH = '', npm_lifecycle_event: script }: Env): boolean {
  return PATH.split(delimiter)
    .filter((folder) => script === undefined || !folder.includes('/node_modules/'))
    .some((folder) => existsSync(join(folder, 'poly')));
}
