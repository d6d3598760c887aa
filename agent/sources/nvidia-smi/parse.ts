// Takes any output of nvidia-smi, finds out which it is, and reads it: readings and gaps, or one clear error; never throws.
import { gpusFromApps, gpusFromQuery, gpusFromRetiredPages, isGpuQuery, readCsv } from './csv.ts'
import type { ParsedGpu } from './gpu.ts'
import { gpuFromTree, present, wholeNumber } from './gpu.ts'
import { readIndented } from './indented.ts'
import { gpusFromList, readList } from './list.ts'
import { readMonitor } from './monitor.ts'
import { failureIn, takeNotices } from './notices.ts'
import type { ParsedKind, ParseError, ParseGap, ParseResult } from './result.ts'
import { readTable } from './table.ts'
import type { TreeNode } from './tree.ts'
import { textAt } from './tree.ts'
import { readXml } from './xml.ts'

const MAX_CHARS = 16 * 2 ** 20

const error = (message: string): ParseError => ({ kind: 'error', reason: 'parse_error', message })

/** Compares bus ids by their numbers: the domain has four digits in some places and eight in others. */
export const busKey = (busId: string): string => busId.toLowerCase().padStart(16, '0')

/**
 * NVML numbers GPUs by their bus, and counts those that it cannot open; nvidia-smi prints only the others, without their numbers.
 * Numbers stay unknown where the lost ones do not say enough.
 */
function numbersOf(nodes: readonly TreeNode[], attached: number | undefined, lost: readonly ParseGap[]): readonly (number | undefined)[] {
  if (attached === undefined || attached === nodes.length) {
    // Some drivers count only those that open: then the notices are all there is to go by.
    if (lost.length === 0 || attached !== undefined) return nodes.map((_, index) => index)
  }
  const numbers = lost.map((gap) => gap.index)
  if (lost.length > 0 && numbers.every((index) => index !== undefined)) {
    const taken = new Set(numbers)
    let next = 0
    return nodes.map(() => {
      while (taken.has(next)) next++
      return next++
    })
  }
  const lostBuses = lost.map((gap) => gap.pciBusId)
  if (lost.length > 0 && lostBuses.every((bus) => bus !== undefined)) {
    return nodes.map((node, index) => (node.id === undefined ? undefined : index + lostBuses.filter((bus) => busKey(bus) < busKey(node.id ?? '')).length))
  }
  return nodes.map(() => undefined)
}

function parseTree(root: TreeNode, form: 'xml' | 'text', gaps: readonly ParseGap[]): ParseResult {
  if (form === 'xml' && root.name !== 'nvidia_smi_log')
    return error(`the XML is not nvidia-smi's: its root is <${root.name.slice(0, 40)}> instead of <nvidia_smi_log>`)
  const nodes = root.children.filter((node) => node.name === 'gpu')
  const at = (xml: string, text: string): string | undefined => present(textAt(root, form === 'xml' ? xml : text)?.text)
  const attached = wholeNumber(at('attached_gpus', 'attached gpus'))
  if (nodes.length === 0 && attached === undefined && gaps.length === 0) return error('the XML of nvidia-smi names no GPU')
  // From R610 on the kernel driver's version has its own name.
  const driverVersion = at('driver_version', 'driver version') ?? at('kmd_version', 'kmd version')
  const cudaVersion = at('cuda_version', 'cuda version') ?? at('cuda_umd_version', 'cuda umd version')
  const numbers = numbersOf(nodes, attached, gaps)
  const unseen = (attached ?? 0) - nodes.length - gaps.length
  const cut: readonly ParseGap[] =
    unseen > 0
      ? [
          {
            reason: 'driver_error',
            detail: `nvidia-smi counts ${attached ?? 0} GPUs and prints ${nodes.length}: ${unseen} cannot be read, or the output is cut off`,
          },
        ]
      : []
  return {
    kind: form,
    ...(driverVersion === undefined ? {} : { driverVersion }),
    ...(cudaVersion === undefined ? {} : { cudaVersion }),
    gpus: nodes.map((node, index) => gpuFromTree(node, form, numbers[index])),
    gaps: [...gaps, ...cut],
  }
}

export function parseXml(text: string, gaps: readonly ParseGap[] = []): ParseResult {
  const result = readXml(text)
  return 'error' in result ? error(result.error) : parseTree(result.root, 'xml', gaps)
}

export const parseText = (text: string, gaps: readonly ParseGap[] = []): ParseResult => parseTree(readIndented(text), 'text', gaps)

export function parseCsv(text: string, gaps: readonly ParseGap[] = []): ParseResult {
  const csv = readCsv(text)
  const done = (kind: ParsedKind, gpus: readonly ParsedGpu[]): ParseResult => ({ kind, gpus, gaps: [...gaps, ...csv.gaps] })
  if (csv.columns.includes('retired_pages.cause')) return done('retired-pages', gpusFromRetiredPages(csv))
  if (csv.columns.includes('max_memory_usage')) return error('this is the list of ended processes (--query-accounted-apps), which holds no readings')
  if (csv.columns.includes('pid')) return done('compute-apps', gpusFromApps(csv))
  if (!isGpuQuery(csv.columns)) return error(`the CSV header has no fields of --query-gpu: ${JSON.stringify(csv.columns.join(', ').slice(0, 120))}`)
  const driver = csv.columns.indexOf('driver_version')
  const driverVersion = driver < 0 ? undefined : present(csv.rows[0]?.[driver])
  return { ...done('query-gpu', gpusFromQuery(csv)), ...(driverVersion === undefined ? {} : { driverVersion }) }
}

export function parseNvidiaSmi(input: string): ParseResult {
  if (input.length > MAX_CHARS) return error(`${input.length} characters; expected at most ${MAX_CHARS}`)
  const { rest, gaps } = takeNotices(input.replaceAll('\r\n', '\n').replace(/^\ufeff/, ''))
  if (rest === '') return gaps.length > 0 ? { kind: 'list', gpus: [], gaps } : error('nvidia-smi printed nothing')
  const failure = failureIn(rest)
  if (failure !== undefined) return failure
  if (/^<\?xml|^<!DOCTYPE nvidia_smi_log|^<nvidia_smi_log/.test(rest)) return parseXml(rest, gaps)
  if (/^=+\s*NVSMI LOG\s*=+/.test(rest)) return parseText(rest, gaps)
  if (/^(.{0,60}\n)?\+-{20,}.*\n\|\s*NVIDIA-SMI\s/.test(rest)) {
    const table = readTable(rest)
    return table.gpus.length === 0 && gaps.length === 0 ? error('the table of nvidia-smi names no GPU') : { kind: 'table', ...table, gaps }
  }
  if (/^GPU \d+: /.test(rest)) {
    const listed = readList(rest)
    return listed === undefined ? error('there are other lines among those of nvidia-smi -L') : { kind: 'list', gpus: gpusFromList(listed), gaps }
  }
  if (/^#\s*gpu\s/i.test(rest)) {
    const monitor = readMonitor(rest)
    if (monitor !== undefined) return { ...monitor, gaps }
  }
  const header = rest.split('\n', 1)[0] ?? ''
  if (header.includes(',')) return parseCsv(rest, gaps)
  return error(`this is no output of nvidia-smi: ${JSON.stringify(rest.slice(0, 80))}`)
}
