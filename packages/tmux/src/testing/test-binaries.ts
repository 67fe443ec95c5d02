/** The tmux programs to test with: the one on PATH, and those named in POLY_TEST_TMUX (paths with ":" between). */
export function testBinaries(env: NodeJS.ProcessEnv = process.env): readonly string[] {
  return ['tmux', ...(env.POLY_TEST_TMUX ?? '').split(':').filter(Boolean)];
}
