// The rows of `warpwatch top` for processes, out of the frame's own fields.
import { expect, test } from 'vitest'
import { holdersOf } from '../../../../agent/cli/top/sections/holders.ts'
import { processSection } from '../../../../agent/cli/top/sections/processes.ts'
import type { FrameMessage, ProcessRow } from '../../../../agent/model/live.ts'

const NOW = 1_763_600_090_000

const sectionOf = (processes: readonly ProcessRow[]) => {
  const frame: FrameMessage = {
    type: 'frame',
    t: NOW,
    host: { hostname: 'h' },
    gpus: [],
    containers: [],
    processes,
    allocators: [],
    servers: [],
    progress: [],
    jobs: [],
  }
  return processSection(frame, holdersOf(frame))
}

test('a process shows who runs it, how busy it is, since when and by which command', () => {
  const row = {
    pid: 77,
    process: 'python',
    uuid: 'GPU-a',
    gpu: '3',
    gpu_memory_bytes: 2 ** 30,
    gpu_utilization_ratio: 0.42,
    user: 'maya',
    command: 'python sweep.py --width 9',
    start_timestamp_seconds: NOW / 1000 - 3_725,
  }
  const { columns, rows } = sectionOf([row])
  const shown = Object.fromEntries(columns.map(({ title }, i) => [title, rows[0]?.cells[i]]))
  expect(shown).toMatchObject({ PID: '77', USER: 'maya', GPU: '3', MEMORY: '1.0 GiB', UTIL: '42 %', AGE: '1 h 2 min', COMMAND: 'python sweep.py --width 9' })
})

test('what the agent does not say is not guessed', () => {
  const { columns, rows } = sectionOf([{ pid: 77, process: 'python', uuid: 'GPU-a', gpu: '3' }])
  const shown = Object.fromEntries(columns.map(({ title }, i) => [title, rows[0]?.cells[i]]))
  expect(shown).toMatchObject({ USER: '–', MEMORY: '–', UTIL: '–', AGE: '–', COMMAND: 'python' })
})
