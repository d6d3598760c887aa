// One incident as a page for a terminal: what happened to whom, why, what to do, what was seen.
import { subjectText } from '../../diagnosis/incidents/report.ts'
import { incidentContext } from '../../diagnosis/incidents/incident-context.ts'
import type { HangRank } from '../../model/facts.ts'
import { writtenLines, type Incident } from '../../model/incident.ts'
import { actionText } from '../../text/action.ts'
import { bytesText } from '../../text/bytes.ts'
import { CONFIDENCE_TEXTS } from '../../text/confidence.ts'
import { factRows, type FactFormat } from '../../text/facts.ts'
import { utcText } from '../../text/time.ts'
import { printable, type Paint } from '../paint.ts'
import { hanging, wrapped } from '../wrapped.ts'

/** Longer lines are hard to read, however wide the terminal is. */
const MOST_WIDTH = 100
const FORMAT: FactFormat = { moment: utcText, celsius: (value) => `${value.toFixed(0)} °C` }

const rankLine = ({ rank, culprit, gpu, host, elsewhere, container, pid, waits_for: waits, stands_at: stands }: HangRank): string =>
  `  ${culprit === true ? '*' : ' '}${printable(
    [
      `rank ${rank}`,
      elsewhere === true ? `host ${host ?? 'unknown'}` : undefined,
      gpu === undefined ? undefined : `GPU ${gpu}`,
      container,
      pid === undefined ? undefined : `pid ${pid}`,
      waits === undefined ? undefined : `waits for ${waits}`,
      stands === undefined ? undefined : `at ${stands}`,
    ]
      .filter((part) => part !== undefined)
      .join(', '),
  )}`

export function incidentPage(incident: Incident, host: string, paint: Paint, terminal?: number): string {
  const width = Math.min(terminal ?? MOST_WIDTH, MOST_WIDTH)
  const { id, kind, severity, status, title, verdict, confidence, facts, remedies, consequences, evidence, count, occurrences = [], actions = [] } = incident
  const rows = (pairs: readonly (readonly [name: string, text: string])[]): readonly string[] => {
    const longest = Math.max(0, ...pairs.map(([name]) => name.length))
    return pairs.map(
      ([name, text]) => `  ${paint('dim', name.padEnd(longest))}  ${printable(wrapped(text, Math.max(40, width), ' '.repeat(longest + 4))).trimStart()}`,
    )
  }
  const part = (name: string, lines: readonly string[]): readonly string[] => (lines.length === 0 ? [] : ['', paint('strong', name), ...lines])
  const out = [
    `${paint(severity, severity.toUpperCase())}  ${paint('strong', printable(title))}`,
    ...rows([
      ['status', `${status}${incident.resolved_at === undefined ? '' : ` ${utcText(incident.resolved_at)}`}`],
      ['began', `${utcText(incident.started_at)}${count === 1 ? '' : `, seen ${count} times, last ${utcText(incident.last_seen_at)}`}`],
      ['affected', `${subjectText(incident)}${incident.subject.host === undefined ? `, host ${host}` : ''}`],
      ['kind', `${kind}, incident ${id}`],
      ...incidentContext(incident).map(([name, text]) => [name.toLowerCase(), text] as const),
    ]),
    '',
    printable(wrapped(verdict, width)),
    ...(confidence === undefined ? [] : [paint('dim', `confidence: ${CONFIDENCE_TEXTS[confidence]}`)]),
    ...part(
      'What to do',
      remedies.flatMap(({ text, command }, i) => [
        `  ${i + 1}. ${printable(wrapped(text, width, '     ')).trimStart()}`,
        ...(command === undefined ? [] : command.split('\n').map((each) => `     ${paint('command', printable(each))}`)),
      ]),
    ),
    ...part(
      'Actions',
      actions.flatMap((done) => [
        `  ${utcText(done.at)}  ${printable(`${done.action} ${actionText(done)}`)}`,
        ...(done.output === undefined ? [] : done.output.split('\n').map((each) => `    ${paint('dim', printable(each))}`)),
      ]),
    ),
    ...part('Ranks', (facts.ranks ?? []).map(rankLine)),
    ...part('Figures', rows(factRows(facts, FORMAT, kind).map(({ label, value }) => [label, value] as const))),
    ...part(
      'What followed from it',
      consequences.map(
        (one) => `  ${utcText(one.first_seen_at)}  ${printable(one.title)}${one.container === undefined ? '' : ` in ${printable(one.container)}`}`,
      ),
    ),
    ...part(
      'Log',
      writtenLines(evidence.log_lines).map(({ text, matched }) => {
        const shown = text
          .split('\n')
          .map((line) => hanging(`    ${printable(line)}`, terminal, '      '))
          .join('\n')
          .slice(4)
        return matched === true ? `  ${paint(severity, '>')} ${shown}` : `    ${paint('dim', shown)}`
      }),
    ),
    ...part(
      'Processes on the GPU',
      evidence.processes.map(({ pid, process, container, gpu, gpu_memory_bytes: bytes }) => {
        const where = [process, container === undefined ? undefined : `container ${container}`, gpu === undefined ? undefined : `GPU ${gpu}`]
        return `  ${String(pid).padStart(8)}  ${bytesText(bytes).padStart(10)}  ${printable(where.filter((one) => one !== undefined).join(', '))}`
      }),
    ),
    ...part(
      'Earlier occurrences',
      occurrences.map(({ at, pid, title: what }) =>
        hanging(`  ${utcText(at)}${pid === undefined ? '' : `  pid ${pid}`}  ${printable(what)}`, terminal, '    '),
      ),
    ),
    '',
    paint('dim', `Readings and container settings: warpwatch incidents ${id} --markdown`),
  ]
  return `${out.join('\n')}\n`
}
