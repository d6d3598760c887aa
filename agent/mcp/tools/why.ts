// Why something failed or fires: an incident, a job, a pasted log, or without either what is wrong on the host now.
import * as z from 'zod'
import { redactDeep } from '../../lib/redact.ts'
import { inLine, LOG_HEADING, quoted } from '../answer.ts'
import { headLine, incidentText } from '../incident-text.ts'
import { incident, job, rowsOf } from '../rows.ts'
import { tool, type Ask } from '../tool.ts'

/** Read at once on the agent's only thread: 64 KiB take less than 100 ms. */
const MAX_TEXT = 64 * 1024
const MAX_WHOLE = 2
const RECENT = 20
const RANK: Readonly<Record<string, number>> = { critical: 0, warning: 1, info: 2 }

async function ofText(text: string): Promise<readonly string[]> {
  const [{ explainText }, { logScanner }] = await Promise.all([import('../../diagnosis/explain.ts'), import('../../diagnosis/log-scanner.ts')])
  const [root, ...rest] = redactDeep(explainText(logScanner(), text))
  if (root === undefined) return ['Nothing in this text is a fault that is known. Give more of the log: the first error, and the lines before it.']
  return [
    `${root.severity} ${root.kind}: ${inLine(root.title, 200)}`,
    `Cause: ${inLine(root.verdict)}`,
    ...root.remedies.map(({ text: what, command }, i) => `Remedy ${i + 1}: ${inLine(what, 400)}${command === undefined ? '' : ` Command: ${quoted(command)}`}`),
    ...(root.evidence.length === 0 ? [] : [LOG_HEADING, ...root.evidence.slice(0, 4).map((one) => `| line ${one.line}: ${quoted(one.text)}`)]),
    ...(rest.length === 0 ? [] : [`Also found: ${rest.map(({ kind }) => kind).join(', ')}`]),
  ]
}

async function ofIncident(id: string, ask: Ask): Promise<readonly string[]> {
  const parsed = incident.safeParse(await ask(`/api/v1/incidents/${encodeURIComponent(id)}`))
  return parsed.success ? incidentText(parsed.data, true) : [`The agent answered in a form that this version does not know.`]
}

async function ofJob(name: string, ask: Ask): Promise<readonly string[]> {
  const rows = await rowsOf(ask, '/api/v1/jobs?limit=1000', job)
  const found = rows.find((row) => row.job === name || row.job_id === name) ?? rows.find((row) => row.job.includes(name))
  if (found === undefined) return [`No job ${JSON.stringify(name)}. Ask jobs for their names.`]
  const { last } = found
  const head = `Job ${inLine(found.job, 80)}, run ${last.run}: ${last.outcome ?? 'running'}${last.reason === undefined ? '' : `. ${inLine(last.reason)}`}`
  const [first, ...others] = last.incidents
  if (first === undefined) return [head, 'No incident belongs to this run.']
  return [head, ...(await ofIncident(first.id, ask)), ...others.map(({ id, kind, title }) => `Also: ${id} ${kind}: ${inLine(title, 200)}`)]
}

/** The worst that fires, else what was last: whole, then the others by a line each. */
async function ofHost(ask: Ask): Promise<readonly string[]> {
  const found = await rowsOf(ask, `/api/v1/incidents?limit=${RECENT}`, incident)
  const firing = found.filter(({ status }) => status === 'firing')
  if (found.length === 0) return ['Nothing is wrong: no incident fires, and none was seen. Ask doctor to check the set-up of the host.']
  const order = (firing.length > 0 ? firing : found).toSorted(
    (a, b) =>
      (RANK[a.severity] ?? 3) - (RANK[b.severity] ?? 3) || Number(a.part_of !== undefined) - Number(b.part_of !== undefined) || b.started_at - a.started_at,
  )
  const whole = order.slice(0, MAX_WHOLE)
  return [
    firing.length > 0 ? `${firing.length} firing.` : 'Nothing fires now. The last incidents:',
    ...whole.flatMap((one, i) => ['', ...incidentText(one, i === 0)]),
    ...(order.length > whole.length ? ['', 'Others, by id:'] : []),
    ...order.slice(MAX_WHOLE).map(headLine),
  ]
}

export const why = tool({
  name: 'why',
  title: 'Why',
  description:
    'Why something failed or fires, and what to do: give an incident, a job, or the text of a log. Without any of them: what is wrong on this host now, the worst first.',
  input: {
    incident: z.string().max(100).optional().describe('id of an incident'),
    job: z.string().max(200).optional().describe('name or id of a job'),
    text: z.string().max(MAX_TEXT).optional().describe('text of a log, at most 64 KiB; it is read and not kept'),
  },
  hint: 'Ask for one incident by its id.',
  async run({ incident: id, job: name, text }, ask) {
    if ([id, name, text].filter((given) => given !== undefined).length > 1) throw new Error('give one of incident, job and text')
    if (text !== undefined) return ofText(text)
    if (id !== undefined) return ofIncident(id, ask)
    return name === undefined ? ofHost(ask) : ofJob(name, ask)
  },
})
