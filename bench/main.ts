// `npm run bench [NAME ...] [-- --OPTION ...]`: runs the benches one after the other, each printing a table with its figures and their limits. Options go to each of them.
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'

const words = process.argv.slice(2)
const firstOption = words.findIndex((word) => word.startsWith('--'))
const wanted = firstOption < 0 ? words : words.slice(0, firstOption)
const options = words.slice(wanted.length)
const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'main.ts')
  .map((file) => basename(file, '.ts'))
const unknown = wanted.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  process.stderr.write(`bench: no bench ${unknown.join(', ')}; there are ${names.join(', ')}\n`)
  process.exit(2)
}
/** Ten minutes each, `fleet` with both cores and engines that must be installed: only when they are asked for. */
const SLOW: readonly string[] = ['fleet', 'long-view']
for (const name of wanted.length > 0 ? wanted : names.filter((each) => !SLOW.includes(each))) {
  process.stdout.write(`\n## ${name}\n`)
  const bench: unknown = await import(join(import.meta.dirname, `${name}.ts`))
  if (typeof bench === 'object' && bench !== null && 'run' in bench && typeof bench.run === 'function') await bench.run(options)
}
