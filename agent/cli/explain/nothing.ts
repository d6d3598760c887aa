// The answer of `explain` where it found no fault: what it looked for, and what to try next.
import { kindOf, LOG_KINDS } from '../../model/kinds.ts'
import { andList } from '../../text/grammar.ts'
import type { Paint } from '../paint.ts'

const AREAS: Readonly<Record<string, string>> = {
  gpu: 'the GPU and its driver',
  gpu_memory: 'GPU memory',
  program: 'programs and libraries',
  platform: 'containers and installation',
  host: 'host memory and disk',
  network: 'network and downloads',
}

export function nothingText(paint: Paint): string {
  const areas = [...new Set(LOG_KINDS.map((kind) => AREAS[kindOf(kind).layer]))].filter((area) => area !== undefined)
  const tries: readonly (readonly [text: string, command: string])[] = [
    ['Give it more of the log: the first error is often far above the last line.', 'docker logs <CONTAINER> 2>&1 | warpwatch explain'],
    ['Read the kernel log of the same time: Xids and OOM kills are only there.', 'sudo dmesg -T | warpwatch explain'],
    ['Check driver, toolkit and containers of this host.', 'warpwatch doctor'],
  ]
  return [
    'No fault found in this log.',
    paint('dim', `Looked for ${LOG_KINDS.length} kinds of faults: ${andList(areas)}.`),
    '',
    'What to try next:',
    ...tries.flatMap(([text, command]) => [`- ${text}`, `    ${paint('command', command)}`]),
    '',
  ].join('\n')
}
