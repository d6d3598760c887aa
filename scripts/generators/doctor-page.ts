// Makes the tables of docs/doctor.md and the doctor's step in each runbook, from the registry of checks, their test cases and the examples of messages.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { explainText } from '../../agent/diagnosis/explain.ts'
import { logScanner } from '../../agent/diagnosis/log-scanner.ts'
import * as registry from '../../agent/doctor/checks/index.ts'
import type { CheckDefinition, CheckGroup, Finding } from '../../agent/doctor/definition.ts'
import { runCheck } from '../../agent/doctor/runner.ts'
import { CHECK_GROUPS } from '../../agent/model/doctor.ts'
import { INCIDENT_KINDS, type IncidentKind } from '../../agent/model/kinds.ts'
import { buildScene, PATIENCE_MS, type CheckCase } from '../../test/unit/doctor/scene.ts'
import { committed, ROOT, withPart, type Files, type Generator } from './generator.ts'

const PAGE = 'docs/doctor.md'
const runbookOf = (kind: IncidentKind): string => `alerts/runbooks/${kind}.md`

/** By group, then by name: the order of a registry is that of whoever loads it. */
const CHECKS = Object.values<CheckDefinition>(registry).toSorted(
  (a, b) => CHECK_GROUPS.indexOf(a.group) - CHECK_GROUPS.indexOf(b.group) || (a.id < b.id ? -1 : 1),
)
const GROUPS: Readonly<Record<CheckGroup, string>> = {
  host: 'The host: driver and GPUs',
  toolkit: 'The container toolkit and the engine',
  container: 'Each container that wants a GPU',
  wsl2: 'WSL2',
  compose: 'Compose files (`--compose FILE…`)',
  warpwatch: 'Warpwatch itself',
}
/** In Markdown's text, and in a cell of a table. */
const plain = (text: string): string => text.replaceAll('\n', ' ').replace(/[\\`*|<>[\]]/g, (sign) => `\\${sign}`)
const kindLink = (kind: IncidentKind): string => `[\`${kind}\`](../alerts/runbooks/${kind}.md)`
const checkLink = (id: string): string => `[${id}](#${id})`

type LinesOf = (check: CheckDefinition) => Promise<readonly string[]>

/** A busy machine makes programs late, and a check that skips what it waited for: then its case is tried again. */
const TRIES = 10

async function findingsOf(check: CheckDefinition, { about, scene, status, says = /^/ }: CheckCase): Promise<readonly Finding[]> {
  for (let at = 0; at < TRIES; at++) {
    const { around, root: folder, remove } = await buildScene(scene)
    const report = await runCheck({ ...check, timeoutMs: PATIENCE_MS }, around)
    remove()
    const findings = report.findings.map((finding) => ({ ...finding, summary: finding.summary.replaceAll(folder, '') }))
    if (report.status === status && says.test(JSON.stringify(findings))) return findings.filter((one) => one.status === 'fail' || one.status === 'warn')
  }
  throw new Error(`the check ${check.id} is not "${status}" in its case "${about}", tried ${TRIES} times: run its tests (npm test -- test/unit/doctor)`)
}

/** What it says where something is wrong, one line for each first remedy: its test cases are run on real files. */
const complaintsOf: LinesOf = async (check) => {
  const { cases }: { readonly cases: readonly CheckCase[] } = await import(join(ROOT, `test/unit/doctor/cases/${check.id}.ts`))
  const lines = new Map<string, string>()
  for (const own of cases.filter(({ status }) => status === 'fail' || status === 'warn')) {
    for (const { status, summary, remedies = [] } of await findingsOf(check, own)) {
      // Its first sentence; what follows is mostly where, and how to go on.
      const remedy = remedies[0]?.text.split(/(?<=\.) (?=[A-Z])/)[0]?.replace(/:$/, '.') ?? ''
      const key = `${status} ${remedy}`
      if (!lines.has(key)) lines.set(key, `- ${status}: ${plain(summary)}. → ${plain(remedy)}`)
    }
  }
  return [...lines.values()]
}

/** Those on the committed page; of a check that is not on it yet, those of its cases. */
const linesOnPage: LinesOf = async (check) => {
  const section = committed(PAGE)
    .split(/^###+ /m)
    .find((part) => part.startsWith(`${check.id}\n`))
  return section === undefined ? await complaintsOf(check) : section.split('\n').filter((line) => /^- (?:fail|warn): /.test(line))
}

async function checkSection(check: CheckDefinition, linesOf: LinesOf): Promise<readonly string[]> {
  const { id, title, covers } = check
  return [
    `#### ${id}`,
    '',
    `Checks that ${plain(title)}.${covers.length === 0 ? '' : ` Predicts or explains ${covers.map(kindLink).join(', ')}.`}`,
    '',
    ...(await linesOf(check)),
    '',
  ]
}

type Example = { readonly text: string; readonly kinds: readonly string[] }
const MESSAGES = 4
const LONGEST = 160

/** The telling lines of the kind's examples. */
async function messagesOf(kind: IncidentKind): Promise<readonly string[]> {
  const path = join(ROOT, `test/unit/diagnosis/examples/${kind}.ts`)
  if (!existsSync(path)) return []
  const { examples }: { readonly examples: readonly Example[] } = await import(path)
  const lines = examples
    .filter(({ kinds }) => kinds[0] === kind)
    .flatMap(({ text }) => explainText(logScanner(), text)[0]?.evidence[0]?.text.trim() ?? [])
    .map((line) => (line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line))
  return [...new Set(lines)].slice(0, MESSAGES)
}

const titleOf = (kind: IncidentKind): string => /^# `\w+`: (.+)$/m.exec(committed(runbookOf(kind)))?.[1] ?? ''
const covering = (kind: IncidentKind): readonly CheckDefinition[] => CHECKS.filter(({ covers }) => covers.includes(kind))

async function messageRow(kind: IncidentKind): Promise<string> {
  const lines = (await messagesOf(kind)).map((line) => `\`\` ${line.replaceAll('|', '\\|').replaceAll('``', "''")} \`\``)
  const said = [titleOf(kind), ...lines].join('<br>')
  return `| ${kindLink(kind)} | ${said} | ${covering(kind)
    .map(({ id }) => checkLink(id))
    .join(', ')} |`
}

async function tables(linesOf: LinesOf): Promise<string> {
  const sections: string[] = []
  for (const group of CHECK_GROUPS) {
    const own = CHECKS.filter((check) => check.group === group)
    if (own.length > 0) sections.push(`### ${GROUPS[group]}`, '')
    // One after the other: together they would wait for each other's programs.
    for (const check of own) sections.push(...(await checkSection(check, linesOf)))
  }
  const [covered, others] = [INCIDENT_KINDS.filter((kind) => covering(kind).length > 0), INCIDENT_KINDS.filter((kind) => covering(kind).length === 0)]
  return [
    '## Which check for which message',
    '',
    '| kind | what is seen, and messages that are known by it | checks |',
    '|---|---|---|',
    ...(await Promise.all(covered.map(messageRow))),
    '',
    `No check predicts ${others.map(kindLink).join(', ')}: they come from what a program or the hardware does, not from the setup.`,
    '',
    `## The ${CHECKS.length} checks`,
    '',
    'Below each is what it reports, with the figures of its tests, and the first of the remedies; the report has all of them, with the commands for the distribution at hand.',
    '',
    ...sections,
  ].join('\n')
}

const LEAD = '- Run the doctor: it names what is wrong and how to fix it.'
/** More ids than these make a line that nobody reads: then their groups. */
const MAX_IDS = 6

/** The runbook with the doctor's step at the end of how to confirm it; without one where no check covers the kind. */
function runbookPage(kind: IncidentKind, page: string): string {
  const bare = page.replace(new RegExp(`${LEAD}\\n\\n  \`\`\`bash\\n[^\\n]*\\n  \`\`\`\\n\\n`), '')
  const checks = covering(kind)
  if (checks.length === 0) return bare
  const names = checks.length > MAX_IDS ? new Set(checks.map(({ group }) => group)) : checks.map(({ id }) => id)
  return bare.replace('## What to do now\n', `${LEAD}\n\n  \`\`\`bash\n  warpwatch doctor --only ${[...names].join(',')}\n  \`\`\`\n\n## What to do now\n`)
}

async function files(thorough: boolean): Promise<Files> {
  // Cases have device files and owners, so only root can run all of them; and how a check words what it finds is no reason to run all cases at each test.
  const linesOf = thorough && process.getuid?.() === 0 ? complaintsOf : linesOnPage
  return new Map([
    [PAGE, withPart(PAGE, 'checks', await tables(linesOf))],
    ...INCIDENT_KINDS.map((kind) => [runbookOf(kind), runbookPage(kind, committed(runbookOf(kind)))] as const),
  ])
}

export const doctorPage: Generator = { files }
