// Jobs that stop: notices them by their own rhythm, has their processes looked at by a process of its own, and says who holds each up.
import { join } from 'node:path'
import { askLook, type AskLook } from '../hang/live/ask.ts'
import type { LookReply, LookRequest } from '../hang/live/request.ts'
import type { Inventory } from '../inventory/inventory.ts'
import { gpuSpinning } from '../metrics/gpu-spinning.ts'
import type { HangEvent } from '../model/event.ts'
import type { HangEvidence } from '../model/hosts.ts'
import type { RunningRun } from '../model/job.ts'
import { createSeriesCache } from '../model/series.ts'
import type { Log, Source } from '../model/source.ts'
import type { LatestStore } from '../store/latest.ts'
import { messageOf } from '../text/error.ts'
import { defineSource } from './definition.ts'
import { createGpuLoads, spinReadings, type GpuState } from './hangs/gpu-loads.ts'
import { jobsNow, type WatchedJob } from './hangs/jobs.ts'
import { loopEvent } from './hangs/loop-event.ts'
import { createEntry, dueOf, follow, type Due, type Entry } from './hangs/watch.ts'
import type { ProgressBook } from './logs/progress-book.ts'

const ID = 'hangs'
const EVERY_MS = 2_000
/** Looks under way at a time: each costs a process, which sleeps for most of its time. When shared storage goes away, all jobs of a host stop at once. */
const AT_ONCE = 8
const MOST_JOBS = 512
/** How many times a job is looked at again soon while the agents of its other hosts have no evidence yet; there may be no agent. */
const SOON_AGAIN = 3
/** A job that is not named any more has ended; for so long its log may only be between two files. */
const GONE_MS = 15_000

export type HangsOptions = {
  readonly progress: Pick<ProgressBook, 'jobs' | 'lastLines'>
  readonly running: () => readonly RunningRun[]
  readonly latest: Pick<LatestStore, 'of'> & { readonly inventory: Pick<Inventory, 'containers' | 'processes'> }
  readonly afterMs: number
  readonly lookMs: number
  readonly ras: boolean
  readonly pipes: boolean
  /** Where dumps are kept; undefined: nowhere. */
  readonly folder: string | undefined
  /** Of jobs with ranks on other hosts. */
  readonly hosts: Pick<HangEvidence, 'share' | 'elsewhere'>
  readonly ask?: AskLook
}

