import type { JSX } from 'react';
import { harmless } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { useLive } from '../page/use-live.ts';

interface SessionDigestProps {
  readonly hub: HubState;
  readonly session: string;
}

/** What somebody should know who drives a session from now on, as `poly claim` tells it; there for as long as they drive. */
export function SessionDigest({ hub, session }: SessionDigestProps): JSX.Element {
  const told = useLive(hub, ['floor', 'mail'], session, () => hub.client.call('floor:digest', { session }));
  const [about = '', ...lines] = told?.digest.split('\n') ?? [];
  return (
    <div className="panel digest">
      <p className="dim">
        <bdi>{harmless(about)}</bdi>
      </p>
      {sectionsOf(lines).map(({ title, items }) => (
        <section key={title} aria-label={title}>
          <h3>{title}</h3>
          <ul>
            {items.map((item, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the same may have been said twice.
              <li key={index}>
                <bdi>{harmless(item)}</bdi>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

interface Section {
  readonly title: string;
  readonly items: string[];
}

/** Titles end with a colon; all that anybody said stands behind a dash. */
function sectionsOf(lines: readonly string[]): readonly Section[] {
  const sections: Section[] = [];
  for (const line of lines) {
    const item = line.startsWith('- ') ? line.slice(2) : undefined;
    if (item === undefined) sections.push({ title: line.replace(/:$/, ''), items: [] });
    else sections.at(-1)?.items.push(item);
  }
  return sections;
}
