// `npm run test:quick [PATH …]`: types, lint, layout, units and golden files, all at once, for the inner loop; what each says is printed when it ends. Left to `npm test`: suites, property tests,
// and what takes long by itself (`NAME.slow.test.ts`).
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { root } from './ensure.mjs'

const TSC = 'node_modules/typescript/bin/tsc'
const paths = process.argv.slice(2)

const PARTS = {
  tests: ['node_modules/vitest/vitest.mjs', 'run', '--project', 'unit', '--reporter=dot', ...paths],
  types: [TSC, '--noEmit', '-p', 'tsconfig.json'],
  'types of the dashboard': [TSC, '--noEmit', '-p', 'dashboard/tsconfig.json'],
  lint: ['node_modules/oxlint/bin/oxlint', '--type-aware', '--deny-warnings'],
  layout: ['node_modules/prettier/bin/prettier.cjs', '--check', '--cache', '--cache-strategy', 'content', '--log-level', 'warn', '.'],
}

/** Resolves to whether it went well. */
async function part(name, [program, ...args]) {
  const begun = performance.now()
  const child = spawn(process.execPath, [join(root, program), ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1' },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => child.kill(signal))
  const well = await new Promise((resolve) => {
    child.once('error', (error) => {
      said += `${error.message}\n`
      resolve(false)
    })
    child.once('close', (status) => resolve(status === 0))
  })
  process.stdout.write(`${well ? '' : said}${well ? 'ok    ' : 'FAILED'} ${name}, ${((performance.now() - begun) / 1_000).toFixed(1)} s\n`)
  return well
}

const done = await Promise.all(Object.entries(PARTS).map(([name, command]) => part(name, command)))
process.exitCode = done.every(Boolean) ? 0 : 1
