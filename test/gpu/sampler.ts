// Asks a sampler child for everything it can read, with nothing but Node: this also runs from a bundle on a host without a network.
import { fork } from 'node:child_process'
import type { FromChild } from '../../agent/sampler/protocol.ts'

export type Reading = { readonly metric: string; readonly labels: Readonly<Record<string, string>>; readonly value: number }
export type Look = {
  readonly readings: readonly Reading[]
  readonly gaps: readonly { readonly metric: string; readonly labels: Readonly<Record<string, string>>; readonly reason: string }[]
}
export type Sampler = { readonly look: () => Promise<Look>; readonly close: () => void }

/** `entry` is the child's file, `libraries` what it may load. */
export async function startSampler(entry: string, libraries: readonly string[]): Promise<Sampler> {
  const child = fork(entry)
  const series = new Map<number, Omit<Reading, 'value'>>()
  const gaps = new Map<string, Look['gaps']>()
  let take: (message: FromChild) => void = () => {}
  child.on('message', (message: FromChild) => take(message))
  const ended = new Promise<never>((_, reject) => child.once('exit', (code, signal) => reject(new Error(`the sampler child ended with ${code ?? signal}`))))
  ended.catch(() => {}) // told to whoever waits
  const waitFor = <T>(ask: (message: FromChild) => T | undefined): Promise<T> =>
    Promise.race([
      ended,
      new Promise<T>((resolve) => {
        take = (message) => {
          const answer = ask(message)
          if (answer !== undefined) resolve(answer)
        }
      }),
    ])
  const hello = waitFor((message) => (message.type === 'hello' || message.type === 'failed' ? message : undefined))
  child.send({ type: 'start', libraries, leaveOut: [], peakHz: 0 })
  const first = await hello
  if (first.type === 'failed') {
    child.disconnect()
    throw new Error(`NVML cannot be used: ${first.detail}`)
  }
  let id = 0
  return {
    look() {
      const readings: Reading[] = []
      const current = ++id
      const done = waitFor((message) => {
        if (message.type === 'series') for (const [number, metric, labels] of message.series) series.set(number, { metric, labels })
        if (message.type === 'gpu') {
          for (const [at, number] of message.series.entries()) {
            const known = series.get(number)
            const value = message.values[at]
            if (known !== undefined && value !== undefined) readings.push({ ...known, value })
          }
          if (message.gaps !== undefined) gaps.set(`${message.uuid} ${message.rate}`, message.gaps)
        }
        return message.type === 'done' && message.id === current ? { readings, gaps: [...gaps.values()].flat() } : undefined
      })
      child.send({ type: 'scrape', id: current, rates: ['fast', 'slow', 'rare'] })
      return done
    },
    close: () => child.disconnect(),
  }
}
