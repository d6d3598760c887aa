// Builds dist/: the agent and the sampler child as one bundled file each (less memory and a faster start than loading
// hundreds of modules), and the dashboard. Native packages stay outside the bundles.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { build as buildDashboard } from 'vite'
import { root } from './ensure.mjs'

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const out = join(root, 'dist')

async function bundle(entries) {
  const build = await rolldown({
    cwd: root,
    input: entries,
    platform: 'node',
    external: [/^node:/, 'koffi', 'better-sqlite3', 'bufferutil', 'utf-8-validate'],
    transform: { define: { __WARPWATCH_VERSION__: JSON.stringify(version) } },
    logLevel: 'warn',
  })
  await build.write({ dir: out, format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js', sourcemap: false, minify: false })
  await build.close()
}

mkdirSync(out, { recursive: true })
// Chunks carry a hash in their name: those of the last build would stay for ever.
for (const name of readdirSync(out)) if (name.endsWith('.js')) rmSync(join(out, name))
await bundle({ main: 'agent/main.ts' })
await bundle({ 'sampler-child': 'agent/sampler/child.ts' })
if (existsSync(join(root, 'dashboard/vite.config.ts'))) {
  await buildDashboard({ root: join(root, 'dashboard'), configFile: join(root, 'dashboard/vite.config.ts'), logLevel: 'warn' })
}
writeFileSync(join(out, '.built'), version)
