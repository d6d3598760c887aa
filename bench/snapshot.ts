// `warpwatch snapshot` of 100,000 blocks: seconds of CPU to read and analyse, beside Python's own pickle.load of the same file in the same run.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { analyse } from '../agent/allocator/snapshot/analyse.ts'
import { readSnapshot } from '../agent/allocator/snapshot/file.ts'
import { pictureOf } from '../agent/allocator/snapshot/picture.ts'
import { jitPickle, type Plain } from '../test/unit/allocator/snapshot/pickler.ts'
import { printTable, type Row } from './lib/table.ts'

const SEGMENTS = 1_000
const BLOCKS = 100
const TRACE_ENTRIES = 100_000
const RUNS = 5
const LIMIT_S = 1
const MIB = 2 ** 20

/** Blocks and trace as a training run leaves them: 400 places of 24 frames each, shared; every third block free. */
function snapshotOf(traceEntries: number): { readonly value: Plain; readonly shared: ReadonlySet<unknown> } {
  const frames = Array.from({ length: 2_000 }, (_, i) => ({
    name: `forward_${i}`,
    filename: `/opt/conda/lib/python3.11/site-packages/torch/nn/part_${i % 97}.py`,
    line: i,
  }))
  const places = Array.from({ length: 400 }, (_, i) => Array.from({ length: 24 }, (_, depth) => frames[(i * 7 + depth * 31) % frames.length] ?? null))
  const start = 0x7f00_0000_0000
  const segments = Array.from({ length: SEGMENTS }, (_, s) => {
    let address = start + s * 512 * MIB
    const from = address
    const blocks = Array.from({ length: BLOCKS }, (_, b) => {
      const size = 512 * (1 + ((s * 31 + b * 17) % 9_000))
      const free = (s + b) % 3 === 0
      const block = {
        address,
        size,
        requested_size: free ? 0 : size - ((s + b) % 512),
        state: free ? 'inactive' : 'active_allocated',
        frames: free ? [] : (places[(s * 7 + b * 13) % places.length] ?? []),
      }
      address += size
      return block
    })
    const figures = {
      allocated_size: 0,
      active_size: 0,
      requested_size: 0,
      stream: 0,
      segment_type: 'large',
      segment_pool_id: [0, 0],
      is_expandable: false,
      frames: [],
    }
    return { device: s % 8, address: from, total_size: address - from, ...figures, blocks }
  })
  const trace = Array.from({ length: traceEntries }, (_, i) => ({
    action: i % 2 === 0 ? 'alloc' : 'free_completed',
    addr: start + i * 512,
    size: 512,
    stream: 0,
    time_us: 1_763_600_000_000_000 + i,
    frames: places[i % places.length] ?? [],
  }))
  return { value: { segments, device_traces: [trace], allocator_settings: { max_split_size: -1 } }, shared: new Set<unknown>([...frames, ...places]) }
}

function whole(file: string): number {
  const snapshot = readSnapshot(readFileSync(file))
  const { rules, rankOf, analysis } = analyse(snapshot, { requestBytes: 2 ** 31 })
  pictureOf({ snapshot, rules, rankOf })
  return analysis.devices.reduce((sum, device) => sum + device.live.top.length, 0)
}

/** Seconds of CPU that this process has used; with `children` those of its ended children. Other work on the machine hardly counts in it. */
function cpuSeconds(children: boolean): number {
  const { user, system } = process.cpuUsage()
  if (!children) return (user + system) / 1e6
  // cutime and cstime of proc(5), in hundredths of a second
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[13]) + Number(fields[14])) / 100
}

/** Of the best run. */
function best(run: () => void, children = false): number {
  let shortest = Infinity
  for (let i = 0; i < RUNS; i += 1) {
    const start = cpuSeconds(children)
    run()
    shortest = Math.min(shortest, cpuSeconds(children) - start)
  }
  return shortest
}

/** pickle.load alone, without looking at a block. */
function python(file: string): number | undefined {
  const code = `import pickle, sys, time
def once():
    start = time.process_time()
    with open(sys.argv[1], 'rb') as file: pickle.load(file)
    return time.process_time() - start
print(min(once() for _ in range(${RUNS})))`
  const done = spawnSync('python3', ['-c', code, file], { encoding: 'utf8' })
  return done.status === 0 ? Number(done.stdout) : undefined
}

const seconds = (figure: number): string => `${figure.toFixed(2)} s of CPU`

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-snapshot-'))
  try {
    const rows: Row[] = []
    for (const traceEntries of [0, TRACE_ENTRIES]) {
      const { value, shared } = snapshotOf(traceEntries)
      const file = join(folder, `${traceEntries}.pickle`)
      writeFileSync(file, jitPickle(value, shared))
      const what = `${SEGMENTS * BLOCKS} blocks${traceEntries === 0 ? '' : ` and ${traceEntries} trace entries`}`
      const figure = best(() => void whole(file))
      rows.push({ what: `${what}: read, analysed, drawn, best of ${RUNS}`, figure: seconds(figure), limit: seconds(LIMIT_S), ok: figure <= LIMIT_S })
      const main = join(import.meta.dirname, '../agent/main.ts')
      const peak = join(import.meta.dirname, 'lib/peak-memory.cjs')
      let stderr = ''
      const command = best(() => {
        const done = spawnSync(process.execPath, ['--require', peak, main, 'snapshot', '--request', '2GiB', file], { encoding: 'utf8' })
        if (done.status !== 0) throw new Error(`expected exit 0, came ${done.status}: ${done.stderr}`)
        stderr = done.stderr
      }, true)
      rows.push({ what: '… the whole command', figure: seconds(command), limit: seconds(LIMIT_S), ok: command <= LIMIT_S })
      rows.push({ what: '… its peak memory', figure: `${(Number(/peak (\d+) KiB/.exec(stderr)?.[1] ?? Number.NaN) / 1024).toFixed(0)} MiB` })
      const peer = python(file)
      rows.push({ what: '… beside: pickle.load of Python, nothing analysed', figure: peer === undefined ? 'no python3' : seconds(peer) })
    }
    printTable(rows)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

if (import.meta.main) await run()
