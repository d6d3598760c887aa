// Writes alerts/prometheus/warpwatch.rules.yml and the table of docs/alerting.md: `node scripts/rules-doc.ts`. A test fails when what is committed is not this.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultRules, judgedNumbers } from '../agent/cli/rules.ts'
import { alertName, INCIDENT_KINDS } from '../agent/model/incident.ts'
import { judgeOf } from '../alerts/prometheus/numbers.ts'

const root = join(import.meta.dirname, '..')
export const RULES = join(root, 'alerts/prometheus/warpwatch.rules.yml')
export const PAGE = join(root, 'docs/alerting.md')
const [BEGIN, END] = ['<!-- made by node scripts/rules-doc.ts, do not edit -->', '<!-- end -->']

function table(): string {
  const numbers = judgedNumbers()
  const rows = INCIDENT_KINDS.map((kind) => {
    const judge = judgeOf(kind, numbers)
    const says =
      judge.by === 'agent' ? `the agent: ${judge.why}` : judge.detectors.map(({ id }) => `Prometheus: [${id}](detectors.md#${id})`).join(', ')
    return `| [\`${kind}\`](../alerts/runbooks/${kind}.md) | \`${alertName(kind)}\` | ${says.replaceAll('|', '\\|')} |`
  })
  return ['| kind | alert | with `--judge prometheus` it is judged by |', '|---|---|---|', ...rows].join('\n')
}

/** The page with its table made anew. */
export function alertingPage(page: string): string {
  const [before, after] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (before < 0 || after < before) throw new Error(`docs/alerting.md: expected ${BEGIN} before ${END}, came neither or the other way round`)
  return `${page.slice(0, before + BEGIN.length)}\n${table()}\n${page.slice(after)}`
}

if (import.meta.main) {
  writeFileSync(RULES, defaultRules())
  writeFileSync(PAGE, alertingPage(readFileSync(PAGE, 'utf8')))
}
