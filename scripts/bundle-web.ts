// Builds the page into the hub, which serves it.
import { join } from 'node:path';
import { build } from 'vite';

export async function bundleWeb(): Promise<void> {
  await build({
    configFile: join(import.meta.dirname, '..', 'packages', 'web', 'vite.config.ts'),
    logLevel: 'warn',
  });
}

if (import.meta.main) await bundleWeb();
