import { foldName, PolyError, type ProjectChoice, projectOfFolder } from '@polyphony/protocol';
import type { ProjectNames } from '../registry/project-names.ts';

/** Which project somebody means, by whatever name it has or had. */
export class ProjectChoices {
  readonly #names: Pick<ProjectNames, 'resolve'>;

  constructor(names: Pick<ProjectNames, 'resolve'>) {
    this.#names = names;
  }

  /** The one that was named, by either word. */
  named({ project, team }: ProjectChoice): string | undefined {
    const [one, other] = [project, team].map((name) =>
      name === undefined ? undefined : this.#names.resolve(name),
    );
    if (one !== undefined && other !== undefined && foldName(one) !== foldName(other))
      throw new PolyError(
        'invalid_arguments',
        `project "${project}" and team "${team}" differ, and mean the same.`,
        { hint: 'Give one of them.' },
      );
    return one ?? other;
  }

  /** The named one, else that of the folder somebody works in, else `default`. */
  of(choice: ProjectChoice, folder?: string): string {
    return this.named(choice) ?? this.#names.resolve(projectOfFolder(choice.project_dir ?? folder));
  }
}
