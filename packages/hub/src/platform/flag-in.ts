/** What stands behind a flag, or behind it and `=`. */
export function flagIn(argv: readonly string[], flag: string): string | undefined {
  const at = argv.indexOf(flag);
  if (at >= 0) return argv[at + 1];
  return argv.find((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1);
}
