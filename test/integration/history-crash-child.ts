// An agent's history alone, for the crash test: one scrape a second of a clock of its own, as fast as it can, until it is killed.
import { writeSync } from 'node:fs'
import { createHistory } from '../../agent/store/history.ts'
import { crashReading, crashSeries } from './history-crash-data.ts'
import { scrape } from '../unit/store/history-scrape.ts'

const [directory = '', first = '0'] = process.argv.slice(2)
const say = (text: string): void => void writeSync(2, `${text}\n`)
const history = createHistory({ directory, log: { info: say, warn: say, error: say }, now: () => Number(first) })
for (let t = Number(first); ; t += 1000) {
  history.ingest(
    scrape(
      t,
      crashSeries.map((series, i) => [series, crashReading(i, t)]),
    ),
  )
  history.maintain(t)
  // Told after it is safe: from here on no kill may lose it.
  writeSync(1, `${t}\n`)
}
