// kill -9 at every stage of sending, again and again: every incident is reported, in order, and at most the message on its way is delivered twice, with its key.
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { bundled } from '../setup/bundled.ts'
import { OK, startReceiver, type Received } from '../setup/receiver.ts'
import { rounds } from '../setup/rounds.ts'
import { CRASH_STAGES } from './alerts-crash-stages.ts'

/** Of each of two chains; four times each stage. With fewer, too few messages came again to show anything. */
const KILLS = rounds({ full: 100, quick: 44 })
/** Beside its own stages the child is killed from outside: while its request is on its way, and at any moment. */
const STAGES = [...CRASH_STAGES, 'in-flight', 'any-moment'] as const

let program: Awaited<ReturnType<typeof bundled>>
beforeAll(async () => {
  program = await bundled(join(import.meta.dirname, 'alerts-crash-child.ts'))
})
afterAll(() => program?.remove())
const start = (args: readonly string[]): ChildProcessByStdio<null, Readable, Readable> =>
  spawn(process.execPath, [program.path, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })

/** What was saved, and what was perhaps: the kill came before it could say so. */
type Saved = { readonly saved: readonly string[]; readonly perhaps: readonly string[] }
/** A run takes half a second; a retry of the sender's, on a busy machine, some more. */
const STUCK_MS = 90_000
/**
 * `awaited`: what ends this run, for the failure of one that goes on for ever. `killWhen` resolves when the child is to be killed; without it the child kills itself, or says
 * that all is reported.
 */
async function run(args: readonly string[], awaited: () => string, killWhen?: (started: Promise<void>) => Promise<void>): Promise<Saved> {
  const child = start(args)
  onTestFinished(() => void child.kill('SIGKILL'))
  let [reported, errors] = ['', '']
  const started = Promise.withResolvers<void>()
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  child.stdout.on('data', (chunk: Buffer) => {
    reported += chunk.toString()
    if (reported.includes('started\n')) started.resolve()
    if (reported.includes('drained\n')) child.kill('SIGKILL')
  })
  const exited = once(child, 'close')
  const stuck = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    stuck.reject(
      new Error(
        `waited ${STUCK_MS} ms for ${awaited()}; exit ${child.exitCode ?? child.signalCode ?? 'none'}; its last output: ${reported.slice(-300)}${errors}`,
      ),
    )
    child.kill('SIGKILL')
  }, STUCK_MS)
  if (killWhen !== undefined) {
    await Promise.race([killWhen(started.promise), exited, stuck.promise])
    child.kill('SIGKILL')
  }
  const [, signal] = await Promise.race([exited, stuck.promise])
  clearTimeout(timer)
  expect([signal, errors]).toEqual(['SIGKILL', ''])
  const lines = reported.split('\n')
  const saved = lines.filter((line) => /^i\d+[+-]$/.test(line))
  return { saved, perhaps: lines.flatMap((line) => /^saving (i\d+[+-])$/.exec(line)?.[1] ?? []).filter((text) => !saved.includes(text)) }
}

const itemsOf = ({ body }: Received): readonly string[] => JSON.parse(body)

/** Returns after how many kills a message came again. */
async function chain(seed: number): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'warpwatch-crash-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const receiver = await startReceiver()
  onTestFinished(receiver.close)
  const saved: string[] = []
  const perhaps = new Set<string>()
  let twice = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const stage = STAGES[(kill + seed) % STAGES.length] ?? 'any-moment'
    // Past what was perhaps saved as well: a second incident of the same name would be none to tell, and nothing to recover.
    const first = String(new Set([...saved, ...perhaps].filter((text) => text.endsWith('+'))).size)
    const before = receiver.requests.length
    const keysBefore = new Set(receiver.requests.map(({ key }) => key))
    const wanted = before + 1 + Math.floor(Math.random() * 4)
    // It got the request, and nobody ever hears what it said.
    receiver.answerWith(async (_, nth) => (stage === 'in-flight' && nth >= wanted ? 'hang' : OK))
    const times = String(1 + Math.floor(Math.random() * 5))
    const killWhen =
      stage === 'in-flight'
        ? async () => receiver.until(() => receiver.requests.length >= wanted)
        : stage === 'any-moment'
          ? async (started: Promise<void>) => {
              await started
              await new Promise((resolve) => setTimeout(resolve, Math.random() * 60))
            }
          : undefined
    const awaited = (): string =>
      `the end of kill ${kill} (seed ${seed}) at ${stage}, pass ${times}; requests: ${before} before, ${receiver.requests.length} now, ${wanted} wanted; stage before: ${STAGES[(kill + seed + STAGES.length - 1) % STAGES.length]}`
    const reported = await run([directory, receiver.url, first, stage, stage === 'recovering' ? '1' : times], awaited, killWhen)
    saved.push(...reported.saved)
    for (const text of reported.perhaps) perhaps.add(text)
    const repeated = new Set(receiver.requests.slice(before).flatMap(({ key }) => (keysBefore.has(key) ? [key] : [])))
    expect(repeated.size, `messages told again after a kill (next: ${stage})`).toBeLessThanOrEqual(1)
    twice += repeated.size
  }
  receiver.answerWith(() => OK)
  saved.push(...(await run([directory, receiver.url, '0', 'drain'], () => `all to be told; ${receiver.requests.length} requests`)).saved)

  // As a receiver that honours keys has it.
  const once = [...new Map(receiver.requests.map((received) => [received.key, itemsOf(received)])).values()].flat()
  const certain = new Set(saved)
  const reported = once.filter((text) => certain.has(text) || !perhaps.has(text))
  expect(reported.toSorted(), 'each incident is delivered once as firing and once as resolved').toEqual([...certain].toSorted())
  const at = new Map(once.map((text, i) => [text, i]))
  const overtaken = once.filter((text) => text.endsWith('-') && (at.get(text) ?? 0) < (at.get(text.replace('-', '+')) ?? Infinity))
  expect(overtaken, 'ends that came before their beginnings').toEqual([])
  // And a key always means the same message.
  const bodies = Map.groupBy(receiver.requests, ({ key }) => key)
  expect([...bodies].filter(([, same]) => new Set(same.map(({ body }) => body)).size > 1)).toEqual([])
  expect(saved.length).toBeGreaterThan(KILLS * 2)
  const db = new Sqlite(join(directory, 'outbox.db'), { readonly: true })
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
  expect(['items', 'messages', 'payloads', 'aside'].map((table) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get())).toEqual([0, 0, 0, 0])
  db.close()
  return twice
}

test(`${2 * KILLS} kills: nothing untold, nothing out of order, at most one message twice for each`, async () => {
  const twice = await Promise.all([chain(0), chain(5)])
  expect(Math.min(...twice), 'kills after which a message came again: the test must reach them').toBeGreaterThan(3)
})
