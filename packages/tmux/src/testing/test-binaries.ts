/**
 * The tmux programs to test with: the one on PATH, and those named in POLY_TEST_TMUX (paths with ":" between).
 *
 * @example testBinaries({ POLY_TEST_TMUX: '/opt/tmux/bin/tmux' }) // ['tmux', '/opt/tmux/bin/tmux']
 */
export function testBinaries(env: NodeJS.ProcessEnv = process.env): readonly string[] {
  return ['tmux', ...(env.POLY_TEST_TMUX ?? '').split(':').filter(Boolean)];
}
