// `npm run bench [NAME ...]`: runs the benches one after the other, each printing a table with its figures and their limits.
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'

const wanted = process.argv.slice(2)
const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'main.ts')
  .map((file) => basename(file, '.ts'))
const unknown = wanted.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  process.stderr.write(`bench: expected one of ${names.join(', ')}, came ${unknown.join(', ')}\n`)
  process.exit(2)
}
/** Ten minutes, both cores and engines that must be installed: only when it is asked for. */
const SLOW = 'fleet'
for (const name of wanted.length > 0 ? wanted : names.filter((each) => each !== SLOW)) {
  process.stdout.write(`\n## ${name}\n`)
  const bench: unknown = await import(join(import.meta.dirname, `${name}.ts`))
  if (typeof bench === 'object' && bench !== null && 'run' in bench && typeof bench.run === 'function') await bench.run()
}
