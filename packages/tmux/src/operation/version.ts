/** A tmux release, as `tmux -V` or `#{version}` names it. */
export interface TmuxVersion {
  readonly text: string;
  readonly major: number;
  readonly minor: number;
  /** The letter of a patch release: 'a' in 3.3a, empty in 3.4. */
  readonly patch: string;
}

/**
 * Reads 'tmux 3.3a', '3.7c' or 'next-3.8'; a build without a number ('master') counts as newer than all.
 *
 * @example parseVersion('tmux 3.3a').minor // 3
 */
export function parseVersion(text: string): TmuxVersion {
  const match = /(\d+)\.(\d+)([a-z]?)/.exec(text);
  if (!match) return { text: text.trim(), major: Number.MAX_SAFE_INTEGER, minor: 0, patch: '' };
  return { text: match[0], major: Number(match[1]), minor: Number(match[2]), patch: match[3] ?? '' };
}

/**
 * Negative when a is older than b, positive when newer, 0 when equal.
 *
 * @example compareVersions(parseVersion('3.3a'), parseVersion('3.4')) < 0 // true
 */
export function compareVersions(a: TmuxVersion, b: TmuxVersion): number {
  return a.major - b.major || a.minor - b.minor || a.patch.localeCompare(b.patch);
}

/**
 * Whether `version` is `wanted` ('3.4') or newer.
 *
 * @example atLeast(await engine.version(), '3.7') // floating panes
 */
export function atLeast(version: TmuxVersion, wanted: string): boolean {
  return compareVersions(version, parseVersion(wanted)) >= 0;
}

/** The oldest tmux this library speaks to. */
export const oldestTmux = '3.2';
