// Which part of the agent its time goes to: a CPU profile of the agent run from its sources, summed by folder, or by the callers of what ran.
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

type Sampled = { readonly name: string; readonly us: number; readonly stack: readonly string[] }
/** Without the first `startS` seconds, in which modules are loaded, and without the time in which nothing ran. `stack`: the files, the innermost first. */
function sampledIn(path: string, startS: number): readonly Sampled[] {
  const { nodes, samples, timeDeltas } = profile.parse(JSON.parse(readFileSync(path, 'utf8')))
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ id, children }) => (children ?? []).map((child) => [child, id] as const)))
  const stacks = new Map<number, readonly string[]>()
  const stackOf = (sample: number): readonly string[] => {
    const known = stacks.get(sample)
    if (known !== undefined) return known
    const stack: string[] = []
    for (let at: number | undefined = sample; at !== undefined; at = parents.get(at)) stack.push(byId.get(at)?.callFrame.url ?? '')
    stacks.set(sample, stack)
    return stack
  }
  let at = 0
  return samples.flatMap((sample, i) => {
    const us = timeDeltas[i] ?? 0
    at += us
    const name = byId.get(sample)?.callFrame.functionName ?? ''
    return at < startS * 1e6 || name === '(idle)' ? [] : [{ name, us, stack: stackOf(sample) }]
  })
}

/** Shares of the time in which the thread was busy. */
export function partsOf(path: string, startS: number): readonly Part[] {
  const partOf = ({ name, stack }: Sampled): string => {
    if (name === '(garbage collector)') return 'garbage collection'
    for (const url of stack) {
      const found = PARTS.find(([, pattern]) => pattern.test(url))
      if (found !== undefined) return found[0]
    }
    return 'Node itself: timers, streams, modules'
  }
  const spent = new Map<string, number>()
  for (const sampled of sampledIn(path, startS)) {
    const part = partOf(sampled)
    spent.set(part, (spent.get(part) ?? 0) + sampled.us)
  }
  const busy = [...spent.values()].reduce((all, each) => all + each, 0)
  return [...spent].map(([part, us]) => ({ part, share: us / busy })).sort((a, b) => b.share - a.share)
}

/**
 * CPU time in which any of these files was running or waited for what it had called, of a thread that took `cpuUs` in all. No caller is known of garbage collection: each
 * part of the time has its share of it. What the profile says is time on the clock: on a busy machine less of it is CPU time.
 */
export function cpuUnder(path: string, startS: number, files: RegExp, cpuUs: number): number {
  // `(program)` is native code outside of calls: in a thread without V8's idle marks also its waiting.
  const all = sampledIn(path, startS).filter(({ name }) => name !== '(program)')
  const known = all.filter(({ name }) => name !== '(garbage collector)')
  const sum = (of: readonly Sampled[]): number => of.reduce((total, { us }) => total + us, 0)
  const under = (sum(all) * sum(known.filter(({ stack }) => stack.some((url) => files.test(url))))) / sum(known)
  return under * Math.min(1, cpuUs / sum(all))
}
