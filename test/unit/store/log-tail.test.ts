// The tail of a container's log: newest lines after a number, bounded in every direction, without secrets.
import * as fc from '../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import type { LogLine } from '../../../agent/model/event.ts'
import { createLogTail } from '../../../agent/store/log-tail.ts'

const ID = 'aaaaaaaaaaaa'
const line = (text: string, id = ID, t = 1_000): LogLine => ({ type: 'log', t, stream: 'container', origin: { container: 'job', container_id: id }, text })
const texts = (tail: ReturnType<typeof createLogTail>, after = 0, id = ID): readonly string[] | undefined => tail.read(id, after)?.lines.map(({ text }) => text)

describe('the tail of a log', () => {
  test('has what came since the last question, by short and full id', () => {
    const tail = createLogTail()
    tail.ingest(line('one'))
    tail.ingest(line('of another', 'bbbbbbbbbbbb'))
    tail.ingest(line('two', ID.padEnd(64, '0')))
    const first = tail.read(ID.padEnd(64, 'f'), 0)
    expect(first?.lines.map(({ text }) => text)).toEqual(['one', 'two'])
    tail.ingest(line('three'))
    expect(tail.read(ID, first?.next ?? 0)).toEqual({ lines: [{ t: 1_000, text: 'three' }], next: 4 })
    expect(tail.read(ID, 4)).toEqual({ lines: [], next: 4 })
    expect(tail.read('cccccccccccc', 0)).toBeUndefined()
  })
  test('says when more came than are kept', () => {
    const tail = createLogTail()
    tail.ingest(line('first'))
    for (let i = 0; i < 400; i++) tail.ingest(line(`line ${i}`))
    const answer = tail.read(ID, 1)
    expect(answer?.lines).toHaveLength(300)
    expect(answer?.missed).toBe(true)
    expect(tail.read(ID, answer?.next ?? 0)?.missed).toBeUndefined()
  })
  test('begins anew for a number of before the agent’s start', () => {
    const tail = createLogTail()
    tail.ingest(line('one'))
    expect(texts(tail, 900)).toEqual(['one'])
  })
  test('has no secrets, also where one is cut', () => {
    const tail = createLogTail()
    tail.ingest(line('export HF_TOKEN=hf_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789'))
    tail.ingest(line(`${'x'.repeat(3_990)} password=correct-horse-battery-staple`))
    expect(texts(tail)?.join('\n')).not.toMatch(/hf_AbC|horse|correct-h/)
  })
  test('of a log whose lines come one by one, events are not shown again', () => {
    const tail = createLogTail()
    tail.line(ID.padEnd(64, '0'), 5, 'epoch 1')
    tail.line(ID.padEnd(64, '0'), 6, 'CUDA out of memory')
    tail.ingest(line('CUDA out of memory'))
    expect(texts(tail)).toEqual(['epoch 1', 'CUDA out of memory'])
  })
  test('leaves out the kernel, and what belongs to no container', () => {
    const tail = createLogTail()
    tail.ingest({ type: 'log', t: 1, stream: 'kernel', origin: { container_id: ID }, text: 'oom' })
    tail.ingest({ type: 'log', t: 1, stream: 'file', origin: { path: '/var/log/x' }, text: 'x' })
    expect(tail.read(ID, 0)).toBeUndefined()
  })
  test('forgets the container that was heard of longest ago', () => {
    const tail = createLogTail()
    const ids = Array.from({ length: 250 }, (_, i) => i.toString(16).padStart(12, '0'))
    for (const id of ids) tail.ingest(line('x', id))
    expect(ids.filter((id) => tail.read(id, 0) !== undefined)).toEqual(ids.slice(50))
  })
  test('whatever comes, it keeps at most 4 MiB, 300 lines a log, and the newest line', () => {
    const event = fc.record({ id: fc.nat(40), size: fc.integer({ min: 0, max: 40_000 }), times: fc.integer({ min: 1, max: 40 }) })
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 40 }), (events) => {
        const tail = createLogTail()
        const ids = Array.from({ length: 41 }, (_, i) => i.toString(16).padStart(12, '0'))
        let last = ''
        for (const { id, size, times } of events) for (let i = 0; i < times; i++) tail.ingest(line('y'.repeat(size), (last = ids[id] ?? '')))
        const kept = ids.flatMap((id) => tail.read(id, 0) ?? [])
        expect(kept.every(({ lines }) => lines.length <= 300)).toBe(true)
        expect(kept.flatMap(({ lines }) => lines).reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(4 * 1024 * 1024)
        expect(tail.read(last, 0)?.lines.length).toBeGreaterThan(0)
      }),
      { numRuns: 30 },
    )
  })
})
