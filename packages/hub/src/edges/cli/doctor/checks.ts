import { execFile } from 'node:child_process';
import { lstatSync, readdirSync, statfsSync } from 'node:fs';
import { connect } from 'node:net';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { PolyError, type ServerStatus } from '@polyphony/protocol';
import { installTmux } from '../../../platform/missing-tmux.ts';
import type { Places } from '../../../platform/places.ts';
import { readSettings } from '../../../platform/settings.ts';
import { screensFolder, version } from '../build.ts';
import type { Offline } from '../command.ts';
import type { Env } from '../env.ts';
import { failedStart } from '../logs.ts';

export interface Finding {
  readonly state: 'ok' | 'warn' | 'bad';
  readonly says: string;
  /** What to do about it. */
  readonly fix?: string;
}

interface Patient {
  readonly env: Env;
  readonly places: Places;
  /** What the hub says of itself; undefined when none runs, an error when it refuses to say. */
  readonly hub: ServerStatus | Error | undefined;
  readonly offline: Offline;
}

interface Check {
  readonly name: string;
  /** Whether it is about who could get in. */
  readonly security?: boolean;
  /** Whether only programs want to know. */
  readonly numbers?: boolean;
  look(patient: Patient): Finding | Promise<Finding>;
}

const ok = (says: string): Finding => ({ state: 'ok', says });
const warn = (says: string, fix: string): Finding => ({ state: 'warn', says, fix });
const bad = (says: string, fix: string): Finding => ({ state: 'bad', says, fix });

const megabyte = 1024 * 1024;

/** Everything that is looked at, in the order it is shown. */
export const checks: readonly Check[] = [
  { name: 'node', look: () => ok(`${process.versions.node} (${process.execPath})`) },
  { name: 'tmux', look: ({ env, hub }) => lookAtTmux(env, hub) },
  { name: 'hub', look: ({ hub, places }) => lookAtHub(hub, places) },
  { name: 'host', look: ({ places, hub }) => lookAtHost(places, hub) },
  { name: 'load', look: ({ hub }) => lookAtLoad(hub) },
  { name: 'disk', look: ({ places }) => lookAtDisk(places) },
  { name: 'record', look: ({ places, hub }) => lookAtRecord(places, hub) },
  { name: 'config', look: ({ places }) => lookAtConfig(places) },
  { name: 'screens', look: lookAtScreens },
  { name: 'extensions', look: ({ hub }) => lookAtExtensions(hub) },
  { name: 'capture', look: ({ places, hub }) => lookAtCapture(places, hub) },
  { name: 'mail', look: ({ hub }) => lookAtMail(hub) },
  { name: 'home', security: true, look: ({ places }) => lookAtFolder(places.home) },
  { name: 'files', security: true, look: ({ places }) => lookAtFiles(places) },
  { name: 'socket', security: true, look: ({ places }) => lookAtSocket(places) },
  { name: 'listens', security: true, look: ({ hub }) => lookAtListeners(hub) },
  { name: 'gauges', numbers: true, look: ({ hub }) => lookAtGauges(hub) },
];

async function lookAtTmux(env: Env, hub: Patient['hub']): Promise<Finding> {
  const here = await tmuxOn(env);
  if (here === undefined)
    return warn('not found', `${installTmux} Everything but tmux panes works without it.`);
  const [, major = 0, minor = 0] = /(\d+)\.(\d+)/.exec(here) ?? [];
  if (Number(major) * 100 + Number(minor) < 302)
    return warn(`${here} is too old`, `${installTmux} Until then use pty panes.`);
  const status = hub instanceof Error ? undefined : hub;
  if (status?.sessionTrouble !== undefined)
    return bad(`${here}; ${status.sessionTrouble}`, await howTmuxGoesOn(env));
  const path = status === undefined ? env.PATH : status.path;
  if ((await tmuxOn({ ...env, PATH: path })) !== undefined) return ok(here);
  return warn(
    `${here}, but not on the PATH of the hub (${path})`,
    'Start the hub from here, where it is found: poly server restart (panes live on)',
  );
}

async function howTmuxGoesOn(env: Env): Promise<string> {
  const { tmuxSocket } = readSettings(env);
  const stopped = await processWhose(
    ({ isStopped, args }) =>
      isStopped && ['-L', '-S'].some((flag) => args.includes(` ${flag} ${tmuxSocket} `)),
  );
  if (stopped) return `Let it go on: kill -CONT ${stopped.pid}`;
  return 'poly session start says what helps; until then use pty panes: --backend pty.';
}

