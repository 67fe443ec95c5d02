import { isIcon, type NamedAgent } from '@polyphony/protocol';
import { createContext, type JSX, type ReactNode, useContext, useEffect, useState } from 'react';
import { harmless } from './harmless.ts';
import type { HubState } from './hub-state.ts';

/** As people see a named agent. */
type Persona = Pick<NamedAgent, 'shown_as' | 'icon'>;

const Personas = createContext<ReadonlyMap<string, Persona>>(new Map());

/** Lets everything below show named agents as people know them. */
export function WithPersonas({
  hub,
  children,
}: {
  readonly hub: HubState;
  readonly children: ReactNode;
}): JSX.Element {
  const [personas, setPersonas] = useState<ReadonlyMap<string, Persona>>(new Map());
  useEffect(() => {
    let closed = false;
    const look = async (): Promise<void> => {
      const { agents } = await hub.client.call('floor:agents', {});
      if (!closed)
        setPersonas(
          new Map(agents.map(({ participant, shown_as, icon }) => [participant, { shown_as, icon }])),
        );
    };
    // Without an answer everybody is shown by the name they have.
    const start = (): void => void look().catch(() => undefined);
    start();
    const stop = hub.onNews(['floor'], (event) => {
      if (!event || /^floor:agent-(added|changed|removed)$/.test(event.event)) start();
    });
    return () => {
      closed = true;
      stop();
    };
  }, [hub]);
  return <Personas value={personas}>{children}</Personas>;
}

/** As people see somebody; a sub-agent that nobody has named, like `agent:dean.sql`, as the agent above it. */
export function usePersona(participant: string): Persona | undefined {
  const personas = useContext(Personas);
  for (let id = participant; id !== ''; id = id.slice(0, Math.max(0, id.lastIndexOf('.')))) {
    const persona = personas.get(id);
    if (persona) return persona;
  }
  return undefined;
}

/** The icon of an agent; what is none is shown as the text it is. */
export function Icon({ icon }: { readonly icon: string | undefined }): JSX.Element | null {
  if (icon === undefined) return null;
  return (
    <span className="icon" aria-hidden="true">
      {isIcon(icon) ? icon : harmless(icon)}
    </span>
  );
}
