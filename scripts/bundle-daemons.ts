// Bundles the processes of the hub into one CommonJS file each: Node's module loader alone would cost each of them 12 MB.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { keepCode } from './keep-code.ts';

const hub = join(import.meta.dirname, '..', 'packages', 'hub');

/** What is bundled apart: it is loaded when somebody first needs it, and until then weighs nothing. */
const apart = [
  { imported: /^@polyphony\/tmux$/, bundle: './tmux.cjs' },
  { imported: /^@polyphony\/tmux\/workspace$/, bundle: './tmux-workspace.cjs' },
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

/** The errors of the library are one class, whichever of its bundles throws them. */
const oneKindOfError: Plugin = {
  name: 'one-kind-of-error',
  setup({ onResolve }) {
    onResolve({ filter: /\/errors\.ts$/ }, ({ importer }) =>
      importer.startsWith(join(hub, '..', 'tmux', 'src'))
        ? { path: './tmux.cjs', external: true }
        : undefined,
    );
  },
};

/** One letter beyond latin1, even in a regular expression, and V8 keeps the whole text of a bundle in two bytes a letter. */
function inLatin1(text: string): string {
  return text.replace(
    /[^\x00-\xff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const processes = {
  tmux: join(hub, '..', 'tmux', 'src', 'index.ts'),
  'mcp-sdk': join(hub, 'src/edges/mcp/sdk.ts'),
  daemon: join(hub, 'src/daemon.ts'),
  host: join(hub, 'src/host/start.ts'),
  'store-thread': join(hub, 'src/store/thread.ts'),
  'contract-thread': join(hub, 'src/contracts/contract-thread.ts'),
  'understand-thread': join(hub, 'src/capture/understand-thread.ts'),
  'transcript-thread': join(hub, 'src/capture/transcripts/transcript-thread.ts'),
  'grep-thread': join(hub, 'src/edges/mcp/tmux/grep-thread.ts'),
  'search-thread': join(hub, 'src/host/search-thread.ts'),
  'terminal-thread': join(hub, 'src/host/terminal-thread.ts'),
};
const workspace = { 'tmux-workspace': join(hub, '..', 'tmux', 'src', 'workspace', 'index.ts') };

export async function bundleDaemons(): Promise<void> {
  await Promise.all([bundle(processes, [bundledApart]), bundle(workspace, [oneKindOfError])]);
  keepCode(join(hub, 'dist', 'daemon.cjs'));
}

async function bundle(entryPoints: Record<string, string>, plugins: Plugin[]): Promise<void> {
  const { outputFiles } = await build({
    entryPoints,
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
    plugins,
    logLevel: 'warning',
    write: false,
  });
  for (const { path, text } of outputFiles)
    writeFileSync(path, path.endsWith('.cjs') ? inLatin1(text) : text);
}

if (import.meta.main) await bundleDaemons();
