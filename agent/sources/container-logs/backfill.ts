// Containers that ended while nobody looked: what they said last is still with the engine.
import * as z from 'zod/mini'
import { createEngineClient } from '../containers/engine.ts'
import { fromList } from '../containers/engine-container.ts'
import { listSchema } from '../containers/engine-schema.ts'
import type { ContainerIdentity } from '../../model/identity.ts'

const inspected = z.object({ State: z.object({ FinishedAt: z.nullish(z.string()), Running: z.nullish(z.boolean()) }) })
/** The newest; older ones ended before the agent did, or nobody asks for them any more. */
const MAX_ASKED = 256
const PARALLEL = 4
const TIMEOUT_MS = 10_000

/** Containers that ended after `sinceMs` (Unix), with what the engine calls them. */
export async function endedSince(socketPath: string, sinceMs: number, signal: AbortSignal): Promise<readonly ContainerIdentity[]> {
  const client = createEngineClient({ socketPath, timeoutMs: TIMEOUT_MS })
  const end = (): void => client.close()
  signal.addEventListener('abort', end, { once: true })
  try {
    const filters = encodeURIComponent(JSON.stringify({ status: ['exited', 'dead'] }))
    const listed = (await client.ask(`/containers/json?all=1&filters=${filters}`, listSchema)) ?? []
    const found: ContainerIdentity[] = []
    const next = listed.slice(0, MAX_ASKED).values()
    const worker = async (): Promise<void> => {
      for (const container of next) {
        if (signal.aborted) return
        // Removed meanwhile, or of an unknown form: the others are still worth asking for.
        const state = (await client.ask(`/containers/${container.Id}/json`, inspected).catch(() => undefined))?.State
        if (state === undefined || state.Running === true) continue
        if (Date.parse(state.FinishedAt ?? '') >= sinceMs) found.push(fromList(container).identity)
      }
    }
    await Promise.all(Array.from({ length: PARALLEL }, worker))
    return found
  } finally {
    signal.removeEventListener('abort', end)
    client.close()
  }
}
