import type { JSX } from 'react';
import { harmless } from './harmless.ts';

interface WhoProps {
  readonly id: string;
  /** Who looks on; without it every person is taken for that one. */
  readonly you?: string | undefined;
}

/** Who wrote or gets something: the user, another person, the hub, or an agent by its name. */
export function Who({ id, you }: WhoProps): JSX.Element {
  if (you === undefined ? id.startsWith('user:') : id === you) return <span className="who you">You</span>;
  return <bdi className="who">{harmless(id.replace(/^(agent|user|slack):/, ''))}</bdi>;
}
