// Which part of the agent its time goes to: a CPU profile of the agent run from its sources, summed by folder.
import { readFileSync } from 'node:fs'
import * as z from 'zod'

const profile = z.object({
  nodes: z.array(
    z.object({
      id: z.int(),
      callFrame: z.object({ functionName: z.string(), url: z.string() }),
      children: z.array(z.int()).optional(),
    }),
  ),
  samples: z.array(z.int()),
  timeDeltas: z.array(z.int()),
})

/** The first that a path matches; a sample is counted for the innermost frame of the agent's own, so that a read counts for its reader. */
const PARTS: readonly (readonly [string, RegExp])[] = [
  ['sampler: calls of NVML', /\/agent\/nvml\//],
  ['sampler and IPC', /\/agent\/(?:sampler|sources\/gpu)/],
  ['containers, cgroups and /proc', /\/agent\/(?:collectors|attribution|inventory|sources\/(?:containers|processes|device-access|host|pod-resources))/],
  ['engine streams and logs', /\/agent\/sources\/(?:container-logs|logs|log-files|journald)/],
  ['kernel log', /\/agent\/sources\/kernel-log/],
  ['inference servers', /\/agent\/(?:servers|sources\/inference-servers)/],
  ['jobs, progress, hangs', /\/agent\/(?:jobs|progress|hang|sources\/(?:jobs|job-progress))/],
  ['history', /\/agent\/store\/history/],
  ['other stores', /\/agent\/store\//],
  ['diagnosis', /\/agent\/diagnosis\//],
  ['exposition', /\/agent\/http\/exposition/],
  ['views, stream and HTTP', /\/agent\/(?:http|sinks)\//],
  ['timer grid and pipeline', /\/agent\/(?:pipeline|wiring|lib)/],
  ['the rest of the agent', /\/agent\//],
]

export type Part = { readonly part: string; readonly share: number }

/** Shares of the time in which the thread was busy, without the first `startS` seconds, in which modules are loaded. */
export function partsOf(path: string, startS: number): readonly Part[] {
  const { nodes, samples, timeDeltas } = profile.parse(JSON.parse(readFileSync(path, 'utf8')))
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ id, children }) => (children ?? []).map((child) => [child, id] as const)))
  const partOf = (sample: number): string | undefined => {
    const name = byId.get(sample)?.callFrame.functionName
    if (name === '(idle)') return undefined
    if (name === '(garbage collector)') return 'garbage collection'
    for (let at: number | undefined = sample; at !== undefined; at = parents.get(at)) {
      const url = byId.get(at)?.callFrame.url ?? ''
      const found = PARTS.find(([, pattern]) => pattern.test(url))
      if (found !== undefined) return found[0]
    }
    return 'Node itself: timers, streams, modules'
  }
  const spent = new Map<string, number>()
  let at = 0
  for (const [i, sample] of samples.entries()) {
    const us = timeDeltas[i] ?? 0
    at += us
    const part = at < startS * 1e6 ? undefined : partOf(sample)
    if (part !== undefined) spent.set(part, (spent.get(part) ?? 0) + us)
  }
  const busy = [...spent.values()].reduce((all, each) => all + each, 0)
  return [...spent].map(([part, us]) => ({ part, share: us / busy })).sort((a, b) => b.share - a.share)
}
