// Who may import whom. `npm run check` holds these arrows; ARCHITECTURE.md draws them.

/** For each package: which of ours it may import and, where the list is closed, which of npm's. */
const packages = {
  tmux: { ours: [], npm: ['zod', 'yaml'] },
  protocol: { ours: [], npm: ['zod'] },
  hub: { ours: ['tmux', 'protocol'] },
  web: { ours: ['protocol'] },
  opencode: { ours: ['protocol'] },
  'claude-code': { ours: [] },
};

/** Matches a folder of packages/tmux/src, or a file that stands for it, with or without a plural s. */
const tmux = (...names) => `^packages/tmux/src/(${names.join('|')})s?(/|\\.ts$)`;

/** Folders of packages/hub/src, and which of the others each may import. `hub.ts`, `daemon.ts` and `wiring` know all. */
const hubFolders = {
  platform: [],
  store: ['platform'],
  host: [],
  events: ['store', 'platform'],
  registry: ['events', 'store', 'platform'],
  panes: ['registry', 'events', 'store', 'platform', 'host'],
  agents: ['registry', 'events', 'store', 'platform'],
  capture: ['events', 'store', 'platform'],
  approvals: ['registry', 'events', 'store', 'platform'],
  shell: ['registry', 'events', 'store', 'platform'],
  server: ['registry', 'events', 'store', 'platform'],
  extensions: ['registry', 'events', 'store', 'platform'],
  tasks: ['registry', 'events', 'store', 'platform'],
  contracts: ['registry', 'events', 'store', 'platform'],
  files: ['registry', 'events', 'store', 'platform'],
  delivery: ['registry', 'events', 'store', 'platform'],
  mail: ['registry', 'events', 'store', 'platform'],
  floor: ['registry', 'events', 'store', 'platform'],
  people: ['registry', 'events', 'store', 'platform'],
  notices: ['events', 'platform'],
  edges: ['registry', 'events', 'platform', 'notices'],
};

const folderRules = (name, folders) =>
  Object.entries(folders).map(([folder, others]) => ({
    name: `${name}-${folder}-imports-only-${others.join('-') || 'itself'}`,
    severity: 'error',
    from: { path: `^packages/${name}/src/${folder}/` },
    to: {
      path: `^packages/${name}/src/`,
      pathNot: `^packages/${name}/src/(${[folder, ...others].join('|')})/`,
    },
  }));

/** Folders of packages/web/src, and which of the others each may import; what stands beside them knows all. */
const webFolders = {
  page: [],
  terminals: ['page'],
  mail: ['page'],
  work: ['page'],
  agents: ['page', 'terminals'],
  session: ['page', 'terminals', 'mail'],
  floor: ['page', 'agents', 'session'],
};

const packageRules = Object.entries(packages).flatMap(([name, { ours, npm }]) => [
  {
    name: `${name}-imports-only-allowed-packages`,
    severity: 'error',
    from: { path: `^packages/${name}/` },
    to: { path: '^packages/', pathNot: `^packages/(${[name, ...ours].join('|')})/` },
  },
  ...(npm === undefined
    ? []
    : [
        {
          name: `${name}-imports-only-allowed-npm-packages`,
          severity: 'error',
          from: { path: `^packages/${name}/src/` },
          to: { path: 'node_modules/', pathNot: `node_modules/(${npm.join('|')})/` },
        },
      ]),
]);

module.exports = {
  forbidden: [
    { name: 'no-cycle', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolved-import', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'every-package-has-its-arrows',
      comment: 'A new package must be listed in the table of this file.',
      severity: 'error',
      from: { path: '^packages/', pathNot: `^packages/(${Object.keys(packages).join('|')})/` },
      to: {},
    },
    ...packageRules,
    ...folderRules('hub', hubFolders),
    ...folderRules('web', webFolders),
    {
      name: 'every-hub-folder-has-its-arrows',
      comment: 'A new folder of the hub must be listed in the table of this file.',
      severity: 'error',
      from: { path: `^packages/hub/src/(?!(${[...Object.keys(hubFolders), 'wiring'].join('|')})/)[^/]+/` },
      to: {},
    },
    {
      name: 'every-web-folder-has-its-arrows',
      comment: 'A new folder of the page must be listed in the table of this file.',
      severity: 'error',
      from: { path: `^packages/web/src/(?!(${Object.keys(webFolders).join('|')})/)[^/]+/` },
      to: {},
    },
    {
      name: 'operations-are-inert',
      severity: 'error',
      from: { path: tmux('operation') },
      to: { path: tmux('engine', 'plan', 'snapshot', 'facade', 'workspace', 'wait') },
    },
    {
      name: 'engines-only-carry',
      severity: 'error',
      from: { path: '^packages/tmux/src/engines/' },
      to: { path: tmux('plan', 'snapshot', 'facade', 'workspace', 'wait') },
    },
    {
      name: 'only-workspace-reads-yaml',
      severity: 'error',
      from: { path: '^packages/tmux/src/', pathNot: tmux('workspace') },
      to: { path: 'node_modules/yaml/' },
    },
    {
      name: 'only-tests-import-testing',
      severity: 'error',
      from: { path: '^packages/', pathNot: tmux('testing') },
      to: { path: tmux('testing') },
    },
  ],
  options: {
    parser: 'swc', // With TypeScript 7 the default parser sees no module at all and reports success.
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: ['^packages/[^/]+/dist/', '\\.test\\.ts$'] },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['polyphony-source', 'node', 'import', 'default'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.cjs'],
    },
  },
};
