// Bundles the processes of the hub into one CommonJS file each: Node's module loader alone would cost each of them 12 MB.
import { join } from 'node:path';
import { build } from 'esbuild';

const hub = join(import.meta.dirname, '..', 'packages', 'hub');

export async function bundleDaemons(): Promise<void> {
  await build({
    entryPoints: {
      daemon: join(hub, 'src/daemon.ts'),
      host: join(hub, 'src/host/start.ts'),
      'store-thread': join(hub, 'src/store/thread.ts'),
      'search-thread': join(hub, 'src/host/search-thread.ts'),
      'terminal-thread': join(hub, 'src/host/terminal-thread.ts'),
    },
    outdir: join(hub, 'dist'),
    outExtension: { '.js': '.cjs' },
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node22.14',
    conditions: ['source'],
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: true,
    external: ['better-sqlite3', '@lydell/node-pty', 'jiti'],
    banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
    define: { 'import.meta.url': 'bundleUrl', 'import.meta.dirname': '__dirname' },
    logLevel: 'warning',
  });
}

if (import.meta.main) await bundleDaemons();
