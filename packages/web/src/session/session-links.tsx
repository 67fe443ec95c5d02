import type { FloorLink } from '@polyphony/protocol';
import type { JSX } from 'react';
import { harmless } from '../page/harmless.ts';

interface SessionLinksProps {
  readonly links: readonly FloorLink[];
  readonly onEntry: (entry: string) => void;
  readonly onLink: (address: string) => void;
}

const words: Readonly<Record<FloorLink['kind'], string>> = {
  branch: 'branch',
  commit: 'commit',
  pull_request: 'pull request',
};

/** Branches, commits and pull requests that were seen in a session, each with where. */
export function SessionLinks({ links, onEntry, onLink }: SessionLinksProps): JSX.Element | null {
  if (links.length === 0) return null;
  return (
    <section aria-label="Links">
      <h3>Branches, commits, pull requests</h3>
      <ul className="links">
        {links.map(({ kind, value, entry_id }) => (
          <li key={`${kind} ${value}`}>
            <span className="dim">{words[kind]}</span>{' '}
            {/^https?:/.test(value) ? (
              <button type="button" className="mono" onClick={() => onLink(value)}>
                <bdi>{harmless(value)}</bdi>
              </button>
            ) : (
              <bdi className="mono">{harmless(value)}</bdi>
            )}{' '}
            <button type="button" className="dim" onClick={() => onEntry(entry_id)}>
              where
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
