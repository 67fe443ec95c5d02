import { extensionsInstall, extensionsList, extensionsRemove } from '@polyphony/protocol';
import type { Registry } from '../registry/registry.ts';
import type { Extensions } from './extensions.ts';

const owner = 'extensions';

export function registerExtensionActions(registry: Registry, extensions: Extensions): void {
  registry.register(owner, extensionsList, () => extensions.list());
  registry.register(owner, extensionsInstall, ({ from }) => extensions.install(from));
  registry.register(owner, extensionsRemove, async ({ name }) => {
    await extensions.remove(name);
    return {};
  });
}
