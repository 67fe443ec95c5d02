import type { JSX } from 'react';
import { harmless } from './harmless.ts';

interface ProjectChoiceProps {
  readonly projects: readonly string[];
  /** Nothing means every one. */
  readonly chosen: string;
  readonly onChoose: (project: string) => void;
}

/** Which project is shown, where there are several. */
export function ProjectChoice({ projects, chosen, onChoose }: ProjectChoiceProps): JSX.Element | null {
  if (projects.length < 2) return null;
  return (
    <select aria-label="Project" value={chosen} onChange={(event) => onChoose(event.currentTarget.value)}>
      <option value="">every project</option>
      {projects.map((name) => (
        <option key={name} value={name}>
          {harmless(name)}
        </option>
      ))}
    </select>
  );
}
