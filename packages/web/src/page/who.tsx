import type { JSX } from 'react';
import { harmless } from './harmless.ts';
import { Icon, usePersona } from './personas.tsx';

interface WhoProps {
  readonly id: string;
  /** Who looks on; without it every person is taken for that one. */
  readonly you?: string | undefined;
}

/** Who wrote or gets something: the user, another person, the hub, or an agent by its name, as people know it. */
export function Who({ id, you }: WhoProps): JSX.Element {
  const persona = usePersona(id);
  if (you === undefined ? id.startsWith('user:') : id === you) return <span className="who you">You</span>;
  if (persona)
    return (
      <bdi className="who" title={harmless(id)}>
        <Icon icon={persona.icon} /> {harmless(persona.shown_as)}
      </bdi>
    );
  return <bdi className="who">{harmless(id.replace(/^(agent|user|slack):/, ''))}</bdi>;
}
