// The one path: every consumer and sink hears of every event, and one that fails keeps nothing from the others.
import { describe, expect, test } from 'vitest'
import type { Event, LogLine } from '../../../agent/model/event.ts'
import type { Log } from '../../../agent/model/source.ts'
import { createPipeline } from '../../../agent/pipeline.ts'

const line = (text: string): LogLine => ({ type: 'log', t: 1, stream: 'file', origin: {}, text })
function notedLog(): { log: Log; errors: string[] } {
  const errors: string[] = []
  return { log: { info: () => {}, warn: () => {}, error: (text) => errors.push(text) }, errors }
}

describe('pipeline', () => {
  test('a consumer that throws is counted and told at the 1st, 10th, 100th time; the next consumer and the sinks hear all', () => {
    const heard: Event[] = []
    const written: Event[] = []
    const { log, errors } = notedLog()
    const broken = {
      name: 'broken',
      ingest: () => {
        throw new Error('no')
      },
    }
    const sink = { name: 'sink', accepts: () => true, write: (event: Event) => written.push(event), dropped: () => 0, close: () => {} }
    const pipeline = createPipeline([broken, { name: 'good', ingest: (event) => heard.push(event) }], [sink], log)
    for (let n = 0; n < 120; n++) pipeline.ingest(line(String(n)))
    expect(heard).toHaveLength(120)
    expect(written).toEqual(heard)
    expect(pipeline.failures().get('broken')).toBe(120)
    expect(errors.map((text) => text.split(':')[0])).toEqual([
      'broken failed on an event (1 so far)',
      'broken failed on an event (10 so far)',
      'broken failed on an event (100 so far)',
    ])
  })

  test('a sink hears only what it accepts, and a failing tick stops no other sink', () => {
    const ticks: string[] = []
    const { log } = notedLog()
    const sink = (name: string, accepts: boolean, tick: () => void) => ({
      name,
      accepts: () => accepts,
      write: () => ticks.push(`${name} wrote`),
      tick,
      dropped: () => 0,
      close: () => {},
    })
    const fails = (): void => {
      throw new Error('no')
    }
    const pipeline = createPipeline([], [sink('a', false, fails), sink('b', true, () => ticks.push('b ticked'))], log)
    pipeline.ingest(line('x'))
    pipeline.tick(1)
    expect(ticks).toEqual(['b wrote', 'b ticked'])
  })
})
