// What commands print on a narrow terminal: tables without their least columns, help and incidents wrapped; nothing of it where no terminal reads.
import { expect, test } from 'vitest'
import { commandHelp } from '../../../agent/cli/help/text.ts'
import { incidentPage } from '../../../agent/cli/incidents/page.ts'
import { placedTitle } from '../../../agent/diagnosis/incidents/report.ts'
import { jobPage } from '../../../agent/cli/jobs/page.ts'
import { groupsCsv, groupsText, jobsText } from '../../../agent/cli/jobs/tables.ts'
import { groupsWithCost } from '../../../agent/jobs/ledger/costs.ts'
import { wasteText } from '../../../agent/cli/jobs/waste.ts'
import { jobs as command } from '../../../agent/cli/jobs/jobs.ts'
import { hanging } from '../../../agent/cli/wrapped.ts'
import { painter } from '../../../agent/cli/paint.ts'
import type { JobRow } from '../../../agent/model/job.ts'
import { INCIDENT } from '../http/incident-fixture.ts'

const T = Date.UTC(2026, 10, 26, 12)
const seconds = { active: 3_600, idle: 1_800, lost: 0 }
const job = (name: string): JobRow => ({
  job_id: '0123456789abcdef',
  job: name,
  kind: 'container',
  user: 'ada',
  runs: 1,
  running: 1,
  outcomes: {},
  gpu_seconds: seconds,
  energy_joules: 3.6e6,
  gpu_memory_peak_bytes: 2 ** 36,
  last: { job_id: '0123456789abcdef', job: name, kind: 'container', run: 3, started_at: T, seen_at: T, gpus: [], gpu_seconds: seconds, incidents: [] },
})
const longest = (text: string): number => Math.max(...text.split('\n').map((line) => line.length))
const FROM = 'the agent at http://127.0.0.1:9839'

test('a table leaves out its least columns, and says which', () => {
  const rows = [job('trainer'), job('a-job-with-quite-a-long-name')]
  const narrow = jobsText(rows, FROM, { columns: 80 })
  expect(longest(narrow.slice(0, narrow.indexOf('Left out')))).toBeLessThanOrEqual(80)
  expect(narrow).toMatch(/^JOB +RUN +LASTED +LAST OUTCOME +GPU H +IDLE H +USER\n/)
  expect(narrow.replaceAll('\n', ' ')).toContain('Left out as the terminal is narrow: ID, LAST STARTED, LOST H, ENERGY, GPU MEMORY. All columns: --csv')
  const wide = jobsText(rows, FROM)
  expect(wide).toContain('0123456789abcdef')
  expect(wide).not.toContain('Left out')
  const groups = groupsText(
    groupsWithCost([{ by: 'user', key: 'ada', runs: 1, running: 1, outcomes: { failed: 12, completed: 400 }, gpu_seconds: seconds }], {
      gpu_hour: 1,
      kwh: 0,
      currency: 'EUR',
      grams_per_kwh: 0,
    }),
    FROM,
    { columns: 60 },
  )
  expect(groups).toMatch(/^USER .*COST/)
  expect(groups).toContain('Left out as the terminal is narrow: ')
  expect(groups).toContain('IDLE: no work ran.')
})

test('what runs has lasted until now while an agent runs, else until it was last seen', () => {
  expect(jobsText([job('a')], FROM, { now: T + 90 * 60_000 })).toContain('1 h 30 min')
  expect(jobsText([job('a')], FROM)).toContain(' 0 s ')
})

test('help and incidents are wrapped at the width of the terminal', () => {
  const help = commandHelp(command, 80)
  expect(longest(help.slice(help.indexOf('--config')))).toBeLessThanOrEqual(80)
  expect(help).toMatch(/\n {25,}\S/)
  expect(commandHelp(command)).not.toMatch(/\n {25,}\S/)
  const verdict = 'word '.repeat(60).trim()
  const page = incidentPage({ ...INCIDENT, verdict }, 'gpu-01', painter(false), 80)
  expect(
    longest(
      page
        .split('\n')
        .filter((line) => line.startsWith('word'))
        .join('\n'),
    ),
  ).toBeLessThanOrEqual(80)
})

test('waste names who, how much, which jobs, and what WHOLE IDLE H means', () => {
  const row = { user: 'ada', gpu_hours_held: 48, gpu_hours_idle: 30.2, gpu_hours_queueable: 24, gpu_hours_lost: 3.1 }
  const summary = {
    host: 'gpu-01',
    from: T,
    to: T + 86_400_000,
    rows: [
      {
        ...row,
        died: [{ job: 'train-7', job_id: 'fedcba9876543210', runs: 3, gpu_hours_lost: 3.1 }],
        oversized: [{ job: 'notebook-1', job_id: '0123456789abcdef', text: 'used 1 of 4 GPUs' }],
        price: 59.94,
        currency: 'EUR',
      },
    ],
  }
  expect(wasteText(summary, FROM).split('\n')).toEqual([
    'GPU time idle or lost on gpu-01, 2026-11-26 12:00 to 2026-11-27 12:00 UTC',
    '',
    'USER  HELD H  IDLE H  WHOLE IDLE H  LOST H  COST',
    'ada   48.0    30.2    24.0          3.10    59.94 EUR',
    '',
    '  ada: notebook-1: used 1 of 4 GPUs',
    '  ada: train-7: 3 runs ended badly and lost 3.10 GPU hours',
    '',
    'GPU hours. IDLE: no work ran. WHOLE IDLE: in hours in which the GPU ran nothing at all, so another job could have had it. LOST: work of failed runs since their last checkpoint.',
    '',
  ])
  expect(wasteText({ ...summary, rows: [] }, FROM)).toMatch(/^gpu-01, .*: no user left a GPU idle for more than 6 min/)
})

