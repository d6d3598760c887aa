// The figures in PyTorch's out-of-memory messages, of all generations (1.0 to 2.14).
import type { Facts } from '../../../model/facts.ts'
import { bytesOf, integerIn, SIZE, sizeIn } from '../quantity.ts'
import { known } from '../parts/window.ts'

const of = (before: string, after: string): RegExp => new RegExp(`${before}${SIZE}${after}`)

const REQUESTED = of('[Tt]ried to allocate ', '')
const GPU = /\bGPU:? ?(\d{1,4})\b/
// 1.0 to 2.0: (GPU 0; C total capacity; a already allocated; F free; [A allowed;] r reserved in total by PyTorch)
const OLD_TOTAL = of('', ' total capacity')
const OLD_ALLOCATED = of('', ' already allocated')
const OLD_FREE = of('', ' free\\b')
const OLD_RESERVED = of('', ' reserved(?: in total|\\)|;|$)')
const OLD_CACHED = of('', ' cached')
// 2.1 and later; "capacty" is 2.1's own spelling
const NEW_TOTAL = of('total capaci?ty of ', '')
const NEW_FREE = of('of which ', ' is free')
const NEW_THIS = of('this process has ', '')
const NEW_OTHERS = new RegExp(`\\b[Pp]rocess (\\d{1,10}) has ${SIZE}`, 'g')
const NEW_ALLOCATED = of('Of the allocated memory ', '')
const NEW_ALLOCATED_ALONE = of('', ' is allocated by PyTorch')
const NEW_POOLS = of('', ' allocated in private pools')
const NEW_UNALLOCATED = of('', ' is reserved by PyTorch but unallocated')
const ALLOWED = of('', ' allowed;')
// 2.10 and later warn in bytes before they throw
const EXACT = /OOM on device (\d{1,4}) while trying to allocate (\d{1,18}) bytes(?: \(free: (\d{1,18}), total: (\d{1,18}))?/

/** The figures of one message, joined into one line. */
export function torchFigures(message: string): Facts {
  const exact = EXACT.exec(message)
  if (exact !== null) {
    const number = (group: string | undefined): number | undefined => bytesOf(group, '')
    return known({ gpu_index: Number(exact[1]), requested_bytes: number(exact[2]), free_bytes: number(exact[3]), total_bytes: number(exact[4]) })
  }
  const others = [...message.matchAll(NEW_OTHERS)].flatMap(([, pid, amount, unit]) => {
    const bytes = bytesOf(amount, unit)
    return bytes === undefined ? [] : [{ pid: Number(pid), bytes }]
  })
  return known({
    requested_bytes: sizeIn(message, REQUESTED),
    gpu_index: integerIn(message, GPU),
    total_bytes: sizeIn(message, NEW_TOTAL) ?? sizeIn(message, OLD_TOTAL),
    free_bytes: sizeIn(message, NEW_FREE) ?? sizeIn(message, OLD_FREE),
    allocated_bytes: sizeIn(message, NEW_ALLOCATED) ?? sizeIn(message, NEW_ALLOCATED_ALONE) ?? sizeIn(message, OLD_ALLOCATED),
    reserved_bytes: sizeIn(message, OLD_RESERVED),
    reserved_unallocated_bytes: sizeIn(message, NEW_UNALLOCATED) ?? sizeIn(message, OLD_CACHED),
    private_pools_bytes: sizeIn(message, NEW_POOLS),
    allowed_bytes: sizeIn(message, ALLOWED),
    process_bytes: sizeIn(message, NEW_THIS),
    other_processes: others.length > 0 ? others : undefined,
  })
}
