// The detectors' settings through the command line: `config --check`, `run` and `replay --config` agree on what is wrong, and on what is in effect.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runCli } from './run-cli.ts'

const folder = mkdtempSync(join(tmpdir(), 'warpwatch-detectors-'))
const file = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const T = 1_763_600_000_000
const card = { gpu: '0', uuid: 'GPU-1' }
/** A minute of a card at 90 °C whose memory had an error after ten seconds. */
const recording = file(
  'hot.jsonl',
  `${[
    { type: 'meta', format: 'warpwatch-recording', version: 1, host: 'gpu-01' },
    ...Array.from({ length: 60 }, (_, second) => ({
      type: 'scrape',
      t: T + second * 1_000,
      source: 'gpu',
      duration_ms: 1,
      readings: [
        ['warpwatch_gpu_temperature_celsius', card, 90],
        ['warpwatch_gpu_ecc_errors_total', { ...card, type: 'uncorrected', scope: 'volatile' }, second < 10 ? 0 : 1],
      ],
      gaps: [],
    })),
  ]
    .map((line) => JSON.stringify(line))
    .join('\n')}\n`,
)
const kinds = async (...args: readonly string[]): Promise<readonly string[]> => {
  const { code, stdout, stderr } = await runCli(['replay', recording, '--json', ...args])
  if (code !== 0) throw new Error(`must be a replay, not ${code}: ${stderr}`)
  return Array.from(stdout.matchAll(/"kind":"(\w+)"/g), (match) => match[1] ?? '')
}

describe('a wrong configuration', () => {
  const wrong = file(
    'wrong.yaml',
    'detectors:\n  throtling:\n    load_ratio: 1\n  ecc-uncorrected:\n    quiet_hours: 0\n  custom:\n    - {name: a, metric: gpu_temprature, comparison: ">", value: 1, for: 1s, severity: info}\ntargets:\n  - {name: ui, url: "http://ann:s3cret@h/", tiemout_ms: 5}\n',
  )
  const lines = [
    `${wrong}:3: unknown key detectors.throtling; the nearest valid one is detectors.throttling`,
    `${wrong}:5: detectors.ecc-uncorrected.quiet_hours: must be a number from 0.01 to 8760, not 0 (number)`,
    `${wrong}:7: detectors.custom[0].metric: unknown metric gpu_temprature; the nearest valid one is warpwatch_gpu_temperature_celsius`,
    `${wrong}:9: targets[0].tiemout_ms: unknown key; the nearest valid one is timeout_ms`,
  ]
  test.each([
    ['config --check', ['config', '--check', '--config', wrong], 1],
    ['config', ['config', '--config', wrong], 2],
    ['run', ['run', '--config', wrong], 2],
    ['replay --config', ['replay', recording, '--config', wrong], 2],
  ] as const)('is refused by %s, each problem with its place', async (_, args, code) => {
    const ended = await runCli(args)
    expect(ended.code).toBe(code)
    const said = `${ended.stdout}${ended.stderr}`
    expect(said.trim().split('\n').toSorted()).toEqual(lines)
    expect(said).not.toContain('s3cret')
  })
})

test('checks of a service are judged again as they were recorded, reason and words too', async () => {
  const ui = { target: 'ui' }
  const failed = (second: number): unknown => ({
    type: 'scrape',
    t: T + second * 1_000,
    source: 'targets',
    duration_ms: 1,
    readings: [
      ['warpwatch_target_up', ui, 0],
      ['warpwatch_target_failing', { ...ui, reason: 'refused' }, 1],
    ],
    gaps: [{ metric: 'warpwatch_target_failing', labels: ui, reason: 'driver_error', detail: 'connect ECONNREFUSED 127.0.0.1:7860' }],
  })
  const meta = { type: 'meta', format: 'warpwatch-recording', version: 1, host: 'gpu-01' }
  const checks = file('down.jsonl', `${[meta, failed(0), failed(10), failed(20), failed(30)].map((line) => JSON.stringify(line)).join('\n')}\n`)
  const { stdout } = await runCli(['replay', checks, '--json'])
  expect(JSON.parse(stdout)).toMatchObject({
    incidents: [
      {
        kind: 'target_down',
        started_at: T + 20_000,
        subject: { host: { name: 'gpu-01' } },
        facts: { target: 'ui', reason: 'refused' },
        verdict: expect.stringContaining('connect ECONNREFUSED 127.0.0.1:7860'),
      },
    ],
  })
})

describe('a replay', () => {
  test('judges as it comes, whatever configuration lies about', async () => {
    writeFileSync(join(folder, 'warpwatch.yaml'), 'detectors:\n  ecc-uncorrected:\n    enabled: false\n')
    const { stdout } = await runCli(['replay', recording, '--json'], { cwd: folder })
    expect(stdout).toContain('"kind":"ecc_uncorrected"')
    expect(await kinds()).toEqual(['ecc_uncorrected'])
  })

  test('with a configuration judges by it', async () => {
    const threshold = '{name: hot, metric: gpu_temperature_celsius, comparison: ">", value: 85, for: 30s, severity: warning}'
    const right = file('right.yaml', `detectors:\n  ecc-uncorrected:\n    enabled: false\n  custom:\n    - ${threshold}\n`)
    expect(await runCli(['config', '--check', '--config', right])).toMatchObject({ code: 0 })
    expect(await kinds('--config', right)).toEqual(['custom'])
    expect(await kinds('--config', file('cooler.yaml', `detectors: {custom: [${threshold.replace('30s', '2m')}]}\n`))).toEqual(['ecc_uncorrected'])
  })
})
