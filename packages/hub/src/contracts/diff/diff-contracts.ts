import type { ContractChange, ContractDiff } from '@polyphony/protocol';
import type { ContractDocument } from '../document.ts';
import { canonical, type JsonObject, objectOf } from '../json.ts';
import { Changes } from './changes.ts';
import { compareNamed, compareOpenApi } from './compare-openapi.ts';
import { SchemaComparer } from './compare-schemas.ts';
import { isLibrary, SchemaSource } from './schema-view.ts';

const came =
  /^(required-)?(property|schema|path|operation|parameter|request-body|response|media-type|header|variant)-added$/;
const went =
  /^(property|schema|path|operation|parameter|request-body|response|media-type|header|variant)-(removed|refused)$/;

/** How two versions of a contract differ; both must have been read by `readDocument`. It reads nothing else and runs no pattern. */
export function diffContracts(before: ContractDocument, after: ContractDocument): ContractDiff {
  const changes = new Changes();
  const same = before.format === after.format && canonical(before.value) === canonical(after.value);
  if (!same) compare(before, after, changes);
  return sorted(changes.list());
}

function compare(before: ContractDocument, after: ContractDocument, changes: Changes): void {
  if (before.format !== after.format)
    changes.add('unknown', {
      kind: 'format-of-document-changed',
      path: '',
      message: `it was ${before.format} and is ${after.format}`,
      before: before.format,
      after: after.format,
    });
  else if (after.format === 'openapi') compareOpenApi(before.value, after.value, changes);
  else compareSchemas(before.value, after.value, changes);
}

function compareSchemas(before: JsonObject, after: JsonObject, changes: Changes): void {
  const sources = [new SchemaSource(before), new SchemaSource(after)] as const;
  const comparer = new SchemaComparer(...sources, changes);
  comparer.compare({ value: before, pointer: '' }, { value: after, pointer: '' }, 'unknown');
  if (!isLibrary(before) && !isLibrary(after)) return;
  for (const name of ['$defs', 'definitions'])
    compareNamed(sources, [objectOf(before[name]), objectOf(after[name])], `/${name}`, comparer);
}

function sorted(found: readonly ContractChange[]): ContractDiff {
  const added = found.filter(({ kind }) => came.test(kind));
  const removed = found.filter(({ kind }) => went.test(kind));
  const changed = found.filter(({ kind }) => !came.test(kind) && !went.test(kind));
  return { added, removed, changed, breaking: found.some(({ breaking }) => breaking) };
}
