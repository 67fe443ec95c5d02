import type { JSX, ReactNode } from 'react';
import { CopyCommand } from './copy-command.tsx';

interface TeachingProps {
  readonly title: string;
  /** What to type in a terminal. */
  readonly command: string;
  readonly children: ReactNode;
}

/** What stands where nothing is yet: what would be there, and how to begin. */
export function Teaching({ title, command, children }: TeachingProps): JSX.Element {
  return (
    <section className="teaching" aria-label={title}>
      <h2>{title}</h2>
      <p className="dim">{children}</p>
      <CopyCommand command={command} />
    </section>
  );
}
