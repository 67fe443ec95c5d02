import { existsSync } from 'node:fs';
import { PolyError, type ServerStatus } from '@polyphony/protocol';
import { placesOf } from '../../../platform/places.ts';
import { age } from '../age.ts';
import { type Call, type Command, command } from '../command.ts';
import { isNoHub, readDiscovery } from '../find-hub.ts';
import { text, toggle, wholeNumber } from '../flag.ts';
import { waitingNote } from './approvals.ts';

const startFlags = {
  port: wholeNumber('TCP port; 0 for any. Without it the last one used, else 4096.', { most: 65_535 }),
  hostname: text('Where TCP listens; only this machine.', { value: '127.0.0.1' }),
  'no-tcp': toggle(
    'Listen on the unix socket only, after a restart too until --port or --hostname opens TCP.',
  ),
  foreground: toggle('Stay in this terminal until the hub ends.'),
};

export const serverCommands: readonly Command[] = [
  command({
    name: 'up',
    summary: 'Starts the hub if needed, and says what to try next.',
    flags: startFlags,
    examples: ['poly up', 'poly up --no-tcp'],
    async run(call) {
      const { startHub, unusedFlags } = await import('../start-hub.ts');
      const { status, started } = await startHub(call);
      if (!status) return;
      const unused = started ? [] : unusedFlags(call.flags, status);
      if (unused.length > 0) call.out.note(`poly: ${notUsed(unused, status)} ${restartWith(unused)}`);
      if (call.json) return call.out.json({ started, ...status });
      warnOf(call, status);
      (await import('../say-hello.ts')).sayHello(call, status, started);
    },
  }),
  command({
    name: 'open',
    summary: 'Opens the page of the hub in a browser, and prints its address: good once, for 30 seconds.',
    flags: { print: toggle('Only print the address.') },
    examples: ['poly open', 'poly open --print'],
    run: async (call) => (await import('../open-page.ts')).openPage(call),
  }),
  command({
    name: 'server start',
    summary: 'Starts the hub.',
    flags: startFlags,
    examples: ['poly server start', 'poly server start --port 0', 'poly server start --foreground'],
    async run(call) {
      const { startHub, unusedFlags } = await import('../start-hub.ts');
      const { status, started } = await startHub(call);
      if (!status) return;
      const unused = started ? [] : unusedFlags(call.flags, status);
      if (unused.length > 0)
        throw new PolyError('conflict', notUsed(unused, status), { hint: restartWith(unused) });
      if (call.json) return call.out.json({ started, ...status });
      warnOf(call, status);
      call.out.line(
        `The hub ${started ? 'is up' : 'was up already'}: ${placeOf(status)} (pid ${status.pid})`,
      );
    },
  }),
  command({
    name: 'server stop',
    summary: 'Stops the hub; panes live on, unless all is to end.',
    startsHub: false,
    flags: { all: toggle('Ends every pane and forgets it; the tmux session and the host end too.') },
    examples: ['poly server stop', 'poly server stop --all'],
    async run(call) {
      const { hub, env, out, json } = call;
      const { all = false } = call.flags;
      let pid = readDiscovery(env)?.pid;
      try {
        await hub.call('server:stop', { all });
      } catch (error) {
        if (!isNoHub(error)) throw error;
        const { database, home } = placesOf(env);
        const left = existsSync(database);
        if (!all || !left)
          throw new PolyError('unreachable', 'no hub is running: there is none to stop.', {
            hint: left
              ? 'Panes may live on without it. To end them: poly server stop --all'
              : `None has ever run in ${home}, so that nothing of it is left either. poly up starts one.`,
          });
        // Who knows what is left of the last one is the next.
        const { inPlaceOfLast, startHub } = await import('../start-hub.ts');
        await startHub({ ...call, flags: inPlaceOfLast(env) });
        pid = readDiscovery(env)?.pid;
        await hub.call('server:stop', { all });
      }
      const { hubEnded } = await import('../start-hub.ts');
      await out.progress('waiting for the hub to end', hubEnded(pid));
      if (json) out.json({ stopped: true, all });
      else out.line(all ? 'The hub and every pane have ended.' : 'The hub has stopped. Panes live on.');
    },
  }),
  command({
    name: 'server restart',
    summary: 'Stops the hub, if it runs, and starts it again; panes live on.',
    startsHub: false,
    flags: startFlags,
    examples: ['poly server restart'],
    async run(call) {
      const { checkSettings, hubEnded, inPlaceOfLast, startHub } = await import('../start-hub.ts');
      checkSettings(call);
      const flags = inPlaceOfLast(call.env, call.flags);
      const pid = readDiscovery(call.env)?.pid;
      try {
        await call.hub.call('server:stop', {});
        await call.out.progress('waiting for the hub to end', hubEnded(pid));
      } catch (error) {
        if (!(error instanceof PolyError) || error.code !== 'unreachable') throw error;
      }
      const { status } = await startHub({ ...call, flags });
      if (!status) return;
      if (call.json) return call.out.json({ started: true, ...status });
      warnOf(call, status);
      call.out.line(`The hub is up again: ${placeOf(status)} (pid ${status.pid})`);
    },
  }),
  command({
    name: 'server status',
    summary: 'Says how the hub is.',
    startsHub: false,
    examples: ['poly server status', 'poly server status --json'],
    async run({ hub, out, json }) {
      const status = await hub.call('server:status', {});
      if (json) return out.json(status);
      const { version, pid, startedAt, socket, url, panes, session, sessionTrouble, approvals, problems } =
        status;
      out.table([
        ['version', version],
        ['pid', `${pid}, up for ${age(Date.parse(startedAt))}`],
        ['socket', socket],
        ['address', url ?? 'none: it listens on the socket only'],
        ['panes', String(panes)],
        ['tmux session', sessionTrouble ?? (session ? 'up' : 'not up')],
        ...(approvals > 0 ? [['approvals', waitingNote(approvals)]] : []),
        ...problems.map((problem) => ['problem', problem]),
      ]);
    },
  }),
  command({
    name: 'server logs',
    summary: 'Prints the log of the hub, also when it does not run.',
    flags: {
      tail: wholeNumber('The last lines; 50 when left out.', { short: 'n' }),
      follow: toggle('Go on as lines are added.', { short: 'f' }),
      audit: toggle('Who was let in and what was started, instead.'),
    },
    examples: ['poly server logs', 'poly server logs --tail 200 --json', 'poly server logs -f'],
    run: async (call) => (await import('../logs.ts')).showLogs(call),
  }),
];

/** What is wrong with the configuration denies things, so that whoever starts the hub should know. */
function warnOf({ out }: Call, { problems }: ServerStatus): void {
  for (const problem of problems) out.note(`poly: ${problem}`);
}

function placeOf({ url, socket }: ServerStatus): string {
  return url ?? socket;
}

function notUsed(flags: readonly string[], status: ServerStatus): string {
  return `a hub runs already (${placeOf(status)}): ${flags.join(' and ')} ${flags.length > 1 ? 'were' : 'was'} not used.`;
}

function restartWith(flags: readonly string[]): string {
  return `To use ${flags.length > 1 ? 'them' : 'it'}: poly server restart ${flags.join(' ')} (panes live on)`;
}
