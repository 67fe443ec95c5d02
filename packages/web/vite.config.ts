import { join } from 'node:path';
import { defineConfig, type Plugin, type UserConfig } from 'vite';

const styles = /\s*<link rel="stylesheet"[^>]*>/;

/** Puts the styles behind what is painted without them, which they would hold up. */
const stylesBehind: Plugin = {
  name: 'styles-behind',
  transformIndexHtml: {
    order: 'post',
    handler(html) {
      const [link] = styles.exec(html) ?? [];
      if (link === undefined) throw new Error('index.html has no styles to put behind.');
      return html.replace(link, '').replace('<noscript>', `${link.trim()}\n    <noscript>`);
    },
  },
};

const config: UserConfig = defineConfig({
  plugins: [stylesBehind],
  root: import.meta.dirname,
  // "polyphony-source" makes our packages resolve to their TypeScript; the rest are Vite's own.
  resolve: { conditions: ['polyphony-source', 'module', 'browser', 'production'] },
  // Whoever builds it, the tests among them, gets what users get.
  define: { 'process.env.NODE_ENV': '"production"' },
  oxc: { jsx: { runtime: 'automatic', development: false } },
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
