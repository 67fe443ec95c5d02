// Bundles the command line into one CommonJS file, which starts much faster than the modules it is made of.
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { builtInActions, version } from '../packages/hub/src/edges/cli/build.ts';
import { keepCode } from './keep-code.ts';

const hub = join(import.meta.dirname, '..', 'packages', 'hub');

/** Everything of npm stays outside: it is loaded by the few commands that need it. */
const external = [
  'better-sqlite3',
  'jiti',
  'jsonc-parser',
  'smol-toml',
  'ws',
  'yaml',
  'zod',
  '@polyphony/tmux',
  '@polyphony/tmux/workspace',
];

/** What few commands need, in bundles of their own beside the one that every command reads. */
const apart: Readonly<Record<string, string>> = {
  './install/install.ts': 'install',
  './install/hooks.ts': 'hooks',
  './install/skill.ts': 'skill',
};

export async function bundle(): Promise<void> {
  const cli = join(hub, 'src', 'edges', 'cli');
  const others = Object.entries(apart).map(([module, name]) => [name, join(cli, module)]);
  await build({
    entryPoints: { poly: join(hub, 'src', 'main.ts'), ...Object.fromEntries(others) },
    outdir: join(hub, 'dist'),
    outExtension: { '.js': '.cjs' },
    bundle: true,
    format: 'cjs',
    platform: 'node',
    // So old that a Node we do not run on can read the file and say what is wrong with itself.
    target: 'es2019',
    conditions: ['polyphony-source'],
    minifySyntax: true,
    minifyWhitespace: true,
    external,
    banner: { js: refuseOldNode },
    define: { 'import.meta.dirname': '__dirname' },
    plugins: [knownAtBuild, protocolWithoutSchemas, bundledApart],
    logLevel: 'warning',
  });
  keepCode(join(hub, 'dist', 'poly.cjs'), 'ls');
}

const bundledApart: Plugin = {
  name: 'bundled-apart',
  setup({ onResolve }) {
    onResolve({ filter: /[/]install[/]\w+\.ts$/ }, ({ kind, path }) => {
      const name = apart[path.replace(/^\.\.[/]/, './')];
      return kind === 'dynamic-import' && name ? { path: `./${name}.cjs`, external: true } : undefined;
    });
  },
};

/** Puts data in the place of build.ts, whose own way to it leads through the schema library. */
const knownAtBuild: Plugin = {
  name: 'known-at-build',
  setup({ onLoad }) {
    onLoad({ filter: /edges[/]cli[/]build\.ts$/ }, () => ({
      loader: 'js',
      resolveDir: hub,
      contents: [
        `import { join } from 'node:path';`,
        `export const version = ${JSON.stringify(version)};`,
        `export const daemon = join(__dirname, 'daemon.cjs');`,
        `export const launcher = join(__dirname, '..', 'bin', 'poly');`,
        `export const hooksFolder = join(__dirname, '..', 'hooks');`,
        `export const screensFolder = join(__dirname, '..', 'screens');`,
        `export const demoFolder = join(__dirname, '..', 'demo');`,
        `export const skillFile = join(__dirname, '..', 'skill', 'SKILL.md');`,
        `export const builtInActions = () => JSON.parse(${JSON.stringify(JSON.stringify(builtInActions()))});`,
      ].join('\n'),
    }));
  },
};

const withoutSchemas = [
  'agent-reason',
  'agent-screen',
  'allowed',
  'client',
  'conversation',
  'environment',
  'error',
  'event',
  'importance',
  'full-stop',
  'nearest',
  'timeline-kind',
  'timeline-markdown',
];

/**
 * The modules of the protocol that load nothing. Whoever imports a schema into the command line is told so here, but
 * for those that read the configuration and the rules for screens, which are loaded when they are asked for.
 */
const protocolWithoutSchemas: Plugin = {
  name: 'protocol-without-schemas',
  setup({ onResolve, onLoad }) {
    const folder = join(hub, '..', 'protocol', 'src');
    onResolve({ filter: /^@polyphony\/protocol$/ }, ({ importer }) => ({
      path: /(platform[/]config|agents[/]screens[/][\w-]+)\.ts$/.test(importer)
        ? 'with-schemas'
        : 'without-schemas',
      namespace: 'protocol',
    }));
    onLoad({ filter: /.*/, namespace: 'protocol' }, ({ path }) => ({
      resolveDir: folder,
      contents: [...withoutSchemas, ...(path === 'with-schemas' ? ['read-given'] : [])]
        .map((name) => `export * from './${name}.ts';`)
        .join('\n'),
    }));
  },
};

const refuseOldNode = `(function () {
  var have = process.versions.node.split('.');
  if (have[0] * 1000 + +have[1] >= 22014) return;
  console.error('poly: Polyphony needs Node 22.14 or newer; this is ' + process.versions.node + ' (' + process.execPath + '). Install a newer one, or name one in POLY_NODE.');
  process.exit(1);
})();`;

if (import.meta.main) await bundle();
