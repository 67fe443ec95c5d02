import { foldName, PolyError, type ProjectChoice, projectOfFolder } from '@polyphony/protocol';

/** The project somebody has named, by either word. */
export function namedProject({ project, team }: ProjectChoice): string | undefined {
  if (project !== undefined && team !== undefined && foldName(project) !== foldName(team))
    throw new PolyError(
      'invalid_arguments',
      `project "${project}" and team "${team}" differ, and mean the same.`,
      { hint: 'Give one of them.' },
    );
  return (project ?? team)?.normalize('NFC');
}

/** The named one, else that of the folder somebody works in, else `default`. */
export function projectOf(choice: ProjectChoice, folder?: string): string {
  return namedProject(choice) ?? projectOfFolder(choice.project_dir ?? folder);
}