/** The version of tmux that is found with an environment. */
async function tmuxOn(env: Env): Promise<string | undefined> {
  // None is found there, which is what was asked.
  const asked = await promisify(execFile)('tmux', ['-V'], { env }).catch(() => undefined);
  return asked?.stdout.trim();
}

function lookAtHub(hub: Patient['hub'], { logs }: Places): Finding {
  const failed = hub === undefined ? failedStart(logs) : undefined;
  if (failed)
    return bad(`no hub is running; the last could not start: ${failed.message}`, failed.hint ?? 'poly up');
  if (hub === undefined) return warn('no hub is running', 'Start it with: poly up');
  if (hub instanceof Error) {
    const hint = hub instanceof PolyError ? hub.hint : undefined;
    return bad(hub.message, hint ?? 'See poly server logs, then: poly server restart');
  }
  const { pid, panes, version: running } = hub;
  const says = `${running}, pid ${pid}, ${panes} ${panes === 1 ? 'pane' : 'panes'}`;
  if (running === version) return ok(says);
  return warn(
    `${says}; this command is ${version}`,
    'Bring them together: poly server restart (panes live on)',
  );
}

async function lookAtHost({ host }: Places, hub: Patient['hub']): Promise<Finding> {
  const sockets = readdirIfThere(host).filter((name) => name.endsWith('.sock'));
  const answers = (await Promise.all(sockets.map((name) => listens(join(host, name))))).includes(true);
  const found = answers ? await processWhose(({ args }) => args.includes(` --dir ${host} `)) : undefined;
  // The kernel takes calls for one that is stopped.
  if (found?.isStopped) return bad(`is stopped (pid ${found.pid})`, `Let it go on: kill -CONT ${found.pid}`);
  if (answers) return ok(found ? `answers, pid ${found.pid}` : 'answers');
  const missed = hub !== undefined && !(hub instanceof Error) && hub.panes > 0;
  if (missed) return bad('does not answer, and there are panes', 'poly server restart starts it again.');
  return ok('not running; it starts when it is needed');
}

interface Process {
  readonly pid: number;
  readonly isStopped: boolean;
  /** With a space at its end, as behind every word of it. */
  readonly args: string;
}

/** The first process that is meant; nothing where there is no ps to ask. */
async function processWhose(isMeant: (process: Process) => boolean): Promise<Process | undefined> {
  const listing = promisify(execFile)('ps', ['-A', '-ww', '-o', 'pid=,stat=,args='], {
    maxBuffer: 64 * megabyte,
  });
  const { stdout } = await listing.catch(() => ({ stdout: '' }));
  return stdout
    .split('\n')
    .map((line) => {
      const [, pid, state, args] = /^\s*(\d+)\s+(\S)\S*\s+(.*)$/.exec(line) ?? [];
      return { pid: Number(pid), isStopped: state === 'T', args: `${args} ` };
    })
    .find(isMeant);
}

function readdirIfThere(folder: string): readonly string[] {
  return lstatSync(folder, { throwIfNoEntry: false }) ? readdirSync(folder) : [];
}

function listens(path: string): Promise<boolean> {
  const socket = connect(path);
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.setTimeout(2000, () => resolve(false));
  }).then((answer) => {
    socket.destroy();
    return answer as boolean;
  });
}

function lookAtDisk({ home }: Places): Finding {
  if (!lstatSync(home, { throwIfNoEntry: false })) return ok('nothing is kept yet');
  const { bavail, bsize } = statfsSync(home);
  const free = Math.floor((bavail * bsize) / megabyte);
  const says = `${free} MB free at ${home}`;
  if (free < 100) return bad(says, 'Free some space: without it nothing can be recorded.');
  return free < 1024 ? warn(says, 'Free some space before it runs out.') : ok(says);
}

