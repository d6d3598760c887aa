// Does the memory that Windows gives to WSL2 do for what its containers want, and is .wslconfig in force as it is written?
import { gpuMemoryTotalBytes } from '../../../metrics/gpu-memory.ts'
import type { Remedy } from '../../../model/fault.ts'
import { GIB, MIB, memoryText } from '../../../text/bytes.ts'
import { defineCheck, type Finding, type Surroundings } from '../../definition.ts'
import { skipped } from '../../parts/nvidia-pci.ts'
import { readWindows, RESTART_WSL, wsl2Guest } from '../../parts/wsl-guest.ts'
import { readWslConfig, wslBytes, type WslConfig } from '../../parts/wsl-settings.ts'

/** WSL gives no less (WslCoreConfig.cpp). */
const LEAST = 256 * MIB
/** The kernel keeps some percent for itself: what a guest sees is that much less than what it was given. */
const SEEN = 0.88
const FILE = '%UserProfile%\\.wslconfig'

const edit = (line: string): readonly Remedy[] => [
  { text: `Below [wsl2] write ${line}; PowerShell opens the file:`, command: 'notepad "$env:USERPROFILE\\.wslconfig"' },
  RESTART_WSL,
]
const complain = (status: 'warn' | 'fail', summary: string, remedies: readonly Remedy[]): Finding => ({ status, summary, remedies })

/** What is wrong with the file itself; `total`: what the guest has. */
function fileFindings({ settings, misnamed }: WslConfig, total: number): readonly Finding[] {
  if (misnamed !== undefined)
    return [
      complain('warn', `expected ${FILE}, found ${misnamed} beside it: WSL does not read that one`, [
        {
          text: 'Give it its right name, in PowerShell (Explorer hides the ending).',
          command: `Rename-Item "$env:USERPROFILE\\${misnamed}" ".wslconfig"`,
        },
        RESTART_WSL,
      ]),
    ]
  const text = settings.get('wsl2.memory')
  if (text === undefined) {
    const elsewhere = [...settings.keys()].find((key) => key === 'memory' || key.endsWith('.memory'))
    if (elsewhere === undefined) return []
    const place = elsewhere === 'memory' ? 'before any section' : `below [${elsewhere.split('.')[0]}]`
    return [complain('warn', `${FILE}: memory is ${place}, where WSL does not read it`, edit(`memory=${settings.get(elsewhere) ?? '16GB'}`))]
  }
  const wanted = wslBytes(text)
  const better = /^\s*(\d+)/.exec(text)?.[1] ?? '16'
  if (wanted === undefined)
    return [
      complain(
        'warn',
        `${FILE}: memory must be a size such as 16GB (no space, no fraction, capitals), not ${text}: WSL uses its default`,
        edit(`memory=${better}GB`),
      ),
    ]
  if (wanted === 0) return []
  if (wanted < LEAST)
    return [complain('warn', `${FILE}: memory=${text} means ${wanted} bytes, of which WSL makes ${memoryText(LEAST)}`, edit(`memory=${better}GB`))]
  if (total < wanted * SEEN || total > wanted)
    return [
      complain('warn', `${FILE} says memory=${text}, WSL has ${memoryText(total)}: it was changed since WSL started, or Windows has no more`, [
        { ...RESTART_WSL, text: 'Restart WSL, in PowerShell, so that it reads the file; it ends all distributions and what runs in them.' },
      ]),
    ]
  return []
}

async function wants({ containers, nvml }: Surroundings, total: number): Promise<readonly Finding[]> {
  const more = (bytes: number): readonly Remedy[] => edit(`memory=${Math.ceil(bytes / GIB)}GB, where Windows has as much and some 4 GB besides`)
  const beyond = (await containers().catch(() => [])).flatMap(({ name, memoryLimitBytes: limit }): readonly Finding[] =>
    limit === undefined || limit <= total / SEEN
      ? []
      : [
          {
            ...complain(
              'warn',
              `its limit of memory is ${memoryText(limit)}, all of WSL has ${memoryText(total)}: the kernel kills before the limit is met`,
              more(limit),
            ),
            subject: name,
          },
        ],
  )
  const gpus = (await nvml().catch(() => undefined))?.gpus ?? []
  const largest = Math.max(0, ...gpus.map(({ value }) => value(gpuMemoryTotalBytes) ?? 0))
  // Weights pass through memory on their way to the GPU: where it has not even half of what the GPU holds, loading what fits there is what fails.
  if (total >= largest / 2) return beyond
  return [
    ...beyond,
    complain(
      'warn',
      `WSL has ${memoryText(total)} of memory for a GPU of ${memoryText(largest)}: loading a model that fits the GPU can be killed`,
      more(largest),
    ),
  ]
}

export const wsl2Memory = defineCheck({
  id: 'wsl2-memory',
  group: 'wsl2',
  title: 'the memory of WSL2 does for its containers, and .wslconfig is in force',
  covers: ['host_oom_kill'],
  async run(around) {
    const where = await wsl2Guest(around)
    if ('skip' in where) return where.skip
    const { files, env } = around
    const kib = /^MemTotal:\s+(\d+) kB$/m.exec((await files.readText('/proc/meminfo')) ?? '')?.[1]
    if (kib === undefined) return skipped('/proc/meminfo does not say how much memory there is')
    const total = Number(kib) * 1024
    const config = await readWslConfig(files, (await readWindows(files)).mounts, env['PATH'] ?? '')
    const findings = [...(config === undefined || config === 'several' ? [] : fileFindings(config, total)), ...(await wants(around, total))]
    if (findings.length > 0) return findings
    const swap = /^SwapTotal:\s+0 kB$/m.test((await files.readText('/proc/meminfo')) ?? '') ? ', no swap' : ''
    const by =
      config === undefined
        ? "WSL's default, half of what Windows has"
        : config === 'several'
          ? `several users have a ${FILE}; whose counts is not known`
          : config.settings.has('wsl2.memory')
            ? `as ${FILE} says`
            : `${FILE} says nothing of it`
    return [{ status: 'pass', summary: `${memoryText(total)} of memory${swap} (${by})` }]
  },
})
