// Weighs what lives in the heap of a running agent, after a collection: what a process holds of memory shows how lately it collected.
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { RunningAgent } from './agent.ts'
import { poll } from './poll.ts'

const HOOK = pathToFileURL(join(import.meta.dirname, 'heap-hook.mjs')).href

/** For the environment of an agent that writes how much lives in its heap into a folder when asked by a signal. */
export function observed(): { readonly folder: string; readonly env: Readonly<Record<string, string>> } & AsyncDisposable {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-heap-'))
  const dispose = async (): Promise<void> => rmSync(folder, { recursive: true, force: true })
  return { folder, env: { NODE_OPTIONS: `--import=${HOOK}`, HEAP_FOLDER: folder }, [Symbol.asyncDispose]: dispose }
}

/** Bytes that live in the agent's heap. */
export async function liveBytes(agent: RunningAgent, folder: string): Promise<number> {
  const path = join(folder, `${agent.pid}-${readdirSync(folder).filter((name) => name.startsWith(`${agent.pid}-`)).length}`)
  process.kill(agent.pid, 'SIGUSR2')
  await poll(() => existsSync(path), { what: 'the weight of the heap' })
  return Number(readFileSync(path, 'utf8'))
}
