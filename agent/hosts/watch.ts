// Asks the other hosts how they are, each by itself so that a slow one costs the others nothing, and only while someone looks.
import type { HostConfig } from '../config/sections/hosts.ts'
import type { ProxyFor } from '../lib/proxy.ts'
import type { HostEntry, HostSummary } from '../model/hosts.ts'
import { parseSummary } from './summary.ts'
import { createHostLink, type HostLink } from './link.ts'

export type HostWatch = {
  /** In the order of the configuration. Asking for them keeps them asked for a while. */
  readonly entries: () => readonly HostEntry[]
  readonly link: (name: string) => HostLink | undefined
  readonly links: () => readonly HostLink[]
  readonly close: () => void
}
export type HostWatchOptions = {
  readonly hosts: readonly HostConfig[]
  readonly proxyFor?: ProxyFor
  readonly now?: () => number
  /** Called with each answer, or its lack. */
  readonly changed?: () => void
}

/** With the time-out a dead host is known as such within 4 s, and in a page that looks each second within 5. Oftener would be the most that looking costs. */
const EVERY_MS = 1_900
const ANSWER_WITHIN_MS = 2_000
const MAX_BYTES = 64 * 1024
/** Nobody has looked for so long. */
const IDLE_MS = 30_000

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  401: 'the token is wrong or missing (hosts: token)',
  403: 'it refuses this host name (http.allowed_hosts there)',
  404: 'its agent is too old to be shown here',
}

function summaryIn(body: Buffer): HostSummary | undefined {
  try {
    return parseSummary(JSON.parse(body.toString()))
  } catch {
    return undefined
  }
}

export function createHostWatch({ hosts, proxyFor, now = Date.now, changed = () => {} }: HostWatchOptions): HostWatch {
  const links = new Map(hosts.map((host) => [host.name, createHostLink(host, proxyFor)]))
  const entries = new Map<string, HostEntry>(hosts.map(({ name }) => [name, { name }]))
  const asking = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let lookedAt = 0

  const ask = async (link: HostLink): Promise<void> => {
    if (asking.has(link.name)) return
    asking.add(link.name)
    const answer = await link.get('/api/v1/summary', { timeoutMs: ANSWER_WITHIN_MS, maxBytes: MAX_BYTES })
    asking.delete(link.name)
    if (timer === undefined) return
    const before: HostEntry = entries.get(link.name) ?? { name: link.name }
    const { problem: _problem, ...known } = before
    const failed = (problem: string): HostEntry => ({ ...known, problem: problem.slice(0, 300) })
    if ('problem' in answer) entries.set(link.name, failed(answer.problem))
    else if (answer.status !== 200) entries.set(link.name, failed(STATUS_TEXTS[answer.status] ?? `it answered with status ${answer.status}`))
    else {
      const summary = summaryIn(answer.body)
      entries.set(
        link.name,
        summary === undefined ? failed('it answered in a form that this version does not know') : { name: link.name, summary, seen_at: now() },
      )
    }
    changed()
  }
  const stop = (): void => {
    clearInterval(timer)
    timer = undefined
  }
  const round = (): void => {
    if (now() - lookedAt > IDLE_MS) return stop()
    for (const link of links.values()) void ask(link)
  }
  return {
    entries() {
      lookedAt = now()
      if (timer === undefined && links.size > 0) {
        timer = setInterval(round, EVERY_MS)
        timer.unref()
        round()
      }
      return [...entries.values()]
    },
    link: (name) => links.get(name),
    links: () => [...links.values()],
    close() {
      stop()
      for (const link of links.values()) link.close()
    },
  }
}
