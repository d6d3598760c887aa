// The parts of the Engine API's answers that we read, checked at the border; fields that we do not name may be anything.
import * as z from 'zod/mini'

/** Engines send null where others leave out; both mean that it is not reported. */
const text = z.nullish(z.string())
const texts = z.nullish(z.array(z.string()))
const labels = z.nullish(z.record(z.string(), z.string()))
const id = z.string().check(z.regex(/^[0-9a-f]{64}$/))

export const listSchema = z.array(z.object({ Id: id, Names: texts, Image: text, Labels: labels, State: text }))

export const inspectSchema = z.object({
  Id: id,
  Name: text,
  RestartCount: z.nullish(z.number()),
  State: z.object({
    Status: text,
    Running: z.nullish(z.boolean()),
    Pid: z.nullish(z.number()),
    StartedAt: text,
    FinishedAt: text,
    ExitCode: z.nullish(z.number()),
    OOMKilled: z.nullish(z.boolean()),
    Error: text,
  }),
  Config: z.nullish(z.object({ Image: text, Env: texts, Labels: labels })),
  HostConfig: z.nullish(
    z.object({
      Runtime: text,
      Privileged: z.nullish(z.boolean()),
      Memory: z.nullish(z.number()),
      ShmSize: z.nullish(z.number()),
      IpcMode: text,
      DeviceRequests: z.nullish(
        z.array(z.object({ Driver: text, Count: z.nullish(z.number()), DeviceIDs: texts, Capabilities: z.nullish(z.array(z.array(z.string()))) })),
      ),
      Devices: z.nullish(z.array(z.object({ PathOnHost: text }))),
    }),
  ),
})

/** Docker and Podman's compatible form. `timeNano` is above 2^53, so it is good for an order, not to the nanosecond. */
export const eventSchema = z.object({
  Type: z.nullish(z.string()),
  Action: z.string(),
  Actor: z.object({ ID: z.string(), Attributes: z.nullish(z.record(z.string(), z.string())) }),
  time: z.nullish(z.number()),
  timeNano: z.nullish(z.number()),
})

export type ListedContainer = z.infer<typeof listSchema>[number]
export type InspectedContainer = z.infer<typeof inspectSchema>
export type EngineEvent = z.infer<typeof eventSchema>

/** Where an answer departs from the form, in one line. zod/mini brings no sentences of its own. */
export function describeIssues(error: z.core.$ZodError): string {
  const issue = error.issues[0]
  if (issue === undefined) return 'of an unknown form'
  const where = issue.path.length === 0 ? 'the whole answer' : issue.path.join('.')
  return `${where}: expected ${'expected' in issue ? issue.expected : issue.code === 'invalid_format' ? 'an id of 64 hex digits' : `another value (${issue.code})`}`
}
