// Incidents as zod schemas, for the OpenAPI description and the tests.
import * as z from 'zod'
import { ACTION_STATES } from '../../model/action.ts'
import { CONFIDENCES } from '../../model/confidence.ts'
import { OOM_CAUSES } from '../../model/facts.ts'
import { SEVERITIES } from '../../model/severity.ts'
import { INCIDENT_STATUSES } from '../../model/incident.ts'
import { INCIDENT_KINDS } from '../../model/kinds.ts'

const time = z.int().min(0).describe('Unix ms.')
const kind = z.enum(INCIDENT_KINDS)
const severity = z.enum(SEVERITIES)
const bytes = z.number().min(0)

const subject = z
  .object({
    gpu: z.object({ index: z.int().optional(), uuid: z.string().optional(), name: z.string().optional(), pci_bus_id: z.string().optional() }).optional(),
    container: z
      .object({ name: z.string(), id: z.string().optional(), image: z.string().optional(), namespace: z.string().optional(), pod: z.string().optional() })
      .optional(),
    process: z.object({ pid: z.int(), inner_pid: z.int().optional(), name: z.string().optional() }).optional(),
    host: z.object({ name: z.string() }).optional(),
  })
  .meta({ id: 'IncidentSubject', description: 'Whom it hit; what is not known is absent.' })

const facts = z
  .object({
    causes: z.array(z.enum(OOM_CAUSES)).optional(),
    other_processes: z.array(z.object({ pid: z.int().optional(), bytes })).optional(),
    ranks: z
      .array(
        z.object({
          rank: z.int(),
          culprit: z.literal(true).optional(),
          gpu: z.string().optional(),
          host: z.string().optional(),
          elsewhere: z.literal(true).optional(),
          container: z.string().optional(),
          pid: z.int().optional(),
          waits_for: z.string().optional(),
          since_ms: z.number().optional(),
          stands_at: z.string().optional(),
          calls: z.record(z.string(), z.string()).optional(),
        }),
      )
      .optional(),
  })
  .catchall(z.union([z.number(), z.string(), z.array(z.string())]))
  .meta({ id: 'Facts', description: 'Figures that the text or the numbers state; bytes, milliseconds, seconds as their names say.' })

const link = z.object({ id: z.string(), kind }).meta({ id: 'IncidentLink' })
const consequence = z
  .object({
    kind,
    severity,
    title: z.string(),
    verdict: z.string(),
    facts,
    container: z.string().optional(),
    first_seen_at: time,
    last_seen_at: time,
    count: z.int().min(1),
  })
  .meta({ id: 'Consequence' })

const logLine = z
  .object({ t: time, stream: z.string(), origin: z.string().optional(), text: z.string(), matched: z.literal(true).optional() })
  .meta({ id: 'IncidentLogLine' })
const series = z
  .object({ metric: z.string(), labels: z.record(z.string(), z.string()), t: z.array(time), value: z.array(z.number()) })
  .meta({ id: 'IncidentSeries', description: 'Readings from 120 s before to 30 s after, at full resolution.' })
const processRow = z
  .object({
    pid: z.int(),
    inner_pid: z.int().optional(),
    process: z.string().optional(),
    gpu: z.string().optional(),
    uuid: z.string().optional(),
    container: z.string().optional(),
    namespace: z.string().optional(),
    pod: z.string().optional(),
    slurm_job: z.string().optional(),
    unit: z.string().optional(),
    gpu_memory_bytes: bytes,
  })
  .meta({ id: 'IncidentProcess' })
export const settings = z
  .object({
    memory_limit_bytes: bytes.optional(),
    shm_size_bytes: bytes.optional(),
    ipc_mode: z.string().optional(),
    runtime: z.string().optional(),
    privileged: z.boolean().optional(),
    gpu_request: z.string().optional(),
    gpus: z.array(z.string()).optional(),
    env: z.record(z.string(), z.string()).optional(),
  })
  .meta({ id: 'ContainerSettings' })

const occurrence = z
  .object({ at: time, pid: z.int().optional(), title: z.string(), verdict: z.string(), facts, log_lines: z.array(logLine), series: z.array(series) })
  .meta({ id: 'Occurrence', description: 'An earlier time that the same fault was seen, with its own process, figures, log lines and memory.' })

const action = z
  .object({
    action: z.string(),
    state: z.enum(ACTION_STATES),
    at: time,
    took_ms: z.number().min(0).optional(),
    exit_code: z.int().optional(),
    text: z.string().describe('What was done, or why not.'),
    output: z.string().describe('The end of what the command printed, secrets masked.').optional(),
  })
  .meta({ id: 'ActionResult' })

const common = {
  id: z.string().regex(/^[0-9a-f]{16}$/),
  kind,
  severity,
  status: z.enum(INCIDENT_STATUSES),
  subject,
  title: z.string().min(1),
  verdict: z.string().min(1),
  confidence: z
    .enum(CONFIDENCES)
    .describe('Whether the cause is in the text, follows from figures, or is only likely. Absent from what older versions kept.')
    .optional(),
  facts,
  remedies: z.array(z.object({ text: z.string(), command: z.string().optional() })),
  started_at: time,
  fired_at: time.optional(),
  resolved_at: time.optional(),
  last_seen_at: time,
  occurred_at: time.describe('When the newest occurrence began, which verdict, figures and evidence are of; absent where it is the first.').optional(),
  count: z.int().min(1),
  resolution: z.string().describe('Why it is over, where that is not plain.').optional(),
  consequences: z.array(consequence),
  story: z.string().describe('Id of the incident with which its story began, which may be itself.').optional(),
  part_of: link.describe('What led to it.').optional(),
  led_to: z.array(link).optional(),
  silenced: z.object({ until: time, id: z.string() }).describe('No notifications are sent for it until then, firing or not.').optional(),
  acknowledged: z.object({ at: time, by: z.string().optional(), note: z.string().optional() }).optional(),
}
export const incident = z
  .object({
    ...common,
    occurrences: z.array(occurrence).describe('Earlier occurrences, newest first.').optional(),
    actions: z.array(action).describe('What was done about it.').optional(),
    evidence: z.object({ log_lines: z.array(logLine), series: z.array(series), processes: z.array(processRow), container: settings.optional() }),
  })
  .meta({ id: 'Incident' })
export const incidentSummary = z
  .object({ ...common, evidence: z.object({ log_lines: z.array(logLine) }) })
  .meta({ id: 'IncidentSummary', description: 'An incident without the longer part of its evidence.' })
