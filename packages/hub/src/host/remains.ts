import { defaultLimits, type RingLimits } from './byte-ring.ts';
import { KeptOutput } from './kept-output.ts';
import type { OutputDisk } from './output-disk.ts';
import type { Pane } from './pane.ts';
import type { Segments } from './segments.ts';

/** A pane of a host before this one. */
interface Left {
  readonly files: Segments;
  /** How many lines it has printed, when they have been counted. */
  lines?: number;
  /** Once somebody has asked for it; nothing when none of its files can be read. */
  pane?: Promise<Pane | undefined>;
}

/** What hosts before this one have left on the disk: ended panes of which only the output is known. */
export class Remains {
  readonly #disk: OutputDisk | null;
  readonly #makePane: (id: string, output: KeptOutput) => Pane;
  readonly #left = new Map<string, Left>();

  constructor(disk: OutputDisk | null, makePane: (id: string, output: KeptOutput) => Pane) {
    this.#disk = disk;
    this.#makePane = makePane;
  }

  /** Looks for them, once. */
  find(): void {
    for (const [id, files] of this.#disk?.find() ?? []) this.#left.set(id, { files });
    void this.#count(); // A disk that hangs must not hold up the host.
  }

  async #count(): Promise<void> {
    for (const left of [...this.#left.values()]) {
      // Of one that cannot be read now the number stays unknown, as it was.
      const lines = await KeptOutput.countLines(left.files).catch(() => undefined);
      if (lines !== undefined) left.lines = lines;
    }
  }

  list(): { readonly id: string; readonly lines?: number | undefined }[] {
    return [...this.#left].map(([id, { lines }]) => ({ id, lines }));
  }

  has(id: string): boolean {
    return this.#left.has(id);
  }

  /** A pane, as far as it can still be read. */
  async pane(id: string): Promise<Pane | undefined> {
    const left = this.#left.get(id);
    if (!left) return undefined;
    left.pane ??= KeptOutput.recall(left.files, defaultLimits).then((output) => {
      const pane = output && this.#makePane(id, output);
      pane?.end({ exitCode: null, exitSignal: null });
      return pane;
    });
    try {
      return await left.pane;
    } catch (error) {
      delete left.pane; // The next one who asks may have more luck.
      throw error;
    }
  }

  /** Hands its output to a pane that goes on with it. */
  async take(id: string, limits: RingLimits): Promise<KeptOutput | undefined> {
    const left = this.#left.get(id);
    const output = left && (await KeptOutput.recall(left.files, limits));
    if (!output || this.#left.get(id) !== left) return undefined;
    this.#left.delete(id);
    return output;
  }

  /** Removes its files. */
  drop(id: string): void {
    const left = this.#left.get(id);
    this.#left.delete(id);
    void left?.files.remove();
    // One that could not be read holds nothing.
    left?.pane?.then((pane) => pane?.close()).catch(() => {});
  }
}
