// Prints a made-up host as the other outputs of nvidia-smi do: -q, the table, -L, the CSV queries, pmon and dmon.
import type { FakeGpu, FakeHost } from './host.ts'

const or = (value: number | string | null, unit = ''): string => (value === null ? 'N/A' : `${value}${unit}`)
const watts = (centiwatts: number | null): string => or(centiwatts === null ? null : (centiwatts / 100).toFixed(2), ' W')

/** `nvidia-smi -q`. */
export function printText({ driver, cuda, gpus }: FakeHost): string {
  const lines: string[] = []
  const put = (depth: number, name: string, value?: string): void =>
    void lines.push(value === undefined ? `${'    '.repeat(depth)}${name}` : `${`${'    '.repeat(depth)}${name}`.padEnd(50)} : ${value}`)
  lines.push('', '==============NVSMI LOG==============', '')
  put(0, 'Timestamp', 'Mon Jan  5 10:00:00 2026')
  put(0, 'Driver Version', driver)
  put(0, 'CUDA Version', cuda)
  lines.push('')
  put(0, 'Attached GPUs', String(gpus.length))
  for (const gpu of gpus) {
    put(0, `GPU ${gpu.busId}`)
    put(1, 'Product Name', gpu.name)
    for (const [index, mig] of gpu.migs.entries()) {
      put(1, 'MIG Device')
      put(2, 'Index', String(index))
      put(2, 'GPU Instance ID', String(mig.gi))
      put(2, 'Compute Instance ID', String(mig.ci))
      put(2, 'Shared FB Memory Usage')
      put(3, 'Total', `${mig.totalMib} MiB`)
      put(3, 'Used', `${mig.usedMib} MiB`)
    }
    put(1, 'GPU UUID', gpu.uuid)
    put(1, 'PCI')
    put(2, 'GPU Link Info')
    put(3, 'PCIe Generation')
    put(4, 'Max', '5')
    put(4, 'Current', or(gpu.generation))
    put(3, 'Link Width')
    put(4, 'Max', '16x')
    put(4, 'Current', or(gpu.width, 'x'))
    put(1, 'Fan Speed', or(gpu.fan, ' %'))
    put(1, 'Performance State', or(gpu.state === null ? null : `P${gpu.state}`))
    put(1, 'Clocks Event Reasons')
    put(2, 'HW Slowdown', 'Not Active')
    put(3, 'HW Thermal Slowdown', gpu.hwThermal ? 'Active' : 'Not Active')
    put(1, 'FB Memory Usage')
    put(2, 'Total', or(gpu.totalMib, ' MiB'))
    put(2, 'Reserved', or(gpu.reservedMib, ' MiB'))
    put(2, 'Used', or(gpu.usedMib, ' MiB'))
    put(1, 'Utilization')
    put(2, 'GPU', or(gpu.utilization, ' %'))
    put(2, 'Memory', or(gpu.memoryUtilization, ' %'))
    put(1, 'ECC Errors')
    put(2, 'Volatile')
    put(3, 'SRAM Correctable', or(gpu.sramCorrected))
    put(3, 'SRAM Uncorrectable Parity', or(gpu.uncorrected))
    put(3, 'SRAM Uncorrectable SEC-DED', '0')
    put(3, 'DRAM Correctable', or(gpu.dramCorrected))
    put(3, 'DRAM Uncorrectable', '0')
    put(1, 'Temperature')
    put(2, 'GPU Current Temp', or(gpu.temperature, ' C'))
    put(2, 'Memory Current Temp', or(gpu.memoryTemperature, ' C'))
    put(1, 'GPU Power Readings')
    put(2, 'Average Power Draw', watts(gpu.powerCentiwatts))
    put(2, 'Current Power Limit', watts(gpu.limitCentiwatts))
    put(1, 'Clocks')
    for (const domain of ['graphics', 'sm', 'memory', 'video'] as const)
      put(2, { graphics: 'Graphics', sm: 'SM', memory: 'Memory', video: 'Video' }[domain], or(gpu.clocksMhz[domain], ' MHz'))
    if (gpu.processes.length === 0) put(1, 'Processes', 'None')
    else put(1, 'Processes')
    for (const process of gpu.processes) {
      put(2, 'GPU instance ID', or(process.gi ?? null))
      put(2, 'Compute instance ID', or(process.ci ?? null))
      put(2, 'Process ID', String(process.pid))
      put(3, 'Type', process.type)
      put(3, 'Name', process.name)
      put(3, 'Used GPU Memory', or(process.usedMib, ' MiB'))
    }
  }
  return `${lines.join('\n')}\n`
}

