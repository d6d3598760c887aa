// Builds the dashboard into dist/dashboard. No inline code or data: URIs come out, so that `default-src 'self'` holds.
import { join } from 'node:path'
import { defineConfig } from 'vite'

/** A view is called by its feature, of which each has a `view.tsx`. */
const nameOf = (module: string | null | undefined): string => /\/features\/([\w-]+)\/view\.tsx$/.exec(module ?? '')?.[1] ?? '[name]'

/** What explaining a log asks of a kind (agent/diagnosis/root.ts, ends/judge.ts); the rest is for incidents, which no worker has. */
const OF_EXPLAIN: ReadonlySet<string> = new Set(['id', 'facts', 'crash', 'afterInText', 'handled'])
const KIND = /\/agent\/model\/kinds\/(?!index|kind|from-)[\w-]+\.ts$/

type Node = { readonly type: string; readonly start: number; readonly end: number }
type Property = Node & { readonly key?: { readonly name?: string } }
type Declaration = Node & {
  readonly declaration?: {
    readonly declarations?: readonly { readonly init?: { readonly arguments?: readonly (Node & { readonly properties?: readonly Property[] })[] } }[]
  }
}

/** `defineKind({…})` without the properties that a worker never reads. */
const leanKinds = {
  name: 'kinds without what is for incidents',
  enforce: 'post',
  transform(this: { readonly parse: (code: string) => { readonly body: readonly Declaration[] } }, code: string, id: string) {
    if (!KIND.test(id)) return null
    const properties = this.parse(code).body.flatMap(({ declaration }) =>
      (declaration?.declarations ?? []).flatMap(({ init }) => init?.arguments?.[0]?.properties ?? []),
    )
    let lean = code
    for (const { key, start, end } of properties.toReversed())
      if (key?.name !== undefined && !OF_EXPLAIN.has(key.name)) lean = lean.slice(0, start) + lean.slice(end).replace(/^\s*,/, '')
    return { code: lean, map: null }
  },
  // What the minifier leaves: notes for bundlers, names of parts in registries of which only the values are asked (the order stays), ids of families.
  generateBundle(_: unknown, bundle: Record<string, { code?: string }>) {
    let ids = 100
    for (const chunk of Object.values(bundle))
      if (chunk.code !== undefined)
        chunk.code = chunk.code
          .replaceAll(/\bid:`[a-z][a-z0-9-]+`(?=,kinds?:)/g, () => `id:\`${ids++}\``)
          .replaceAll('/* @__PURE__ */ ', '')
          .replaceAll(/(?<=\(\{)(?:\w+:\(\)=>[\w$]+,){20,}\w+:\(\)=>[\w$]+(?=\}\))/g, (names) => {
            let at = 100
            return names.replaceAll(/\w+:\(\)/g, () => `_${at++}:()`)
          })
  },
} as const

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
  worker: { plugins: () => [leanKinds] },
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
