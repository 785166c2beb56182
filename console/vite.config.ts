import { defineConfig } from 'vite'

// Browsers that know light-dark(), popovers and Trusted Types or ignore them.
const target = ['chrome125', 'firefox129', 'safari17.5']

export default defineConfig({
  root: import.meta.dirname,
  // It may be served below a path: data/base.ts, and apiserver/console.
  base: './',
  resolve: {
    // Written for React, shipped with Preact: half the size (docs/internals/console.md). Without these lines it is React again.
    alias: [
      { find: /^react$/, replacement: 'preact/compat' },
      { find: /^react-dom$/, replacement: 'preact/compat' },
      { find: /^react-dom\/client$/, replacement: 'preact/compat/client' },
      { find: /^react\/jsx-runtime$/, replacement: 'preact/jsx-runtime' },
    ],
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'react', development: false } },
  build: {
    target,
    cssTarget: target,
    outDir: 'dist',
    emptyOutDir: true,
    manifest: true,
    // Browsers of the target preload modules themselves. The polyfill is an inline script in other builds.
    modulePreload: { polyfill: false },
    // A data: address would need an exception in the content security policy.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
})