/** What is kept of it, and whether it was ever found damaged: what was put aside then says so until it is removed. */
function lookAtRecord({ home, database }: Places, hub: Patient['hub']): Finding {
  const lost = problemsOf(hub).find((problem) => problem.startsWith('the record was restored'));
  const beside = readdirIfThere(home).filter((name) => name.startsWith(`${basename(database)}.`));
  const damaged = beside.filter((name) => /\.corrupt-[^.]+Z$/.test(name));
  const look = `Look what you miss, then remove ${damaged.map((name) => `${join(home, name)}*`).join(' ')}`;
  if (lost) return bad(lost, damaged.length > 0 ? look : 'Look what you miss.');
  if (damaged.length > 0)
    return warn(`it was damaged and restored before: ${damaged.join(', ')} is what was there`, look);
  const backups = beside.filter((name) => /\.backup-[^.]+$/.test(name)).length;
  return ok(`${backups} ${backups === 1 ? 'backup' : 'backups'} beside it`);
}

function lookAtExtensions(hub: Patient['hub']): Finding {
  const broken = problemsOf(hub).filter((problem) => problem.startsWith('the extension '));
  if (hub === undefined || hub instanceof Error) return ok('only a hub that runs knows');
  if (broken.length === 0) return ok('none is broken');
  return warn(broken.join(' '), 'poly ext list tells all of it; mend it, or poly ext remove <name>');
}

const problemsOf = (hub: Patient['hub']): readonly string[] =>
  hub === undefined || hub instanceof Error ? [] : hub.problems;

async function lookAtConfig({ config }: Places): Promise<Finding> {
  const { readConfig } = await import('../../../platform/config.ts');
  const { problems } = readConfig(config);
  if (problems.length === 0)
    return ok(lstatSync(config, { throwIfNoEntry: false }) ? 'in order' : 'none, defaults hold');
  return warn(problems.join('; '), `Mend it in ${config}`);
}

/** What a running hub found out while it read screens, it alone can tell. */
async function lookAtScreens({ places: { screens }, hub, offline }: Patient): Promise<Finding> {
  const problems =
    hub === undefined || hub instanceof Error
      ? await offline.ruleProblems({ shipped: screensFolder, own: screens })
      : problemsOf(hub).filter((problem) => problem.includes(screens) || problem.includes(screensFolder));
  if (problems.length > 0) return warn(problems.join(' '), `Mend it in ${screens}`);
  return ok(
    lstatSync(screens, { throwIfNoEntry: false })
      ? 'your rules are in order'
      : 'read by the rules that came with poly',
  );
}

/** What agents did: what could not be taken in lies in a folder; what found no room on the disk the hub has counted. */
function lookAtCapture({ journal }: Places, hub: Patient['hub']): Finding {
  const status = hub instanceof Error ? undefined : hub;
  const dead = readdirIfThere(join(journal, 'dead')).length;
  const waiting = readdirIfThere(join(journal, 'new')).length;
  const { captured = 0, captureGaps: gaps = 0 } = status?.gauges ?? {};
  const problem = status?.problems.find((one) => one.startsWith('what agents did'));
  if (problem) return bad(problem, `Mend it in ${journal}: until then what agents do waits there.`);
  const counted = status
    ? `${captured} events taken in since the hub was started`
    : `${waiting} events wait for a hub`;
  if (dead > 0)
    return warn(
      `${counted}, and ${dead} that could not be`,
      `poly recover tries them again; look at the rest in ${join(journal, 'dead')}, and remove what is of no use.`,
    );
  if (gaps > 0)
    return warn(
      `${counted}, ${gaps} of which found no room on the disk`,
      'Free some space, see disk; then poly recover fills in what the agents have kept.',
    );
  return ok(counted);
}

/** What retention could not do, as the hub tells it. */
function lookAtMail(hub: Patient['hub']): Finding {
  const problem = problemsOf(hub).find((one) => one.startsWith('old mail'));
  return problem
    ? warn(problem, 'poly mail status says when; the hub tries again every hour.')
    : ok('old mail is forgotten in time');
}

function lookAtFolder(path: string): Finding {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return ok(`${path} is not there yet`);
  if (!stat.isDirectory()) return bad(`${path} is no folder`, `Move it away: mv ${path} ${path}.old`);
  if (process.getuid && stat.uid !== process.getuid())
    return bad(
      `${path} belongs to somebody else (uid ${stat.uid})`,
      `Make it yours: sudo chown -R $(id -u) ${path}`,
    );
  const mode = (stat.mode & 0o777).toString(8);
  return stat.mode & 0o077
    ? bad(`${path} is open to others (mode ${mode})`, `chmod 700 ${path}`)
    : ok(`${path} is yours alone`);
}

