import { fileCheck, fileClaim, fileList, fileRelease } from '@polyphony/protocol';
import type { Holders } from '../registry/holder.ts';
import type { Registry } from '../registry/registry.ts';
import type { FileClaims } from './file-claims.ts';

const owner = 'file';

export function registerFileActions(registry: Registry, claims: FileClaims, holders: Holders): void {
  registry.register(owner, fileClaim, (params, { caller, commit }) =>
    claims.claim(holders.of(caller), params, commit),
  );
  registry.register(owner, fileRelease, (params, { caller, commit }) =>
    claims.release(holders.of(caller), params, commit),
  );
  registry.register(owner, fileList, async (params, { caller }) => ({
    claims: await claims.list(holders.of(caller), params),
  }));
  registry.register(owner, fileCheck, (params, { caller }) => claims.check(holders.of(caller), params));
}
