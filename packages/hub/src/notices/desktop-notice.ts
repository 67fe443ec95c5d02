import { spawn } from 'node:child_process';
import type { Notice } from './notice.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** How a desktop is told, and where there is one. */
const desktops: readonly {
  readonly here: (env: Env) => boolean;
  readonly argv: (notice: Notice) => readonly [program: string, ...args: string[]];
}[] = [
  {
    here: () => process.platform === 'darwin',
    argv: ({ title, body }) => [
      'osascript',
      ...['-e', 'on run {title, body}', '-e', 'display notification body with title title', '-e', 'end run'],
      ...[title, body],
    ],
  },
  {
    here: (env) => Boolean(env.WAYLAND_DISPLAY || env.DISPLAY || env.DBUS_SESSION_BUS_ADDRESS),
    // What stands for a desktop may read markup in the body.
    argv: ({ title, body }) => ['notify-send', '--app-name=poly', '--', title, escaped(body)],
  },
];

const escaped = (text: string): string =>
  text.replace(/[&<>]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign] ?? '');

/** Shows it on the desktop, if there is one; whether that worked is nobody's business. */
export function tellDesktop(notice: Notice, env: Env): void {
  const desktop = desktops.find(({ here }) => here(env));
  if (!desktop) return;
  const [program, ...args] = desktop.argv(notice);
  const child = spawn(program, args, { env: { ...env }, stdio: 'ignore', detached: true });
  child.on('error', () => undefined); // There is no such program: then there are no such notices.
  child.unref();
}