export function createHangsSource(options: HangsOptions): Source {
  const { progress, running, latest, hosts, ask = askLook } = options
  const entries = new Map<string, Entry>()
  const loads = createGpuLoads(latest)
  const seriesFor = createSeriesCache()
  let looking = 0
  let stopped = false

  const requestOf = ({ job, still }: Entry, t: number, { by, silentMs }: Due, gpus: ReadonlyMap<string, GpuState>): LookRequest => {
    const boxes = [...latest.inventory.containers()].flatMap(({ name, pid }) => (pid === undefined ? [] : [{ name, pid: Number(pid) }]))
    const held = latest.inventory.processes()
    const own = boxes.filter(({ name }) => name === job.container).map(({ pid }) => pid)
    const uuids = new Set(job.run?.gpus.map(({ uuid }) => uuid))
    const holders = held.filter(({ uuid, pid }) => uuids.has(uuid) && (job.container === undefined || own.length === 0 || pid > 0))
    const root = job.run?.container === undefined ? job.run?.pid : undefined
    return {
      roots: own.length > 0 ? own : root !== undefined ? [root] : [...new Set(holders.map(({ pid }) => pid))],
      others: boxes.filter(({ name }) => name !== job.container).map(({ pid }) => pid),
      ...(job.path === undefined ? {} : { path: job.path }),
      seconds: options.lookMs / 1000,
      log: [...progress.lastLines(job.key)],
      silence: {
        seconds: silentMs / 1000,
        ...(by === 'quiet' ? {} : { usualSeconds: (still.usual() ?? 0) / 1000 }),
        since: (t - silentMs) / 1000,
        by: job.by,
        ...(job.busyWith === undefined ? {} : { busyWith: job.busyWith }),
      },
      gpus: Object.fromEntries(
        held.flatMap(({ pid, uuid, gpu }) => {
          const load = gpus.get(uuid)
          return load === undefined
            ? []
            : [
                [
                  String(pid),
                  {
                    gpu: Number(gpu),
                    busy: Math.round(load.busy * 100),
                    memory: Math.round(load.memory * 100),
                    ...(load.watts === undefined ? {} : { watts: load.watts }),
                    ...(load.limitWatts === undefined ? {} : { limitWatts: load.limitWatts }),
                  },
                ],
              ]
        }),
      ),
      containers: Object.fromEntries(boxes.map(({ name, pid }) => [String(pid), name])),
      ras: options.ras,
      pipes: options.pipes,
      ...(options.folder === undefined
        ? {}
        : { copyTo: join(options.folder, `${job.name.replace(/[^\w.-]/g, '_').slice(0, 60)}-${Math.round((t - silentMs) / 1000)}`) }),
    }
  }

  /** With what the agents of the other hosts found out about their ranks of the same job, where they did. */
  const withOtherHosts = async (reply: LookReply, entry: Entry): Promise<LookReply> => {
    if (reply.elsewhere === undefined) return reply
    const { master, evidence } = reply.elsewhere
    hosts.share(master, evidence)
    const others = await hosts.elsewhere(master)
    entry.unanswered = others.length === 0 ? entry.unanswered + 1 : 0
    // What others sent and cannot be judged takes nothing away from what is known here.
    return others.length === 0 ? reply : ask({ join: [evidence, ...others] }).catch(() => reply)
  }

  return {
    id: ID,
    metrics: [gpuSpinning],
    start({ emit, every, log }) {
      const over = (entry: Entry, t: number, text: string): void => {
        if (entry.reported === undefined) return
        emit({ ...entry.reported, t, state: 'over', text })
        entry.reported = undefined
      }
      const lookAt = async (entry: Entry, t: number, due: Due, gpus: ReadonlyMap<string, GpuState>): Promise<void> => {
        looking += 1
        entry.looking = true
        try {
          const begunFor = entry.job.progressedAt
          const reply = await withOtherHosts(await ask(requestOf(entry, t, due, gpus)), entry)
          // It went on meanwhile, or has ended.
          if (
            stopped ||
            entries.get(entry.job.key) !== entry ||
            (entry.job.by === 'gpu' && due.by === 'quiet' ? entry.job.computes === true : entry.job.progressedAt !== begunFor)
          )
            return
          const now = Date.now()
          const hangs = entry[due.by].looked(now, reply, t)
          // The agents of the other hosts look within seconds of this one.
          if (hangs && entry.unanswered > 0 && entry.unanswered <= SOON_AGAIN) entry[due.by].later(now)
          const loop = entry.quiet.loops()
          if (hangs && reply.verdict === 'hang') emit((entry.reported = eventOf(entry.job, reply, now, t - due.silentMs)))
          else if (due.by === 'quiet' && loop !== undefined) emit((entry.reported = loopEvent(eventOf(entry.job, reply, now, t - due.silentMs), loop)))
        } catch (error) {
          entry[due.by].later(Date.now())
          complain(entry, log, messageOf(error).split('\n')[0] ?? '')
        } finally {
          looking -= 1
          entry.looking = false
        }
      }
      every(EVERY_MS, (t) => {
        const begunAt = performance.now()
        const gpus = loads.see(t)
        emit({
          type: 'scrape',
          t,
          source: ID,
          group: '',
          ttlMs: 3 * EVERY_MS,
          durationMs: performance.now() - begunAt,
          readings: spinReadings(gpus.values(), seriesFor),
          gaps: [],
        })
        for (const job of jobsNow(t, progress.jobs(), running(), gpus)) {
          let entry = entries.get(job.key)
          if (entry === undefined) {
            if (entries.size >= MOST_JOBS) continue
            entries.set(job.key, (entry = createEntry(job, t, options.afterMs)))
          }
          entry.job = job
          entry.seenAt = t
          follow(entry, t)
          if (entry.reported !== undefined && !entry.still.hangs() && !entry.quiet.hangs() && entry.quiet.loops() === undefined)
            over(entry, t, 'it makes progress again')
        }
        for (const [key, entry] of entries) {
          if (t - entry.seenAt > GONE_MS || (entry.reported !== undefined && hasEnded(entry.job, latest.inventory))) {
            over(entry, t, 'it has ended')
            entries.delete(key)
            continue
          }
          if (entry.looking || looking >= AT_ONCE || entry.job.done) continue
          const due = dueOf(entry, t)
          if (due !== undefined && !hasEnded(entry.job, latest.inventory)) void lookAt(entry, t, due, gpus)
        }
      })
    },
    stop() {
      stopped = true
    },
  }
}

/** Of a container only: a log file stays when its job has ended. */
function hasEnded({ container }: WatchedJob, inventory: Pick<Inventory, 'containers'>): boolean {
  return container !== undefined && ![...inventory.containers()].some(({ name, pid }) => name === container && pid !== undefined)
}

function complain(entry: Entry, log: Log, text: string): void {
  if (entry.complained === text) return
  entry.complained = text
  log.warn(`${entry.job.name} has said nothing of its progress for long, and could not be looked at: ${text}`)
}

function eventOf({ name, container }: WatchedJob, reply: LookReply, t: number, since: number): HangEvent {
  return {
    type: 'hang',
    t,
    job: name,
    ...(container === undefined ? {} : { container }),
    state: 'hangs',
    since: Math.round(since),
    text: reply.text,
    cause: reply.cause,
    confidence: reply.confidence,
    culprits: reply.culprits,
    ...(reply.waits_in === undefined ? {} : { waits_in: reply.waits_in }),
    stands_at: reply.stands_at,
    call_sites: reply.call_sites,
    ranks: reply.ranks,
    remedies: reply.remedies,
    evidence: reply.evidence,
  }
}

export const hangs = defineSource({
  id: ID,
  metrics: [gpuSpinning],
  needs: ['config', 'jobs', 'progress', 'latest', 'hangEvidence'],
  create({ config, jobs, progress, latest, hangEvidence }) {
    if (!config.hangs.enabled || config.simulate.scenario !== 'off' || process.platform !== 'linux') return undefined
    return createHangsSource({
      progress,
      latest,
      running: jobs.running,
      hosts: hangEvidence,
      afterMs: config.hangs.after,
      lookMs: config.hangs.look,
      ras: config.hangs.ras,
      pipes: config.hangs.ask_for_dumps,
      folder: config.hangs.keep_dumps ? join(config.data_dir, 'hangs') : undefined,
    })
  },
})
