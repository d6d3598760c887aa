// What a message says of one incident and of many: in what order, with which counts, and within which length.
import * as fc from '../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import type { Incident } from '../../../agent/model/incident.ts'
import { htmlText, markdownText, plainText } from '../../../alerts/messages/render.ts'
import { gpuRange, headlineOf, sharedTitle } from '../../../alerts/messages/subject.ts'
import { messageText } from '../../../alerts/messages/message-text.ts'
import { gpu, HOST, item, messageOf, oom, resolvedAfter, storm, T, xid79 } from './messages-scenes.ts'

describe('headlines', () => {
  test('the job, the card and the host, each once', () => {
    expect(headlineOf(oom(), HOST)).toBe('Out of GPU memory on GPU 3: container trainer on gpu-node-07')
    expect(headlineOf({ ...oom(), title: 'A kernel failed' }, HOST)).toBe('A kernel failed: container trainer on GPU 3 of gpu-node-07')
    expect(headlineOf({ ...oom(), subject: { process: { pid: 7, name: 'python' }, gpu: gpu(3) } }, HOST)).toBe(
      'Out of GPU memory on GPU 3: process python, pid 7 on gpu-node-07',
    )
  })
  test('a title that begins with the name of the job does not repeat it, and groups with others', () => {
    const title = 'trainer ran out of memory on GPU 3: notebook took 34.0 GiB'
    expect(headlineOf({ ...oom(), title }, HOST)).toBe(`${title} (gpu-node-07)`)
    expect(sharedTitle({ title })).toBe('Out of GPU memory')
  })
  test('GPU 1 is not taken for the GPU 10 of a title', () => {
    expect(headlineOf({ ...xid79(1), title: 'GPU 10 waits' }, HOST)).toBe('GPU 10 waits on GPU 1 of gpu-node-07')
  })
  test('of a fault of the card, who works on it', () => {
    const affected = ['process python (1) of container a', 'process python (2) of container b']
    expect(headlineOf(xid79(0, { facts: { affected } }), HOST)).toBe(
      'Xid 79 on GPU 0 of gpu-node-07, used by process python (1) of container a and 1 more: GPU has fallen off the bus',
    )
  })
  test('what several cards share is told once', () => {
    for (const hot of ['GPU 0: thermally throttled at 86 °C', 'GPU 1: thermally throttled, memory at 95 °C'])
      expect(sharedTitle({ title: hot })).toBe('Thermally throttled')
    expect(['GPU 0: held back by heat', 'GPU 12 is missing', 'Out of GPU memory on GPU 6', 'Xid 79: gone'].map((title) => sharedTitle({ title }))).toEqual([
      'Held back by heat',
      'GPU is missing',
      'Out of GPU memory',
      'Xid 79: gone',
    ])
    expect(gpuRange([0, 1, 2, 5, 7, 7].map((index) => xid79(index)))).toBe('GPU 0–2, 5 and 7')
    expect(gpuRange([{ subject: {} }])).toBeUndefined()
  })
  test.each([
    ['repeat', 'CRITICAL: Still firing: Out of GPU memory'],
    ['worse', 'CRITICAL: Now worse: Out of GPU memory'],
    ['held', 'CRITICAL: During quiet hours: Out of GPU memory'],
    ['test', 'CRITICAL: Test, nothing happened: Out of GPU memory'],
  ] as const)('%s', (reason, beginning) => expect(messageText(messageOf([item(oom(), reason)])).headline.startsWith(beginning)).toBe(true))
})

describe('many', () => {
  const warning = (more: Partial<Incident> = {}) => oom({ id: 'w', severity: 'warning', ...more })
  test('the worst comes first, what is over comes last', () => {
    const over = resolvedAfter(xid79(2), 60_000)
    const { headline, severity, incidents, others } = messageText(messageOf([item(over), item(warning({ title: 'Slow' })), item(xid79(1))]))
    expect(headline).toBe('CRITICAL: gpu-node-07: 3 incidents, 1 critical, 1 over already: Xid 79: GPU has fallen off the bus on GPU 1; Slow on GPU 3')
    expect(severity).toBe('critical')
    expect(incidents.map(({ severity }) => severity)).toEqual(['critical', 'warning'])
    expect(others).toEqual(['Resolved after 1 min: Xid 79 on GPU 2 of gpu-node-07: GPU has fallen off the bus'])
  })
  test('what fired and is over in one message is told as over', () => {
    const { headline, severity, incidents } = messageText(messageOf([item(oom()), item(resolvedAfter(oom(), 60_000))]))
    expect(headline).toBe('Resolved after 1 min: Out of GPU memory on GPU 3: container trainer on gpu-node-07')
    expect(severity).toBeUndefined()
    expect(incidents).toHaveLength(1)
  })
  test('all over', () => {
    const over = [0, 1, 2].map((index) => item(resolvedAfter(xid79(index), (index + 1) * 60_000)))
    expect(messageText(messageOf(over)).headline).toBe(
      'Resolved: 3 incidents on gpu-node-07, the longest after 3 min: Xid 79: GPU has fallen off the bus on GPU 0–2',
    )
  })
  test('each incident is in a story, in a line, or counted', () => {
    const different = Array.from({ length: 40 }, (_, i) => item(oom({ id: `d${i}`, title: `Fault ${i} of many` })))
    const { incidents, others, more } = messageText(messageOf(different), { incidents: 3, others: 10 })
    expect([incidents.length, others.length, more.length]).toEqual([3, 10, 27])
  })
})

test('what could not be delivered, and quiet hours, are told', () => {
  const { notes } = messageText(messageOf([item(oom(), 'held')], { expired: { count: 1, from: T, to: T } }))
  expect(notes[0]).toMatch(/^One earlier notification, from 2026-05-01 03:12:07 UTC .* was dropped/)
  expect(notes[1]).toBe('Some of this was delayed by quiet hours.')
})

test('with alerts.base_url a message has links and no commands to reach the page', () => {
  const said = plainText(messageOf([item(oom())]))
  expect(said).toContain('Open incident: http://gpu-node-07:9839/#/incidents/00000000000000aa')
  expect(said).not.toMatch(/warpwatch incidents|ssh/)
})

test.each([
  ['plain text', plainText],
  ['Markdown', markdownText],
  ['HTML', htmlText],
])('%s is as short as it must be, says who and what, and ends what it began', (_, render) => {
  const messages = [storm(60), messageOf([item(oom())]), messageOf([item(resolvedAfter(oom({ title: '*'.repeat(90) }), 5))])]
  fc.assert(
    fc.property(fc.constantFrom(...messages), fc.integer({ min: 200, max: 6_000 }), (message, most) => {
      const text = render(message, most)
      expect(text.length).toBeLessThanOrEqual(most)
      expect(text).toContain(HOST)
      for (const tag of ['b', 'pre', 'a']) expect(text.split(`<${tag}`).length).toBe(text.split(`</${tag}>`).length)
      expect(text.split('```').length % 2).toBe(1)
    }),
  )
})
