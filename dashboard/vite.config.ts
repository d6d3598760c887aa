// Builds the dashboard into dist/dashboard. No inline code or data: URIs come out, so that `default-src 'self'` holds.
import { join } from 'node:path'
import { defineConfig } from 'vite'

/** A view is called by its feature, of which each has a `view.tsx`. */
const nameOf = (module: string | null | undefined): string => /\/features\/([\w-]+)\/view\.tsx$/.exec(module ?? '')?.[1] ?? '[name]'

export default defineConfig({
  root: import.meta.dirname,
  // Relative, so that the page also works behind a proxy that serves it under a path.
  base: './',
  plugins: [
    {
      name: 'import as the browser does',
      enforce: 'pre',
      load: (id) => (id === '\0vite/preload-helper.js' ? 'export const __vitePreload = (load) => load()' : null),
    },
  ],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: join(import.meta.dirname, '../dist/dashboard'),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    // A view is one file, and what it shares is there already: what Vite adds to fetch several at once would be part of the first load.
    modulePreload: false,
    // One file each: a page of this size gains nothing from a second round trip.
    cssCodeSplit: false,
    reportCompressedSize: false,
    // All that the overview needs in one file, though other views share it: on a first visit each file is waited for.
    rolldownOptions: {
      output: {
        codeSplitting: { groups: [{ name: 'page', test: /dashboard[\\/]src[\\/]main\.tsx$/ }] },
        chunkFileNames: ({ facadeModuleId }) => `assets/${nameOf(facadeModuleId)}-[hash].js`,
      },
      // A build on a busy machine would tell whoever starts the agent which plugin of the bundler took its time.
      checks: { bundlerTimings: false },
    },
  },
})
