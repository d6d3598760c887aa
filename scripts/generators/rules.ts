// Makes alerts/prometheus/warpwatch.rules.yml, and the table of the kinds in docs/alerting.md.
import { join } from 'node:path'
import { defaultRules, judgedNumbers } from '../../agent/cli/rules.ts'
import { LOG_KINDS, alertName, INCIDENT_KINDS } from '../../agent/model/kinds.ts'
import { judgeOf } from '../../alerts/prometheus/numbers.ts'
import { ROOT, withPart, type Generator } from './generator.ts'

const RULE_FILE = 'alerts/prometheus/warpwatch.rules.yml'
export const RULES = join(ROOT, RULE_FILE)
const PAGE = 'docs/alerting.md'

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

export const rules: Generator = {
  files: () =>
    new Map([
      [RULE_FILE, defaultRules()],
      [PAGE, withPart(PAGE, 'alerts by kind', table())],
    ]),
}
