// PyTorch on cudaMallocAsync: it never says "CUDA out of memory", and gives its figures in lines below.
import { gibAsPrinted as gib } from '../../../text/bytes.ts'
import { joinedFrom, linesCovered } from '../../joining.ts'
import type { FaultFamily, LogText, Recognised } from '../family.ts'
import { integerIn, SIZE, sizeIn } from '../quantity.ts'
import { speaker } from '../../situation/programs.ts'
import type { Situation } from '../../situation/situation.ts'
import { causeSentence, gpuName, judgeCauses, oomTitle, type Judged } from './causes.ts'
import { partlyLoaded } from './less/others.ts'
import { remediesOf } from './remedies.ts'
import { known } from '../parts/window.ts'

const START =
  /Allocation on device ?(\d{1,4})? ?would exceed allowed memory|OutOfMemoryError: Allocation on device\b|Error occurred when executing [\w .()+|-]{1,80}: {1,3}Allocation on device\b|!!! Exception during processing !!! Allocation on device\b|Exception Type:\*{0,2} torch\.(?:cuda\.)?OutOfMemoryError/
const field = (name: string): RegExp => new RegExp(`${name} ?: ${SIZE}`)
const ALLOCATED = field('Currently allocated')
const REQUESTED = field('Requested')
const LIMIT = field('Device limit')
const FREE = field(String.raw`Free \(according to CUDA\)`)
const ALLOWED = field(String.raw`PyTorch limit \(set by user-supplied memory fraction\)`)
const LINES = 8

function ofItself({ causes, enoughWasFree, spilled }: Judged): Judged {
  const own = causes.filter((cause) => cause !== 'other_process')
  return { causes: own.length > 0 || causes.length === 0 ? own : ['capacity'], enoughWasFree, spilled }
}

function recognise(text: LogText, at: number, situation: () => Situation): Recognised | undefined {
  const joined = joinedFrom(text, at, LINES)
  const start = START.exec(joined)
  if (start === null) return undefined
  const message = joined.slice(start.index, start.index + 1_200)
  const figures = known({
    gpu_index: start[1] === undefined ? integerIn(message, /Allocation on device (\d{1,4})\b/) : Number(start[1]),
    requested_bytes: sizeIn(message, REQUESTED),
    allocated_bytes: sizeIn(message, ALLOCATED),
    total_bytes: sizeIn(message, LIMIT),
    free_bytes: sizeIn(message, FREE),
    allowed_bytes: sizeIn(message, ALLOWED),
  })
  // The pool of cudaMallocAsync keeps freed memory, of which no figure speaks: what is missing in the sum need not be anybody else's.
  const judged = ofItself(judgeCauses(figures))
  // Below it the text may name PyTorch only as the module of the exception.
  const who = speaker(situation().programs, 'pytorch')
  const asked = figures.requested_bytes === undefined ? 'A request' : `A request for ${gib(figures.requested_bytes)}`
  const node = /(?:Node Type:\*{0,2} |Error occurred when executing )(\w{2,60})/.exec(situation().text)?.[1]
  const where = `${gpuName(figures.gpu_index)}${node === undefined ? '' : `, in the node ${node}`}`
  const held = figures.allocated_bytes === undefined ? '' : `; ${gib(figures.allocated_bytes)} is allocated already`
  const end = Math.max(0, ...[...message.matchAll(/(?:[KMGT]iB|bytes)/g)].map((match) => match.index))
  return {
    kind: 'cuda_oom',
    severity: 'critical',
    title: oomTitle(figures.gpu_index),
    verdict:
      figures.requested_bytes === undefined
        ? `${who ?? 'PyTorch'} could not allocate memory on ${where}${held}. ${partlyLoaded(situation()) ?? 'Cause unknown: the message carries no figures.'}`
        : `${asked} on ${gpuName(figures.gpu_index)} failed (PyTorch)${held}. ${causeSentence(figures, judged)}`,
    facts: judged.causes.length === 0 ? figures : { ...figures, causes: judged.causes },
    remedies: remediesOf(figures, judged, message, situation()),
    lines: linesCovered(text, at, start.index + end),
  }
}

export const cudaOomAsync: FaultFamily = {
  id: 'cuda-oom-async',
  kinds: ['cuda_oom'],
  literals: [
    'would exceed allowed memory',
    'processing !!! Allocation on device',
    'OutOfMemoryError: Allocation on device',
    'Error occurred when executing ',
    'Exception Type:** torch',
  ],
  recognise,
}
