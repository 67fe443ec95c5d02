import type { JSX } from 'react';
import { harmless } from './harmless.ts';

/** Who wrote or gets something: the user, the hub, or an agent by its name. */
export function Who({ id }: { readonly id: string }): JSX.Element {
  if (id.startsWith('user:')) return <span className="who you">You</span>;
  return <bdi className="who">{harmless(id.replace(/^agent:/, ''))}</bdi>;
}
