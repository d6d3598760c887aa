// `warpwatch rules`: prints the rule file for Prometheus.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readKindPage, type KindPages } from '../../alerts/prometheus/kind-page.ts'
import type { JudgedNumbers } from '../../alerts/prometheus/numbers.ts'
import { OWN_LINKS, type Links } from '../../alerts/prometheus/rule.ts'
import { JOB, ruleData, ruleGroups, ruleYaml } from '../../alerts/prometheus/rule-file.ts'
import { customThresholds } from '../diagnosis/custom-thresholds.ts'
import { INCIDENT_KINDS } from '../model/kinds.ts'
import type { DetectorsConfig } from '../model/detector-settings.ts'
import { messageOf } from '../text/error.ts'
import { UsageError, type Arguments, type Command, type Io } from './command.ts'
import { DETECTOR_LIST } from './config/detector-settings.ts'
import { CONFIG_FLAG, isLoaded, problemLines, settingsFor } from './config/settings.ts'

/** Files beside this one: one folder in the build, the source tree in a checkout. */
const RUNBOOKS = join(import.meta.dirname, import.meta.url.endsWith('.ts') ? '../../alerts/runbooks' : 'runbooks')
const HEAD = `Alerting and recording rules for Prometheus 2.42 and newer; made by warpwatch rules, do not edit.
How they are used stands in docs/alerting.md.`

export function kindPages(folder = RUNBOOKS): KindPages {
  try {
    return new Map(INCIDENT_KINDS.map((kind) => [kind, readKindPage(kind, readFileSync(join(folder, `${kind}.md`), 'utf8'))]))
  } catch (error) {
    throw new UsageError(`rules: the runbooks cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

/** All detectors, or those that are on, with the thresholds of the user's own. */
export function judgedNumbers(config?: DetectorsConfig): readonly JudgedNumbers[] {
  const known = DETECTOR_LIST.filter(({ id }) => config?.settings[id]?.enabled !== false).map((definition) => {
    const set = Object.entries(config?.settings[definition.id]?.options ?? {})
    return { ...definition, changed: set.some(([name, value]) => definition.options[name]?.default !== value) }
  })
  const custom = config?.custom ?? []
  return [
    ...known,
    ...customThresholds(custom).map((definition, at): JudgedNumbers => {
      const { name = definition.title, summary } = custom[at] ?? {}
      return { ...definition, threshold: { name, title: summary === undefined ? name : `${name}: ${summary}` } }
    }),
  ]
}

/** The rules as they come, and as they are committed. */
export const defaultRules = (): string => ruleYaml(ruleGroups({ pages: kindPages() }), HEAD)

function link(args: Arguments, name: string, byDefault: string): string {
  const value = args.flags.get(name)
  if (typeof value !== 'string') return byDefault
  if (!/^https?:\/\/\S/.test(value)) throw new UsageError(`--${name}: must be a URL such as ${byDefault}, not ${JSON.stringify(value)}`)
  return name === 'runbooks' ? value.replace(/\/+$/, '') : value
}

async function numbersOf(args: Arguments, io: Io): Promise<readonly JudgedNumbers[] | undefined | 'wrong'> {
  const judge = args.flags.get('judge') ?? 'agent'
  if (args.flags.has('no-incidents') && args.flags.has('judge')) throw new UsageError('--no-incidents and --judge exclude each other: leave out one')
  if (judge !== 'agent' && judge !== 'prometheus') throw new UsageError(`--judge: must be agent or prometheus, not ${JSON.stringify(judge)}`)
  if (judge === 'agent') {
    if (args.flags.has('config'))
      throw new UsageError('--config only goes with --judge prometheus: without it the rules follow the incidents, however they are configured')
    return undefined
  }
  const loaded = await settingsFor(args, io)
  if (isLoaded(loaded)) return judgedNumbers(loaded.config.detectors)
  io.err(problemLines(loaded))
  return 'wrong'
}

export const rules: Command = {
  name: 'rules',
  summary: 'prints alerting and recording rules for Prometheus',
  positionals: [],
  flags: {
    judge: { kind: 'value', value: 'agent|prometheus', help: 'who evaluates the numbers: the agent (default), or Prometheus where PromQL can' },
    ...CONFIG_FLAG,
    'no-incidents': { kind: 'switch', help: 'leave out the alerts of incidents, for agents that notify Alertmanager themselves' },
    job: { kind: 'value', value: 'NAME', help: `the job by which agents are scraped (default: ${JOB})` },
    runbooks: { kind: 'value', value: 'URL', help: `where runbooks are read, up to the kind (default: ${OWN_LINKS.runbooks})` },
    dashboard: { kind: 'value', value: 'URL', help: `where the dashboard is (default: ${OWN_LINKS.dashboard})` },
    json: { kind: 'switch', help: 'print JSON, which Prometheus reads as well' },
  },
  async run(args, io) {
    const links: Links = { runbooks: link(args, 'runbooks', OWN_LINKS.runbooks), dashboard: link(args, 'dashboard', OWN_LINKS.dashboard) }
    const job = args.flags.get('job')
    const numbers = await numbersOf(args, io)
    if (numbers === 'wrong') return 2
    const groups = ruleGroups({
      pages: kindPages(),
      links,
      incidents: !args.flags.has('no-incidents'),
      ...(typeof job === 'string' ? { job } : {}),
      ...(numbers === undefined ? {} : { numbers }),
    })
    io.out(args.flags.has('json') ? `${JSON.stringify(ruleData(groups), null, 2)}\n` : ruleYaml(groups, HEAD))
    return 0
  },
}