/** `nvidia-smi`, in the layout of R550 to R595. */
export function printTable({ driver, cuda, gpus }: FakeHost): string {
  const lines = [
    'Mon Jan  5 10:00:00 2026',
    `+${'-'.repeat(89)}+`,
    `| NVIDIA-SMI ${driver.padEnd(22)} Driver Version: ${driver.padEnd(14)} CUDA Version: ${cuda.padEnd(9)}|`,
  ]
  lines.push(
    '|-----------------------------------------+------------------------+----------------------+',
    '| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |',
    '| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |',
    '|                                         |                        |               MIG M. |',
    '|=========================================+========================+======================|',
  )
  for (const [index, gpu] of gpus.entries()) {
    const round = (centiwatts: number | null): string => or(centiwatts === null ? null : Math.round(centiwatts / 100), 'W')
    const mig = gpu.migs.length > 0
    lines.push(
      `| ${String(index).padStart(3)}  ${gpu.name.padEnd(30)}${'On'.padStart(4)}  |   ${gpu.busId} Off | ${(mig ? 'On' : String(gpu.uncorrected)).padStart(20)} |`,
      `| ${or(gpu.fan, '%').padEnd(4)} ${or(gpu.temperature, 'C').padStart(4)}    ${or(gpu.state === null ? null : `P${gpu.state}`).padEnd(4)} ${round(gpu.powerCentiwatts).padStart(14)} / ${round(gpu.limitCentiwatts).padStart(5)} | ${`${gpu.usedMib}MiB`.padStart(10)} / ${`${gpu.totalMib}MiB`.padStart(9)} | ${or(gpu.utilization, '%').padStart(7)}      Default |`,
      `|                                         |                        | ${(mig ? 'Enabled' : 'Disabled').padStart(20)} |`,
      '+-----------------------------------------+------------------------+----------------------+',
    )
  }
  if (gpus.some((gpu) => gpu.migs.length > 0)) {
    lines.push(
      '',
      `+${'-'.repeat(89)}+`,
      `| MIG devices:${' '.repeat(76)}|`,
      '| GPU  GI  CI  MIG |              Shared Memory-Usage |        Vol|        Shared         |',
      '|==================+==================================+===========+=======================|',
    )
    for (const [index, gpu] of gpus.entries())
      for (const [dev, mig] of gpu.migs.entries())
        lines.push(
          `| ${String(index).padStart(2)} ${String(mig.gi).padStart(4)} ${String(mig.ci).padStart(3)} ${String(dev).padStart(3)}  | ${`${mig.usedMib}MiB`.padStart(18)} / ${`${mig.totalMib}MiB`.padStart(8)}    | 60      0 |  3   0    3    0    3 |`,
          '|                  |               0MiB / 24739MiB    |           |                       |',
        )
  }
  lines.push(
    '',
    `+${'-'.repeat(89)}+`,
    `| Processes:${' '.repeat(78)}|`,
    '|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |',
    `|${'='.repeat(89)}|`,
  )
  for (const [index, gpu] of gpus.entries())
    for (const process of gpu.processes)
      lines.push(
        `| ${String(index).padStart(4)} ${or(process.gi ?? null).padStart(5)} ${or(process.ci ?? null).padStart(4)} ${String(process.pid).padStart(16)} ${process.type.padStart(6)}   ${process.name.padEnd(36)} ${or(process.usedMib, 'MiB').padStart(10)} |`,
      )
  if (gpus.every((gpu) => gpu.processes.length === 0)) lines.push(`|  No running processes found${' '.repeat(61)}|`)
  lines.push(`+${'-'.repeat(89)}+`)
  return `${lines.join('\n')}\n`
}

