// The one path: each part takes what its role says, incidents are kept before they are reported, and one part that fails keeps nothing from the others.
import { expect, test } from 'vitest'
import type { Event, LogLine } from '../../../agent/model/event.ts'
import { summaryOf, type Incident } from '../../../agent/model/incident.ts'
import type { TakesIncidents } from '../../../agent/model/sink.ts'
import type { Log } from '../../../agent/model/source.ts'
import { createPipeline, type Stages } from '../../../agent/pipeline.ts'
import { box, createScene, line, oomText, T } from '../incidents/scene.ts'

const logLine = (text: string): LogLine => ({ type: 'log', t: 1, stream: 'file', origin: {}, text })
const trainer = box('trainer', [0])
const fails = (): never => {
  throw new Error('no')
}
function scene(change: Partial<Stages> = {}) {
  const errors: string[] = []
  const log: Log = { info: () => {}, warn: () => {}, error: (text) => errors.push(text) }
  const { diagnosis } = createScene()
  const kept: Incident[] = []
  const reported: string[] = []
  const incidents = {
    name: 'incidents',
    keep(incident: Incident) {
      kept.push(incident)
      return summaryOf(incident)
    },
  }
  const output = (name: string): TakesIncidents => ({
    name,
    incident: ({ id, status }) => reported.push(`${name} ${id} ${status} after ${kept.length}`),
  })
  const stages: Stages = {
    stores: [],
    diagnosis,
    incidents,
    outputs: { events: [], incidents: [output('a'), output('b')] },
    ticks: [],
    ...change,
  }
  return { pipeline: createPipeline(stages, log), diagnosis, kept, reported, errors }
}

test('a store that throws is counted and logged at the 1st, 10th, 100th time; the next store and the outputs take all', () => {
  const heard: Event[] = []
  const written: Event[] = []
  const { pipeline, errors } = scene({
    stores: [
      { name: 'broken', ingest: fails },
      { name: 'good', ingest: (event) => heard.push(event) },
    ],
    outputs: { events: [{ name: 'output', ingest: (event) => written.push(event) }], incidents: [] },
  })
  for (let n = 0; n < 120; n++) pipeline.ingest(logLine(String(n)))
  expect(heard).toHaveLength(120)
  expect(written).toEqual(heard)
  expect([...pipeline.failures()]).toEqual([['broken', 120]])
  expect(errors.map((text) => text.split(':')[0])).toEqual([
    'broken failed on an event (1 so far)',
    'broken failed on an event (10 so far)',
    'broken failed on an event (100 so far)',
  ])
})

test('a tick reaches the parts behind one that fails', () => {
  const ticks: number[] = []
  const { pipeline, errors } = scene({
    ticks: [
      { name: 'broken', tick: fails },
      { name: 'good', tick: (t) => ticks.push(t) },
    ],
  })
  pipeline.tick(1)
  expect(ticks).toEqual([1])
  expect(errors[0]).toMatch(/^broken failed on a tick \(1 so far\): Error: no/)
})

test('an incident is kept, then told to each output, once', () => {
  const { pipeline, diagnosis, kept, reported } = scene()
  pipeline.ingest(line(T, trainer, oomText()))
  const [incident] = diagnosis.firing()
  expect(kept.map(({ id, kind }) => [id, kind])).toEqual([[incident?.id, 'cuda_oom']])
  expect(reported).toEqual([`a ${incident?.id} firing after 1`, `b ${incident?.id} firing after 1`])
  pipeline.flush()
  expect(kept).toHaveLength(1)
})

test('an output that throws keeps an incident from no other', () => {
  const reported: string[] = []
  const { pipeline } = scene({
    outputs: {
      events: [],
      incidents: [
        { name: 'broken', incident: fails },
        { name: 'good', incident: ({ kind }) => reported.push(kind) },
      ],
    },
  })
  pipeline.ingest(line(T, trainer, oomText()))
  expect([reported, [...pipeline.failures()]]).toEqual([['cuda_oom'], [['broken', 1]]])
})

test('what cannot be kept is told to nobody', () => {
  const { pipeline, reported } = scene({ incidents: { name: 'incidents', keep: fails } })
  pipeline.ingest(line(T, trainer, oomText()))
  expect([reported, [...pipeline.failures()]]).toEqual([[], [['incidents', 1]]])
})
