import type { Statement } from '../store/store.ts';

/** Projects by the names they have and had: whoever is given a name asks here which project it is. */
export interface ProjectNames {
  /** A name that stands for the project whatever it is called now: folded, it is the key of the project. */
  resolve(name: string): string;
  /** What the project is called now. */
  shownAs(name: string): string;
  /**
   * What makes a project exist that somebody has named, to be committed with whatever names it; the commit fails with
   * `conflict` where the name was given to another project meanwhile.
   */
  meet(name: string, by: string): readonly Statement[];
}