export const printList = ({ gpus }: FakeHost): string => gpus.map((gpu, index) => `GPU ${index}: ${gpu.name} (UUID: ${gpu.uuid})\n`).join('')

const QUERY = [
  ['index', (_: FakeGpu, index: number) => String(index)],
  ['uuid', (gpu: FakeGpu) => gpu.uuid],
  ['name', (gpu: FakeGpu) => gpu.name],
  ['memory.total [MiB]', (gpu: FakeGpu) => `${gpu.totalMib} MiB`],
  ['memory.used [MiB]', (gpu: FakeGpu) => `${gpu.usedMib} MiB`],
  ['utilization.gpu [%]', (gpu: FakeGpu) => (gpu.utilization === null ? '[N/A]' : `${gpu.utilization} %`)],
  ['temperature.memory', (gpu: FakeGpu) => or(gpu.memoryTemperature)],
  ['power.draw [W]', (gpu: FakeGpu) => (gpu.powerCentiwatts === null ? '[Not Supported]' : watts(gpu.powerCentiwatts))],
  ['clocks.current.sm [MHz]', (gpu: FakeGpu) => `${gpu.clocksMhz.sm} MHz`],
  ['clocks_event_reasons_counters.sw_power_cap [us]', (gpu: FakeGpu) => `${gpu.swPowerCapUs} us`],
] as const

/** `--query-gpu=… --format=csv`, or with `nounits` the same numbers without their units. */
export function printQuery({ gpus }: FakeHost, nounits = false): string {
  const cell = (text: string): string => (nounits && !text.startsWith('[') ? text.replace(/^(-?[\d.]+) [A-Za-z%]+$/, '$1') : text)
  return [QUERY.map(([name]) => name).join(', '), ...gpus.map((gpu, index) => QUERY.map(([, print]) => cell(print(gpu, index))).join(', '))]
    .map((line) => `${line}\n`)
    .join('')
}

export function printApps({ gpus }: FakeHost): string {
  const rows = gpus.flatMap((gpu) =>
    gpu.processes.map((process) => `${gpu.uuid}, ${process.pid}, ${process.name}, ${process.usedMib === null ? '[N/A]' : `${process.usedMib} MiB`}`),
  )
  return ['gpu_uuid, pid, process_name, used_gpu_memory [MiB]', ...rows].map((line) => `${line}\n`).join('')
}

export function printPmon({ gpus }: FakeHost): string {
  const rows = gpus.flatMap((gpu, index) =>
    gpu.processes.length === 0
      ? [`${String(index).padStart(5)}          -     -      -      -      -    -              `]
      : gpu.processes.map(
          (process) =>
            `${String(index).padStart(5)} ${String(process.pid).padStart(10)} ${process.type.padStart(5)}      -      - ${String(process.usedMib ?? '-').padStart(6)}    ${process.name.slice(0, 15).trim().padEnd(15)}`,
        ),
  )
  return ['# gpu         pid   type     sm    mem     fb    command ', '# Idx           #    C/G      %      %     MB    name ', ...rows]
    .map((line) => `${line}\n`)
    .join('')
}

export function printDmon({ gpus }: FakeHost): string {
  const dash = (value: number | null): string => String(value ?? '-').padStart(6)
  const rows = gpus.map(
    (gpu, index) =>
      `${String(index).padStart(5)} ${dash(gpu.powerCentiwatts === null ? null : Math.round(gpu.powerCentiwatts / 100))} ${dash(gpu.temperature)} ${dash(gpu.memoryTemperature)} ${dash(gpu.utilization)} ${dash(gpu.memoryUtilization)} ${dash(gpu.clocksMhz.memory)} ${dash(gpu.clocksMhz.sm)} `,
  )
  return ['# gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk ', '# Idx      W      C      C      %      %    MHz    MHz ', ...rows]
    .map((line) => `${line}\n`)
    .join('')
}
