// Facts in a terminal: labels in words, figures in the unit that the name's ending says.
import { expect, test } from 'vitest'
import { causeText, factLabel, factNumber } from '../../../agent/text/fact-label.ts'

test.each([
  ['requested_bytes', 'Asked for'],
  ['gpu_seconds_lost', 'GPU time lost'],
  ['power_limit_default_watts', 'Power limit default'],
  ['nccl_version', 'NCCL version'],
])('%s is labelled %s', (name, label) => {
  expect(factLabel(name)).toBe(label)
})
test('a name may mean something narrower for one kind', () => {
  expect([factLabel('since_ms'), factLabel('since_ms', 'oom_restart_loop')]).toEqual(['Grown since', 'First crash'])
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
  expect(factNumber(name, value)).toBe(text)
})
test('a cause is told in words, an unknown one as it is', () => {
  expect([causeText('other_process'), causeText('new_cause')]).toEqual(['other processes hold the card', 'new_cause'])
})
