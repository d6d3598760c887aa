// What the agent asks of the process that looks at a job, and what comes back: one JSON text each way.
import * as z from 'zod/mini'
import { MOST_EVIDENCE } from '../../model/hosts.ts'

/** The table of ranks, and the evidence for other hosts. */
const MOST_REPLY = 6_000_000
const text = z.string().check(z.maxLength(2_000))
const texts = z.array(text).check(z.maxLength(256))
const pid = z.int().check(z.positive())

export const lookRequest = z.object({
  /** Processes below which the ranks are: the first of a container, a launcher. */
  roots: z.array(pid).check(z.maxLength(256)),
  /** Of other jobs on this host: theirs with the same address of a master are of this job too. */
  others: z.array(pid).check(z.maxLength(256)),
  /** A log file, where the job is known by nothing else: its writers are the job. */
  path: z.optional(text),
  /** Between the two looks. */
  seconds: z.number(),
  /** The newest lines of its log. */
  log: z.array(z.string()).check(z.maxLength(4_096)),
  silence: z.object({ seconds: z.number(), usualSeconds: z.optional(z.number()), since: z.number(), by: z.enum(['log', 'gpu']), busyWith: z.optional(text) }),
  /** By pid. */
  gpus: z.record(
    z.string(),
    z.object({ gpu: z.int(), busy: z.optional(z.number()), memory: z.optional(z.number()), watts: z.optional(z.number()), limitWatts: z.optional(z.number()) }),
  ),
  /** Names of containers by the pid of their first process. */
  containers: z.record(z.string(), text),
  ras: z.boolean(),
  /** Whether to ask ranks for dumps where the job has set up the pipe for it. */
  pipes: z.boolean(),
  /** Where dumps are copied to. */
  copyTo: z.optional(text),
})
export type LookRequest = z.infer<typeof lookRequest>

/** This one, and as many as can be named under `hosts`, with room. */
const MOST_HOSTS = 64
/** Evidence of several hosts, of this one first, to be judged together. */
export const joinRequest = z.object({ join: z.array(z.string().check(z.maxLength(MOST_EVIDENCE))).check(z.maxLength(MOST_HOSTS)) })
export type JoinRequest = z.infer<typeof joinRequest>

const rank = z.object({
  rank: z.int(),
  culprit: z.optional(z.literal(true)),
  gpu: z.optional(text),
  host: z.optional(text),
  elsewhere: z.optional(z.literal(true)),
  container: z.optional(text),
  pid: z.optional(pid),
  waits_for: z.optional(text),
  since_ms: z.optional(z.number()),
  stands_at: z.optional(text),
  calls: z.optional(z.record(text, text)),
})
const frame = z.object({ file: text, line: z.int(), function: text })
const loop = z.object({
  pid,
  rank: z.int(),
  /** Its stacks in this look, outermost frame first. */
  stacks: z.array(z.array(frame).check(z.maxLength(64))).check(z.maxLength(4)),
  moves: z.boolean(),
  /** CPU time of its main thread and its waits for a processor since it began, seconds. */
  wanted: z.optional(z.number()),
  work: z.object({ cpuSeconds: z.number(), bytes: z.number(), faults: z.number(), memory: z.number() }),
})
export type LoopLook = z.infer<typeof loop>
export const lookReply = z.object({
  verdict: z.enum(['hang', 'straggler', 'slow_phase', 'healthy', 'resumed', 'unknown']),
  text,
  cause: text,
  confidence: z.enum(['read', 'computed', 'likely']),
  culprits: z.array(z.int()).check(z.maxLength(65_536)),
  waits_in: z.optional(text),
  stands_at: texts,
  call_sites: texts,
  ranks: z.array(rank).check(z.maxLength(256)),
  remedies: texts,
  evidence: texts,
  problems: texts,
  /** What those do that hold it up. */
  doing: texts,
  /** Other ranks of this host wait for them. */
  waited_for: z.boolean(),
  /** All ranks of the job are on this host. */
  complete: z.boolean(),
  /** Of those that hold it up and of their children, since they began; without any, of all ranks. */
  work: z.object({ cpuSeconds: z.number(), bytes: z.number(), faults: z.number(), memory: z.number() }),
  /** The process that computes on the CPU and that nothing shows to do more; it may loop without end. */
  loop: z.optional(loop),
  /** Where those stand that hold it up, without ranks: the same in each look where nothing moves. */
  place: text,
  /** Of a job with ranks on other hosts: where its ranks meet, and what was found out here, for the agents there. */
  elsewhere: z.exactOptional(z.object({ master: text, evidence: z.string().check(z.maxLength(MOST_EVIDENCE)) })),
})
export type LookReply = z.infer<typeof lookReply>

export const parseReply = (json: string): LookReply => {
  if (json.length > MOST_REPLY) throw new Error(`the look at the job answered with ${json.length} characters: expected at most ${MOST_REPLY}`)
  const value: unknown = JSON.parse(json)
  return lookReply.parse(value)
}
