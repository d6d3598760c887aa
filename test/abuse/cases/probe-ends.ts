// Programs that end in every way, with the probe and without, under every Python of this machine: none may end differently because of the probe.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { copyProbe } from '../../setup/probe-copy.ts'
import { findPythons, spreadPythons } from '../../setup/pythons.ts'
import { rounds } from '../../setup/rounds.ts'
import type { AbuseCase } from '../abuse-case.ts'

/** The ends of the long form, over all Pythons; each is compared with the same end without the probe. */
const ENDS = Number(process.env['WARPWATCH_PROBE_ENDS'] ?? 20_000)
/** Of each Python in the short form, which runs without busy loops: one in so many is of the first report, and the others come in turn, each once. */
const [SHORT_ENDS, SHORT_FIRST] = [40, 4]
const BUSY = 3
/** A Python with a PyTorch for the CPU, if there is one: a fiftieth of the ends, since each takes seconds. */
const REAL_TORCH = process.env['WARPWATCH_PROBE_TORCH_PYTHON'] ?? ''

const reports = z.object({
  python: z.string(),
  torch: z.enum(['standin', 'real']),
  ends: z.int().positive(),
  different: z.array(z.looseObject({ way: z.string() })),
  late: z.array(z.looseObject({ verdict: z.enum(['starved', 'slow', 'hung']), ended: z.boolean() })),
})
type Report = z.infer<typeof reports>

/** One Python's ends; what it writes to stderr (its progress, and each difference) goes to ours in the long form. */
async function endsOf(python: string, args: readonly string[], short: boolean): Promise<Report> {
  using copy = copyProbe()
  const script = join(copy.tests, 'ends.py')
  const child = spawn(python, [script, ...args], { env: copy.env, stdio: ['ignore', 'pipe', short ? 'ignore' : 'inherit'] })
  const chunks: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk))
  const code = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
  if (code !== 0) throw new Error(`${python} ${script}: exit status ${code}`)
  return reports.parse(JSON.parse(Buffer.concat(chunks).toString('utf8')))
}

export const probeEnds: AbuseCase = {
  id: 'probe-ends',
  area: 'probe',
  fault: 'programs that end the moment the probe starts, in 33 ways, on a machine without a free CPU',
  promised: 'with the probe each ends with the same exit status, stdout and stderr as without it',
  unavailable: () => (findPythons().length === 0 ? 'needs python3, 3.8 to 3.14' : undefined),
  hasShortForm: true,
  besideOthers: true,
  async run({ short }) {
    const all = findPythons()
    const pythons = spreadPythons(all, short ? rounds({ full: all.length, quick: 2 }) : all.length)
    const real = !short && existsSync(REAL_TORCH) ? [REAL_TORCH] : []
    const realEnds = real.length * Math.ceil(ENDS / 50)
    const each = short ? SHORT_ENDS : Math.ceil((ENDS - realEnds) / pythons.length)
    const busy = short ? '0' : String(BUSY)
    const found: Report[] = []
    for (const { path } of pythons) found.push(await endsOf(path, [String(each), '--busy', busy, ...(short ? ['--first', String(SHORT_FIRST)] : [])], short))
    for (const path of real) found.push(await endsOf(path, [String(realEnds), '--busy', busy, '--real-torch'], short))
    const total = found.reduce((sum, { ends }) => sum + ends, 0)
    const different = found.flatMap((report) => report.different.map(({ way }) => `${way} (Python ${report.python}, torch: ${report.torch})`))
    const late = found.flatMap((report) => report.late)
    const starved = late.filter(({ verdict }) => verdict === 'starved')
    const notCompared = starved.filter(({ ended }) => !ended).length
    const slow =
      late.length === 0
        ? ''
        : `; ${late.length} took longer than 2 min, ${starved.length} of them because they got no processor${notCompared === 0 ? '' : `, ${notCompared} not ended after 10 min and not compared`}`
    const over = found.map(({ python, torch }) => (torch === 'real' ? `${python} with PyTorch` : python)).join(', ')
    return {
      held: different.length === 0,
      observed: `${different.length} of ${total} ends were different, over Python ${over}${slow}${different.length > 0 ? `: ${different.slice(0, 5).join('; ')}` : ''}`,
    }
  },
}
