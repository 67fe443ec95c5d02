/** Whether an address leads to this machine. */
export function isLocal(url: string): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname : '';
  return ['127.0.0.1', 'localhost', '[::1]'].includes(host);
}
