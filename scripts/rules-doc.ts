// Writes alerts/prometheus/warpwatch.rules.yml and the table of docs/alerting.md: `node scripts/rules-doc.ts`. A test fails when what is committed is not this.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultRules, judgedNumbers } from '../agent/cli/rules.ts'
import { LOG_KINDS, alertName, INCIDENT_KINDS } from '../agent/model/kinds.ts'
import { judgeOf } from '../alerts/prometheus/numbers.ts'

const root = join(import.meta.dirname, '..')
export const RULES = join(root, 'alerts/prometheus/warpwatch.rules.yml')
export const PAGE = join(root, 'docs/alerting.md')
const [BEGIN, END] = ['<!-- made by node scripts/rules-doc.ts, do not edit -->', '<!-- end -->']

function table(): string {
  const numbers = judgedNumbers()
  const rows = INCIDENT_KINDS.map((kind) => {
    const page = `[\`${kind}\`](../alerts/runbooks/${kind}.md) | \`${alertName(kind)}\``
    if (kind === 'custom') return `| ${page} | as the threshold says | Prometheus: each threshold of the configuration |`
    const severities = [...new Set(numbers.flatMap((detector) => (detector.kinds.includes(kind) ? [detector.severity] : [])))]
    const judge = judgeOf(kind, numbers)
    const judges = judge.by === 'agent' ? `the agent: ${judge.why}` : `Prometheus: ${judge.detectors.map(({ id }) => `[${id}](detectors.md#${id})`).join(', ')}`
    const severity = (LOG_KINDS as readonly string[]).includes(kind) ? 'as the log says' : severities.join(', ')
    return `| ${page} | ${severity} | ${judges.replaceAll('|', '\\|')} |`
  })
  return ['| kind | alert | severity, as a rule | with `--judge prometheus` it is judged by |', '|---|---|---|---|', ...rows].join('\n')
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
