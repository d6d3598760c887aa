// Facts of an incident: labels in words, figures in the unit that the name's ending says, moments and temperatures as the reader has them.
import { expect, test } from 'vitest'
import { factLabel, factRows } from '../../../agent/text/facts.ts'
import { utcText } from '../../../agent/text/time.ts'

const FORMAT = { moment: utcText, celsius: (value: number) => `${value.toFixed(0)} °C` }

test.each([
  ['requested_bytes', 'Asked for'],
  ['gpu_seconds_lost', 'GPU time lost'],
  ['power_limit_default_watts', 'Default power limit'],
  ['nccl_version', 'NCCL version'],
])('%s is labelled %s', (name, label) => {
  expect(factLabel(name)).toBe(label)
})
test('a name may mean something narrower for one kind', () => {
  const labels = (kind?: 'oom_restart_loop') => factRows({ since_ms: 0 }, FORMAT, kind).map(({ label }) => label)
  expect([...labels(), ...labels('oom_restart_loop')]).toEqual(['Grown since', 'First crash'])
})
test.each([
  ['process_bytes', 62.72 * 2 ** 30, '62.7 GiB'],
  ['slope_bytes_per_second', 2 ** 20, '1 MiB per second'],
  ['temperature_celsius', 85.4, '85 °C'],
  ['power_watts', 418.106, '418 W'],
  ['sm_clock_hertz', 1.2e9, '1200 MHz'],
  ['speed_loss_ratio', 0.394, '39 %'],
  ['gpu_seconds_lost', 350, '5 min 50 s'],
  ['step_seconds', 0.25, '0.25 s'],
  ['latency_ms', 250, '250 ms'],
  ['timeout_ms', 600_000, '10 min'],
  ['since_ms', Date.UTC(2026, 0, 2, 3, 4, 5), '2026-01-02 03:04:05 UTC'],
  ['sample_age_seconds', 9, '9 s old'],
  ['deaths', 3, '3'],
])('%s of %d is %s', (name, value, text) => {
  expect(factRows({ [name]: value }, FORMAT)).toMatchObject([{ name, value: text }])
})
test('causes are told in words and come first, what has no place among the figures is not there', () => {
  const facts = { requested_bytes: 2 ** 30, gpu_index: 1, confidence: 'likely', causes: ['other_process', 'capacity'], gpus: ['10', '2'] } as const
  expect(factRows(facts, FORMAT).map(({ label, value }) => [label, value])).toEqual([
    ['Causes, strongest first', 'other processes hold the card; its own data do not fit on the card'],
    ['Asked for', '1 GiB'],
    ['GPUs', '2, 10'],
  ])
})