test('lines hang on behind their first, and words that fill a line stay whole', () => {
  expect(hanging('  one two three four', 10, '  ')).toBe('  one two\n  three\n  four')
  expect(hanging('a'.repeat(30), 10, '  ')).toBe('a'.repeat(30))
  expect(hanging(`x ${'a'.repeat(30)} y`, 10, '  ')).toBe(`x\n  ${'a'.repeat(30)}\n  y`)
  expect(hanging('  one two three four', undefined, '  ')).toBe('  one two three four')
  for (let columns = 8; columns < 40; columns++)
    expect(hanging('some words of several lengths, one after the other', columns, '  ').split(/\s+/)).toHaveLength(9)
})

test('a job’s report is text in a terminal, with no line beyond it, and counts on while it runs', () => {
  const incidents = [{ id: '0123456789abcdef', kind: 'cuda_oom', title: `trainer_1 ran out of memory ${'on GPU 0 '.repeat(12)}` }] as const
  const { last } = job('trainer_1')
  const page = jobPage(
    [
      { ...last, incidents },
      { ...last, run: 2, outcome: 'failed', reason: 'It ended with code 1', ended_at: T + 60_000 },
    ],
    'gpu-01',
    {
      paint: painter(false),
      columns: 90,
      now: T + 90_000,
    },
  )
  expect(page).toMatch(/^trainer_1: running\n\nRunning for 1 min 30 s\.\n/)
  expect(page).toContain('    warpwatch incidents 0123456789abcdef\n')
  expect(page).toMatch(/1 earlier run\n +Run +Started .*\n +2 +2026-11-26 12:00:00 UTC +1 min +failed +It ended with code 1/)
  expect(longest(page)).toBeLessThanOrEqual(100)
  expect(page).not.toMatch(/[|#`\\]/)
})

test('a list names the place that a title does not, without ids', () => {
  const subject = { gpu: { index: 1, uuid: 'GPU-1' }, container: { name: 'train', id: 'aaaaaaaaaaaa' }, process: { pid: 70, name: 'python3' } }
  expect(placedTitle({ title: 'train ran out of memory on GPU 1: lab holds 30 GiB', subject })).toBe('train ran out of memory on GPU 1: lab holds 30 GiB')
  expect(placedTitle({ title: 'GPU 12 is not that one', subject })).toBe('GPU 12 is not that one: container train, GPU 1, process 70 (python3)')
  expect(placedTitle({ title: 'process 70 of train on GPU 1', subject })).toBe('process 70 of train on GPU 1')
})

test('facts stand in words, moments as times, and no verdict of earlier figures as a line of a log', () => {
  const facts = { causes: ['other_process'] as const, other_processes: [{ pid: 7, bytes: 2 ** 32 }], since_ms: Date.UTC(2031, 1, 3, 4, 5, 6) }
  const numbers = { t: INCIDENT.started_at, stream: 'numbers', text: 'It failed 3 times.', matched: true } as const
  const page = incidentPage({ ...INCIDENT, facts, evidence: { ...INCIDENT.evidence, log_lines: [numbers] } }, 'gpu-01', painter(false))
  expect(page).toMatch(/Cause +other processes hold the card\n/)
  expect(page).toMatch(/Other processes +4 GiB \(pid 7\)\n/)
  expect(page).toMatch(/Grown since +2031-02-03 04:05:06 UTC\n/)
  expect(page).not.toMatch(/Log\n|It failed 3 times/)
})

test('use has its price and carbon in the table and in CSV, and no column that is empty', () => {
  const use = { by: 'user', runs: 1, running: 1, outcomes: {}, gpu_seconds: { active: 3_600, idle: 1_800, lost: 0 } } as const
  const factors = { gpu_hour: 2, kwh: 0.5, currency: 'CHF', grams_per_kwh: 400 }
  const rows = groupsWithCost(
    [
      { ...use, key: 'ida', energy_joules: 2 * 3.6e6 },
      { ...use, key: 'bo', energy_joules: 40 * 3.6e6 },
    ],
    factors,
  )
  expect(groupsText(rows, FROM)).toMatch(
    /^USER +RUNS +RUNNING +HELD H +GPU H +IDLE H +LOST H +ENERGY +COST +CO2 +OUTCOMES\nida .* 4\.00 CHF +800 g\nbo .* 23\.00 CHF +16\.0 kg\n/,
  )
  expect(groupsCsv(rows, 'user')).toMatch(/,tokens,price,currency,co2_grams\r\nida,.*,4,CHF,800\r\n/)
  expect(groupsText(groupsWithCost([{ ...use, key: 'ida', tokens: 1_250_000 }], { ...factors, gpu_hour: 0, kwh: 0, grams_per_kwh: 0 }), FROM)).toMatch(
    /^USER .*LOST H +ENERGY +TOKENS +OUTCOMES\nida .* 1,250,000\n/,
  )
  expect(groupsCsv([], 'account')).toMatch(/^account,/)
})
