// `npm run abuse [-- ID … | AREA …] [--short] [--write]`: runs the cases one after the other and ends with the table, and with --write puts its lines into docs/reliability.md; exit 1 when a promise was broken.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AbuseCase } from './abuse-case.ts'
import * as registry from './cases/index.ts'
import { tableOf, withRows, type Row } from './table.ts'

const PAGE = join(import.meta.dirname, '../../docs/reliability.md')
const cases: readonly AbuseCase[] = Object.values(registry)
const known = new Set(cases.flatMap(({ id, area }) => [id, area as string]))

const args = process.argv.slice(2)
const wanted = args.filter((arg) => !arg.startsWith('--'))
const unknown = [...wanted.filter((name) => !known.has(name)), ...args.filter((arg) => arg.startsWith('--') && arg !== '--short' && arg !== '--write')]
if (unknown.length > 0) {
  process.stderr.write(`abuse: unknown: ${unknown.join(', ')}. Cases and areas: ${[...known].toSorted().join(', ')}; flags: --short --write\n`)
  process.exit(2)
}
const short = args.includes('--short')

async function rowOf(of: AbuseCase): Promise<Row> {
  const reason = of.unavailable?.()
  if (reason !== undefined) return { of, result: 'skipped', observed: reason }
  try {
    const { held, observed } = await of.run({ short })
    return { of, result: held ? 'held' : 'broken', observed }
  } catch (error) {
    return { of, result: 'failed', observed: error instanceof Error ? error.message : String(error) }
  }
}

const rows: Row[] = []
for (const each of cases.filter(({ id, area }) => wanted.length === 0 || wanted.includes(id) || wanted.includes(area))) {
  const begun = performance.now()
  const row = await rowOf(each)
  rows.push(row)
  process.stderr.write(`${row.result.padEnd(8)}${each.id} (${((performance.now() - begun) / 1_000).toFixed(0)} s): ${row.observed}\n`)
}
process.stdout.write(`${tableOf(rows)}\n`)
if (args.includes('--write')) writeFileSync(PAGE, withRows(readFileSync(PAGE, 'utf8'), cases, rows))
process.exitCode = rows.some(({ result }) => result === 'broken' || result === 'failed') ? 1 : 0
