// What a thread for contracts runs: one job, and it ends.
import { parentPort, workerData } from 'node:worker_threads';
import { PolyError } from '@polyphony/protocol';
import { parse } from 'yaml';
import { diffContracts } from './diff/diff-contracts.ts';
import { type DocumentRead, readDocument } from './document.ts';

/** As JSON has it: no dates, no other things that only YAML knows. */
function readYaml(text: string): DocumentRead {
  try {
    const value = parse(text, { schema: 'core', maxAliasCount: 100, logLevel: 'error' }) ?? null;
    return { document: readDocument(JSON.parse(JSON.stringify(value))) };
  } catch (error) {
    const [said = ''] = (error as Error).message.split('\n', 1);
    return { problem: error instanceof PolyError ? said.replace(/\.$/, '') : `it is not YAML: ${said}` };
  }
}

export interface Jobs {
  readonly diff: typeof diffContracts;
  readonly yaml: (text: string) => DocumentRead;
}

const jobs: Jobs = { diff: diffContracts, yaml: readYaml };

const { name, given } = workerData as { readonly name: keyof Jobs; readonly given: readonly unknown[] };
parentPort?.postMessage((jobs[name] as (...given: readonly unknown[]) => unknown)(...given));