/** What the user puts there, with whatever mode; a home that is theirs alone keeps others from it. */
const usersOwn: ReadonlySet<string> = new Set(['config.toml', 'screens', 'extensions']);
const mostNamed = 5;

function lookAtFiles({ home }: Places): Finding {
  const own = readdirIfThere(home).filter((name) => !usersOwn.has(name));
  const open = own.flatMap((name) => [...openToOthers(join(home, name))]);
  if (open.length === 0) return ok('nobody else can read them');
  const more = open.length > mostNamed ? ` and ${open.length - mostNamed} more` : '';
  return bad(
    `others can read ${open.slice(0, mostNamed).join(', ')}${more}`,
    `chmod -R go-rwx ${open.slice(0, mostNamed).join(' ')}`,
  );
}

function* openToOthers(path: string): Generator<string> {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  // What has just gone harms nobody, and a link has no mode of its own.
  if (!stat || stat.isSymbolicLink()) return;
  if (stat.mode & 0o077) yield path;
  if (stat.isDirectory()) for (const name of readdirIfThere(path)) yield* openToOthers(join(path, name));
}

function lookAtSocket({ runtime, socket }: Places): Finding {
  const folder = lookAtFolder(runtime);
  if (folder.state !== 'ok') return folder;
  return ok(lstatSync(socket, { throwIfNoEntry: false }) ? socket : 'not there: no hub has made it');
}

async function lookAtListeners(hub: Patient['hub']): Promise<Finding> {
  if (hub === undefined) return ok('nobody');
  if (hub instanceof Error)
    return warn('only the hub knows, and it does not say', 'See what is wrong with the hub.');
  const { url } = hub;
  if (url === undefined) return ok('the socket only');
  const { hostname } = new URL(url);
  if (!['127.0.0.1', 'localhost', '[::1]'].includes(hostname))
    return bad(
      `${url} can be reached by others`,
      'Restart it on this machine only: poly server restart --hostname 127.0.0.1',
    );
  const told = await bareHealth(url);
  if (told === '{"status":"ok"}') return ok(`the socket and ${url}, which tells strangers nothing`);
  return bad(
    `${url} answers strangers with ${told.slice(0, 80)}`,
    'Somebody else may listen there: poly server restart --port 0',
  );
}

/** What somebody without a credential gets to hear. */
async function bareHealth(url: string): Promise<string> {
  const { get } = await import('node:http');
  return new Promise((resolve, reject) => {
    const request = get(`${url}/health`, { timeout: 2000 }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (body += chunk));
      response.on('end', () => resolve(body));
    });
    request.once('timeout', () => request.destroy(new Error(`${url} does not answer`)));
    request.once('error', reject);
  });
}

/** Beyond this part of its files a process starts no more panes. */
const fullAt = 0.8;

function lookAtLoad(hub: Patient['hub']): Finding {
  if (hub === undefined || hub instanceof Error) return ok('none: no hub tells it');
  const { rss = 0, loopBusyPercent = 0, openFiles, openFilesLimit = 0, ptys, zombies } = hub.gauges;
  const { hostOpenFiles, hostOpenFilesLimit = 0 } = hub.gauges;
  const says = [
    `${Math.round(rss / megabyte)} MB`,
    `${loopBusyPercent} % busy`,
    openFiles !== undefined && `${openFiles} of ${openFilesLimit} files open`,
    hostOpenFiles !== undefined && `${hostOpenFiles} of ${hostOpenFilesLimit} by the host`,
    ptys !== undefined && `${ptys} pseudo-terminals`,
    zombies !== undefined && `${zombies} zombies`,
  ]
    .filter((part) => part !== false)
    .join(', ');
  const isFull = (open: number | undefined, limit: number): boolean =>
    open !== undefined && open >= limit * fullAt;
  return isFull(openFiles, openFilesLimit) || isFull(hostOpenFiles, hostOpenFilesLimit)
    ? warn(
        says,
        'End panes that are no longer needed, or raise the limit (ulimit -n) and start everything anew: no more panes are started.',
      )
    : ok(says);
}

function lookAtGauges(hub: Patient['hub']): Finding {
  if (hub === undefined || hub instanceof Error) return ok('none: no hub tells them');
  const shown = Object.entries(hub.gauges).map(([name, value]) =>
    /rss|heap|bytes/i.test(name) ? `${name} ${Math.round(value / megabyte)} MB` : `${name} ${value}`,
  );
  return ok(shown.join(', '));
}
