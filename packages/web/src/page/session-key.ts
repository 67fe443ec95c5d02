import { type ErrorInfo, PolyError } from '@polyphony/protocol';

const place = 'poly-key';

/** The page's key: of the ticket it was opened with, or the one this tab had before; undefined when there is neither. */
export async function findKey(): Promise<string | undefined> {
  const ticket = new URLSearchParams(location.hash.slice(1)).get('ticket');
  if (ticket === null) return sessionStorage.getItem(place) ?? undefined;
  // Before anything else: neither the history nor a screenshot should hold it.
  history.replaceState(null, '', location.pathname);
  const response = await fetch('/tickets/exchange', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ticket }),
  });
  const answer = (await response.json()) as { token?: string; error?: ErrorInfo };
  if (answer.token === undefined) {
    const before = sessionStorage.getItem(place);
    if (before !== null) return before; // A used ticket, in a tab that has its key.
    throw PolyError.from(answer.error ?? { code: 'internal', message: 'the hub did not say why.' });
  }
  sessionStorage.setItem(place, answer.token);
  return answer.token;
}

export function forgetKey(): void {
  sessionStorage.removeItem(place);
}
