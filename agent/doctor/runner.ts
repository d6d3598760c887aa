// Runs checks side by side, each with its time-out, and gathers what they found; a check that fails to look costs the others nothing.
import { redact } from '../lib/redact.ts'
import { CHECK_GROUPS, type CheckReport, type CheckStatus, type DoctorReport, type Finding } from '../model/doctor.ts'
import { messageOf } from '../text/error.ts'
import type { CheckDefinition, Lazily, Surroundings } from './definition.ts'

export type RunOptions = {
  readonly checks: readonly CheckDefinition[]
  readonly around: Surroundings
  readonly host: string
  readonly now?: () => number
}

const TIMEOUT_MS = 2_000
/** More than there are: those that wait for a driver that hangs must not keep the others from looking. */
const PARALLEL = 64
/** A check of 500 containers must not make a report too long to read. */
const MAX_FINDINGS = 200
const MAX_TEXT = 2_000

/** From the worst to what says least. */
const WORST: readonly CheckStatus[] = ['fail', 'warn', 'pass', 'skipped']
export const worst = (statuses: readonly CheckStatus[]): CheckStatus => WORST.find((status) => statuses.includes(status)) ?? 'skipped'

type Watch = { readonly expired: Promise<Finding>; readonly pause: () => void; readonly resume: () => void; readonly stop: () => void }

/** The time that a check itself takes. While it waits for what all share, that has time-outs of its own, and the check's starts over afterwards. */
function watch(timeoutMs: number): Watch {
  const { promise, resolve } = Promise.withResolvers<Finding>()
  let timer: NodeJS.Timeout | undefined
  let waiting = 0
  const begin = (): void => {
    timer = setTimeout(() => resolve({ status: 'skipped', summary: `no answer within ${timeoutMs / 1_000} s: something that it looks at hangs` }), timeoutMs)
  }
  begin()
  return {
    expired: promise,
    pause() {
      waiting++
      clearTimeout(timer)
    },
    resume() {
      if (--waiting === 0) begin()
    },
    stop() {
      waiting = Number.POSITIVE_INFINITY
      clearTimeout(timer)
    },
  }
}

function watched(around: Surroundings, { pause, resume }: Watch): Surroundings {
  const patiently =
    <T>(ask: Lazily<T>): Lazily<T> =>
    async () => {
      pause()
      try {
        return await ask()
      } finally {
        resume()
      }
    }
  return {
    ...around,
    distribution: patiently(around.distribution),
    engine: patiently(around.engine),
    containers: patiently(around.containers),
    nvml: patiently(around.nvml),
    composeFiles: patiently(around.composeFiles),
  }
}

const bounded = (text: string): string => redact(text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text)

/** No secret leaves in what a check quotes. */
function cleaned({ status, subject, summary, detail, remedies, notice }: Finding): Finding {
  return {
    status,
    ...(subject === undefined ? {} : { subject: bounded(subject) }),
    summary: bounded(summary),
    ...(detail === undefined ? {} : { detail: bounded(detail) }),
    ...(remedies === undefined || remedies.length === 0
      ? {}
      : { remedies: remedies.map(({ text, command }) => ({ text: bounded(text), ...(command === undefined ? {} : { command: bounded(command) }) })) }),
    ...(notice === undefined ? {} : { notice }),
  }
}

/** Never rejects. */
export async function runCheck(check: CheckDefinition, around: Surroundings): Promise<CheckReport> {
  const begun = performance.now()
  const clock = watch(check.timeoutMs ?? TIMEOUT_MS)
  let findings: readonly Finding[]
  try {
    // In a turn of its own: a check that throws before its first wait is no different.
    const looked = Promise.resolve().then(async () => await check.run(watched(around, clock)))
    findings = await Promise.race([looked, clock.expired.then((finding) => [finding])])
    if (findings.length === 0) findings = [{ status: 'skipped', summary: 'nothing to look at' }]
  } catch (error) {
    findings = [{ status: 'skipped', summary: messageOf(error) }]
  } finally {
    clock.stop()
  }
  const { id, group, title } = check
  const sorted = [...findings].sort((a, b) => WORST.indexOf(a.status) - WORST.indexOf(b.status))
  return {
    id,
    group,
    title,
    status: worst(sorted.map(({ status }) => status)),
    duration_ms: Math.round(performance.now() - begun),
    findings: sorted.slice(0, MAX_FINDINGS).map(cleaned),
  }
}

/** In the order of the groups. */
export async function runChecks({ checks, around, host, now = Date.now }: RunOptions): Promise<DoctorReport> {
  const t = now()
  const begun = performance.now()
  const ordered = [...checks].sort((a, b) => CHECK_GROUPS.indexOf(a.group) - CHECK_GROUPS.indexOf(b.group))
  const reports: CheckReport[] = []
  let next = 0
  const work = async (): Promise<void> => {
    for (let at = next++; at < ordered.length; at = next++) {
      const check = ordered[at]
      if (check !== undefined) reports[at] = await runCheck(check, around)
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, work))
  const statuses = reports.map(({ status }) => status)
  const count = (wanted: CheckStatus): number => statuses.filter((status) => status === wanted).length
  return {
    version: 1,
    t,
    host,
    status: worst(statuses),
    counts: { pass: count('pass'), warn: count('warn'), fail: count('fail'), skipped: count('skipped') },
    checks: reports,
    duration_ms: Math.round(performance.now() - begun),
  }
}
