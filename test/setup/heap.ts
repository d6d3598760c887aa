// Weighs what lives in the heap of a running agent, after a collection: what a process holds of memory tells how lately it collected.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import * as z from 'zod'
import type { RunningAgent } from './agent.ts'
import { poll } from './poll.ts'

/** For the environment of an agent that writes what lives in its heap into a folder when asked by a signal. */
export function observed(): { readonly folder: string; readonly env: Readonly<Record<string, string>> } {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-heap-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return { folder, env: { NODE_OPTIONS: `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${folder}` } }
}

const heap = z.object({ snapshot: z.object({ meta: z.object({ node_fields: z.array(z.string()) }) }), nodes: z.array(z.number()) })

/** Bytes that live in the agent's heap. It stands still meanwhile. */
export async function liveBytes(agent: RunningAgent, folder: string): Promise<number> {
  const before = new Set(readdirSync(folder))
  process.kill(agent.pid, 'SIGUSR2')
  const { snapshot, nodes } = await poll(
    () => {
      const made = readdirSync(folder).find((name) => !before.has(name))
      if (made === undefined) return undefined
      try {
        return heap.parse(JSON.parse(readFileSync(join(folder, made), 'utf8')))
      } catch {
        return undefined // not whole yet
      }
    },
    { what: 'a heap snapshot', everyMs: 500, deadlineMs: 30_000 },
  )
  const fields = snapshot.meta.node_fields
  const size = fields.indexOf('self_size')
  let sum = 0
  for (let at = size; at < nodes.length; at += fields.length) sum += nodes[at] ?? 0
  return sum
}
