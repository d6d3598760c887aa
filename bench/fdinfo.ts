// What it costs to learn who uses a card of AMD or Intel: the descriptors of a hundred processes looked through in the real /proc, and those of cards read.
// Nothing here has a graphics card: descriptors of /dev/null stand for it, and what the kernel says of them is replaced by the words of amdgpu after it was read.
import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync, readdirSync } from 'node:fs'
import { createScanner } from '../agent/drm/clients/scan.ts'
import { createFiles, isFailure, type Files } from '../agent/drm/files.ts'
import { percentile, printTable } from './lib/table.ts'

const PROCESSES = 100
/** As a training process has: libraries, pipes, sockets, and two of the card. */
const [DESCRIPTORS, OF_CARD] = [40, 2]
const STEP_MS = 1_000
const [SECONDS, ROUNDS] = [60, 5]
const MAX_MS = 10

const WORDS = [
  'pos:\t0',
  'flags:\t02100002',
  'mnt_id:\t26',
  'drm-driver:\tamdgpu',
  'drm-pdev:\t0000:03:00.0',
  'drm-client-id:\t117',
  ...['vram', 'gtt', 'cpu'].flatMap((region) => ['total', 'shared', 'resident', 'active', 'purgeable'].map((key) => `drm-${key}-${region}:\t8388608 KiB`)),
  'amd-evicted-vram:\t0 KiB',
  'amd-requested-vram:\t8388608 KiB',
  ...['gfx', 'compute', 'dma', 'enc'].map((engine) => `drm-engine-${engine}:\t123456789 ns`),
  '',
].join('\n')

function startProcesses(): readonly ChildProcess[] {
  const file = openSync('/dev/zero', 'r')
  const card = openSync('/dev/null', 'r')
  const stdio = Array.from({ length: DESCRIPTORS }, (_, at) => (at >= DESCRIPTORS - OF_CARD ? card : file))
  const made = Array.from({ length: PROCESSES }, () => spawn('sleep', ['1000'], { stdio }))
  closeSync(file)
  closeSync(card)
  return made
}

/** The same calls of the kernel as on a host with such cards. */
function standIn(files: Files, pids: ReadonlySet<string>): Files {
  return {
    ...files,
    link(path) {
      const target = files.link(path)
      return target === '/dev/null' && pids.has(path.split('/')[2] ?? '') ? '/dev/dri/renderD128' : target
    },
    text(path) {
      const read = files.text(path)
      return isFailure(read) || !path.includes('/fdinfo/') ? read : WORDS.replace('117', path)
    },
  }
}

export function run(): void {
  const children = startProcesses()
  try {
    const pids = new Set(children.map(({ pid }) => String(pid)))
    const scan = createScanner(standIn(createFiles(), pids), '/proc')
    let now = 0
    let open = 0
    const round = (): number => {
      const before = process.cpuUsage()
      for (let second = 0; second < SECONDS; second++) open = scan((now += STEP_MS)).open.length
      const { user, system } = process.cpuUsage(before)
      return ((user + system) / 1_000 / SECONDS) * 5
    }
    round() // V8 compiles
    const rounds = Array.from({ length: ROUNDS }, round)
    const median = percentile(rounds, 0.5)
    printTable([
      {
        what: 'processes · all in /proc · descriptors of cards',
        figure: `${PROCESSES} · ${readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length} · ${open}`,
      },
      { what: `CPU each 5 s, ms (median of ${ROUNDS})`, figure: median.toFixed(1), limit: `${MAX_MS}`, ok: median <= MAX_MS },
      { what: '… by round', figure: rounds.map((ms) => ms.toFixed(1)).join(' · ') },
    ])
  } finally {
    for (const child of children) child.kill()
  }
}
