import { PolyError } from '@polyphony/protocol';

/** How to come by a tmux. */
export const installTmux =
  'Install tmux 3.2 or newer: apt install tmux, dnf install tmux or brew install tmux.';

interface Where {
  /** Whose PATH it is not on. */
  readonly whose?: string;
  /** What works without it. */
  readonly instead?: string;
}

/** What is said wherever the tmux program cannot be started, instead of what the system calls it. */
export function missingTmux(error: Error, { whose = '', instead }: Where = {}): PolyError {
  const message = isAbsent(error)
    ? `there is no program "tmux" on the PATH${whose}.`
    : `tmux cannot be started: ${error.message}`;
  return new PolyError('unavailable', message, {
    hint: [installTmux, instead].filter(Boolean).join(' '),
    cause: error,
  });
}

export function isAbsent(error: unknown): boolean {
  const { code, cause } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || (cause !== undefined && isAbsent(cause));
}
