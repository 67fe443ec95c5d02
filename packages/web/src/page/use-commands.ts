import { useEffect, useRef } from 'react';
import { type Command, commandOfKey } from './keys.ts';

export type Commands = Readonly<Partial<Record<Command, () => void>>>;

/** Lets keys do something while what they belong to is shown. */
export function useCommands(commands: Commands, isShown = true): void {
  const latest = useRef(commands);
  latest.current = commands;
  useEffect(() => {
    if (!isShown) return;
    const onKey = (event: KeyboardEvent): void => {
      const command = commandOfKey(event);
      const run = command && latest.current[command];
      if (!run || event.defaultPrevented) return;
      event.preventDefault();
      run();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [isShown]);
}
