// Bundles the processes of the hub into one CommonJS file each: Node's module loader alone would cost each of them 12 MB.
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';

const hub = join(import.meta.dirname, '..', 'packages', 'hub');

/** What is bundled apart: it is loaded when somebody first needs it, and until then weighs nothing. */
const apart = [
  { imported: /^@polyphony\/tmux$/, bundle: './tmux.cjs' },
  { imported: /^\.\/sdk\.ts$/, bundle: './mcp-sdk.cjs' },
];

const bundledApart: Plugin = {
  name: 'bundled-apart',
  setup({ onResolve }) {
    for (const { imported, bundle } of apart)
      onResolve({ filter: imported }, ({ kind }) =>
        kind === 'dynamic-import' ? { path: bundle, external: true } : undefined,
      );
  },
};

export async function bundleDaemons(): Promise<void> {
  await build({
    entryPoints: {
      tmux: join(hub, '..', 'tmux', 'src', 'index.ts'),
      'mcp-sdk': join(hub, 'src/edges/mcp/sdk.ts'),
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
    conditions: ['polyphony-source'],
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: true,
    external: ['better-sqlite3', '@lydell/node-pty', 'jiti'],
    banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
    define: { 'import.meta.url': 'bundleUrl', 'import.meta.dirname': '__dirname' },
    plugins: [bundledApart],
    logLevel: 'warning',
  });
}

if (import.meta.main) await bundleDaemons();
