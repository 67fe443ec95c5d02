import {
  errorKinds,
  type PaneLine,
  type PaneReadResult,
  type PaneSearchResult,
  PolyError,
} from '@polyphony/protocol';
import type { Call } from './command.ts';
import { callOnPane } from './panes.ts';

interface Grep {
  readonly paneId: string;
  readonly grep: string;
  readonly tail?: number;
  readonly since?: number;
  readonly 'ignore-case'?: boolean;
}

const pageSize = 1_000;

/** Prints the lines of a pane that match, in their order, and answers the exit code: 1 when there is none, as grep does. */
export async function grepPane({ hub, out, json }: Call, asked: Grep): Promise<number> {
  const {
    paneId,
    grep: pattern,
    tail = Number.POSITIVE_INFINITY,
    since,
    'ignore-case': ignoreCase = false,
  } = asked;
  lineMatcher(pattern, ignoreCase);
  const firstLine = since === undefined ? 1 : await lineAt(since);
  const found: PaneLine[] = [];
  let page: PaneSearchResult = { matches: [], more: tail > 0, complete: true };
  while (page.more && page.complete && found.length < tail) {
    const limit = Math.min(pageSize, tail - found.length);
    const before = found.at(-1)?.n;
    const query = { paneId, pattern, ignoreCase, limit, ...(before !== undefined && { before }) };
    page = await callOnPane(hub, 'pane:search', query);
    const wanted = page.matches.filter(({ n }) => n >= firstLine);
    found.push(...wanted);
    if (wanted.length < page.matches.length) break;
  }
  found.reverse();
  if (json) out.json({ matches: found, complete: page.complete });
  else for (const { text } of found) out.line(text);
  if (!page.complete) {
    out.note('poly: the search took too long and was given up; older lines may match too.');
    return errorKinds.timed_out.exit;
  }
  return found.length > 0 ? 0 : 1;

  async function lineAt(offset: number): Promise<number> {
    const query = { paneId, since: offset, limit: 1 };
    const { lines = [] } = await callOnPane<PaneReadResult>(hub, 'pane:read', query);
    return lines[0]?.n ?? Number.POSITIVE_INFINITY;
  }
}

/** What `--grep` holds against each line, as the hub does; one that is none is refused before anybody is asked. */
export function lineMatcher(pattern: string, ignoreCase: boolean): RegExp {
  try {
    return new RegExp(pattern, ignoreCase ? 'iu' : 'u');
  } catch (cause) {
    const why = (cause as Error).message.split(': ').at(-1)?.toLowerCase();
    throw new PolyError('invalid_arguments', `--grep "${pattern}" is no regular expression: ${why}.`, {
      cause,
    });
  }
}
