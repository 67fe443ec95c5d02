import type { FloorLink } from '@polyphony/protocol';
import type { Heard } from './story.ts';

type Seen = Pick<FloorLink, 'kind' | 'value'>;

const aboutCode = /\b(?:git|gh|glab|hub|jj|tea)\b/;
const aboutRequests = /\b(?:gh|glab|tea)\s+(?:pr|mr|pulls?)\b|\bgit\s+push\b|pull_?request|merge_?request/i;

/** What git and those who keep repositories say of branches, commits and pull requests. */
const committed = /^\[(?:(?<branch>[^\s\]]+)(?: \([^)\n]*\))?|detached HEAD) (?<commit>[0-9a-f]{7,40})\] /gm;
const onBranch = /^(?:Switched to (?:a new )?branch '([^'\n]+)'|On branch (\S+))$/gm;
const request = /https?:\/\/[^\s"'<>]+\/(?:pull|pulls|pull-requests|merge_requests)\/\d+/g;

/** Branches, commits and pull requests in what a tool has answered; only of tools that are about them. */
export function linksIn({ kind, tool = '', input = '' }: Heard, result: string): readonly Seen[] {
  if (kind !== 'tool_ended') return [];
  const asked = `${tool} ${input}`;
  const found: Seen[] = [];
  // Of a tool that does not repeat what it was asked, what it says must do.
  if (input === '' || aboutCode.test(asked)) {
    for (const { groups } of result.matchAll(committed)) {
      if (groups?.branch) found.push({ kind: 'branch', value: groups.branch });
      if (groups?.commit) found.push({ kind: 'commit', value: groups.commit });
    }
    for (const [, switched, on] of result.matchAll(onBranch))
      found.push({ kind: 'branch', value: switched ?? on ?? '' });
  }
  if (aboutRequests.test(asked))
    for (const [value] of result.matchAll(request)) found.push({ kind: 'pull_request', value });
  return found.filter(({ value }) => value.length <= 500);
}
