/** What is to be done stands behind a full stop, whoever wrote what happened. */
export function withFullStop(message: string): string {
  return /[.!?…\n]$/.test(message) ? message : `${message}.`;
}
