import { join } from 'node:path';
import { defineConfig, type UserConfig } from 'vite';

const config: UserConfig = defineConfig({
  root: import.meta.dirname,
  // "source" makes our packages resolve to their TypeScript; the rest are Vite's own.
  resolve: { conditions: ['source', 'module', 'browser', 'development|production'] },
  build: {
    outDir: join(import.meta.dirname, '..', 'hub', 'dist', 'web'),
    emptyOutDir: true,
    target: 'es2022',
    // What is written into the page itself, its policy would refuse.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
});

export default config;
