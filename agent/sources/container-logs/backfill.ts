// Containers that ended while nobody looked: what they said last is still with the engine.
import { Agent, request } from 'node:http'
import * as z from 'zod/mini'
import { fromList } from '../containers/engine-container.ts'
import { EngineError, toEngineError } from '../containers/engine-error.ts'
import { describeIssues, listSchema } from '../containers/engine-schema.ts'
import type { ContainerIdentity } from '../../model/identity.ts'

const inspected = z.object({ State: z.object({ FinishedAt: z.nullish(z.string()), Running: z.nullish(z.boolean()) }) })
/** The newest; older ones ended before the agent did, or nobody asks for them any more. */
const MAX_ASKED = 256
const PARALLEL = 4
const TIMEOUT_MS = 10_000
const MAX_BODY_BYTES = 16 * 1024 * 1024

/** Containers that ended after `sinceMs` (Unix), with what the engine calls them. */
export async function endedSince(socketPath: string, sinceMs: number, signal: AbortSignal): Promise<readonly ContainerIdentity[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: PARALLEL })
  const ask = async (path: string): Promise<unknown> => await getJson(agent, socketPath, path, signal)
  try {
    const filters = encodeURIComponent(JSON.stringify({ status: ['exited', 'dead'] }))
    const listed = listSchema.safeParse(await ask(`/containers/json?all=1&filters=${filters}`))
    if (!listed.success) throw new EngineError('parse_error', `list of ended containers on ${socketPath}: ${describeIssues(listed.error)}`)
    const found: ContainerIdentity[] = []
    const next = listed.data.slice(0, MAX_ASKED).values()
    const worker = async (): Promise<void> => {
      for (const container of next) {
        // Removed meanwhile, or of an unknown form: the others are still worth asking for.
        const answer = inspected.safeParse(await ask(`/containers/${container.Id}/json`).catch(() => undefined))
        if (!answer.success || answer.data.State.Running === true) continue
        if (Date.parse(answer.data.State.FinishedAt ?? '') >= sinceMs) found.push(fromList(container).identity)
      }
    }
    await Promise.all(Array.from({ length: PARALLEL }, worker))
    return found
  } finally {
    agent.destroy()
  }
}

async function getJson(agent: Agent, socketPath: string, path: string, signal: AbortSignal): Promise<unknown> {
  const doing = `GET ${path.split('?')[0]} on ${socketPath}`
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const call = request({ agent, socketPath, path, headers: { Host: 'docker', Accept: 'application/json' }, signal, timeout: TIMEOUT_MS }, (answer) => {
    let body = ''
    answer.setEncoding('utf8')
    answer.on('data', (text: string) => {
      body += text
      if (body.length > MAX_BODY_BYTES) call.destroy(new EngineError('parse_error', `${doing}: the answer is longer than ${MAX_BODY_BYTES} bytes`))
    })
    answer.on('error', reject)
    answer.on('end', () => {
      if (answer.statusCode !== 200) return reject(new EngineError('driver_error', `${doing}: expected status 200, got ${answer.statusCode ?? 0}`))
      try {
        resolve(JSON.parse(body))
      } catch (cause) {
        reject(new EngineError('parse_error', `${doing}: expected JSON, got ${JSON.stringify(body.slice(0, 80))}`, { cause }))
      }
    })
  })
  call.on('timeout', () => call.destroy(new EngineError('timeout', `${doing}: no answer within ${TIMEOUT_MS} ms`)))
  call.on('error', (error) => reject(toEngineError(error, doing)))
  call.end()
  return await promise
}
