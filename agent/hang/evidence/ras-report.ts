// Reports of NCCL's RAS as text, as `ncclras` prints them: which communicators are in trouble, and of the ranks in them those few that it lists.
import { rankOf, type Evidence, type RasComm, type RasRank } from '../model.ts'
import { headText, type EvidenceReader } from './definition.ts'

/** Larger worlds than there are; a report of 2.27 with ranks missing may hold any number (nccl#1762). */
const MOST_RANKS = 2 ** 16
const MOST_COMMS = 4096
const MOST_SIDES = 1024
const MOST_REPORTS = 64

type Process = { readonly pid: number; readonly host: string; readonly gpu: number }
/** Ranks of one count; `listed` where the report names them. */
type Side = { readonly count: number; readonly ranks: number; readonly listed: number[] }
type Comm = {
  readonly hash: string
  readonly size: number
  readonly processes: Map<number, Process>
  readonly silent: number[]
  readonly sides: Map<string, Side[]>
  readonly states: string[]
}

const HEADER = /^#(\d{1,6})-\d{1,6} \(([0-9a-f]{1,16})\) (INCOMPLETE|ERROR|MISMATCH)$/
const TABLE_ROW = /^ {0,4}\d{1,5} +\d+ +\d+ +[\d-]+ +(\d+) +\d+ +[A-Z]+ +[A-Z,]+$/
const MANAGED = String.raw`GPU (\d{1,4})(?: \(NVML (\d{1,4})\))? managed by process (\d{1,10}) on node (\S{1,100})`
const RANK = new RegExp(String.raw`^ {2}Rank (\d{1,10})(?: (has .{1,60}?|reported .{1,80}?))? -- (?:${MANAGED}|\[)`)
const PROCESS = /^ {2}Process (\d{1,10}) on node (\S{1,100}) managing GPUs? (\d{1,4})/
const OPERATION = /^ {2}Communicator ranks have different (\w{1,40}) operation counts$/
const SIDE = /^ {2}(\d{1,7}) ranks have (?:launched up to operation (\d{1,18})|not launched any operations)$/
const LAUNCHED = /^has (?:launched up to operation (\d{1,18})|not launched any operations)$/

export const isReport = (text: string): boolean => /^Job summary\r?\n=+\r?$/m.test(text) && /^(?:Communicators\.\.\.|NCCL version \d)/m.test(text)

function addSide({ sides }: Comm, operation: string, side: Side): void {
  const known = sides.get(operation)
  if (known === undefined) sides.set(operation, [side])
  else if (known.length < MOST_SIDES) known.push(side)
}

/** What the lines below the headings of communicators and "DEAD" say. */
function parse(text: string): { readonly nccl?: string; readonly gpus: number; readonly comms: readonly Comm[]; readonly dead: readonly Process[] } {
  const comms = new Map<string, Comm>()
  const [sizes, dead]: [number[], Process[]] = [[], []]
  let [gpus, section, operation] = [0, '', '']
  let [comm, side]: [Comm | undefined, Side | undefined] = [undefined, undefined]
  for (const whole of text.split('\n')) {
    const line = whole.trimEnd()
    const [, group, hash = '', kind = ''] = HEADER.exec(line) ?? []
    if (group !== undefined) {
      const known: Comm = comms.get(`${group} ${hash}`) ?? {
        hash,
        size: sizes[Number(group)] ?? 0,
        processes: new Map(),
        silent: [],
        sides: new Map(),
        states: [],
      }
      if (comms.size < MOST_COMMS) comms.set(`${group} ${hash}`, known)
      ;[comm, section, operation, side] = [known, kind, '', undefined]
      continue
    }
    if (/^[A-Z]/.test(line)) [comm, section] = [undefined, line]
    // The row of totals below the job's summary ends with all GPUs; the table of communicators has their sizes.
    if (comms.size === 0 && /^ +\d+ +\d+ +\d+(?: +\d+ +\d+)?$/.test(line)) gpus = Number(/(\d{1,7})$/.exec(line)?.[1] ?? 0)
    const size = TABLE_ROW.exec(line)?.[1]
    if (size !== undefined && comms.size === 0) sizes.push(Number(size))
    const [, pid, node = '', device] = PROCESS.exec(line) ?? []
    if (pid !== undefined && section === 'DEAD') dead.push({ pid: Number(pid), host: node, gpu: Number(device) })
    if (comm === undefined) continue
    operation = OPERATION.exec(line)?.[1] ?? operation
    const [, ranks, count] = SIDE.exec(line) ?? []
    if (ranks !== undefined) {
      side = { count: Number(count ?? 0), ranks: Number(ranks), listed: [] }
      addSide(comm, operation, side)
    }
    const [, number, says, cuda, nvml, process, host = ''] = RANK.exec(line) ?? []
    const rank = Number(number)
    if (number === undefined || rank >= Math.min(comm.size, MOST_RANKS)) continue
    if (process !== undefined) comm.processes.set(rank, { pid: Number(process), host, gpu: Number(nvml ?? cuda) })
    if (section === 'INCOMPLETE') comm.silent.push(rank)
    else if (says?.startsWith('reported') === true) comm.states.push(`rank ${rank} ${says}`)
    else if (section === 'MISMATCH' && operation !== '') {
      const one = says === undefined ? undefined : LAUNCHED.exec(says)
      if (one === null) comm.states.push(`rank ${rank} ${says ?? ''}`)
      else if (one === undefined) side?.listed.push(rank)
      else addSide(comm, operation, { count: Number(one[1] ?? 0), ranks: 1, listed: [rank] })
    }
  }
  const nccl = /^NCCL version (\d{1,3}\.\d{1,3}\.\d{1,3})/m.exec(text)?.[1]
  return { ...(nccl === undefined ? {} : { nccl }), gpus, comms: [...comms.values()], dead }
}

/** Of each kind of operation the count of each rank; undefined where the report does not say which ranks are on which side. */
function countsOf({ size, sides }: Comm): readonly Record<string, number>[] | undefined {
  if (sides.size === 0) return undefined
  const counts: Record<string, number>[] = Array.from({ length: size }, () => ({}))
  for (const [operation, all] of sides) {
    const unlisted = all.filter(({ listed }) => listed.length === 0)
    const listed = new Map(all.flatMap(({ count, listed: ranks }) => ranks.map((rank): [number, number] => [rank, count])))
    const [rest] = unlisted
    if (unlisted.length > 1 || (rest?.ranks ?? 0) + listed.size !== size) return undefined
    for (const [rank, count] of counts.entries()) count[operation] = listed.get(rank) ?? rest?.count ?? 0
  }
  return counts
}

/** Ranks of a communicator are those of the job only where it spans the job; of others the processes are looked up. */
const placeOf = (comm: Comm, spans: boolean, rank: number): string => {
  const process = comm.processes.get(rank)
  return spans ? `#${rank}` : process === undefined ? '?' : `${process.host}:${process.pid}`
}

/** One report, or several one after the other. */
export function readReport(text: string, evidence: Evidence): void {
  for (const one of text.split(/^(?=NCCL version )/m).slice(-MOST_REPORTS)) if (isReport(one)) addReport(one, evidence)
}

function addReport(text: string, evidence: Evidence): void {
  const { nccl, gpus, comms, dead } = parse(text)
  if (nccl !== undefined) evidence.nccl ??= nccl
  const spans = (comm: Comm): boolean => comm.size > 1 && comm.size === gpus && comm.size <= MOST_RANKS
  for (const comm of comms)
    if (spans(comm))
      for (let rank = 0; rank < comm.size; rank += 1) {
        const me = rankOf(evidence, rank)
        const process = comm.processes.get(rank)
        if (process === undefined) continue
        me.pid ??= process.pid
        me.host ??= process.host
        me.gpu ??= process.gpu
      }
  const gone = dead.map(({ pid, host }) => ({ rank: -1, place: `${host}:${pid}` }))
  const read = comms.map((comm): RasComm => {
    const whole = spans(comm)
    const counts = comm.size <= MOST_RANKS ? countsOf(comm) : undefined
    return {
      id: `${comm.hash}/${comm.size}`,
      size: comm.size,
      ranks: (counts ?? []).map((one, rank): RasRank => ({ rank, place: placeOf(comm, whole, rank), counts: one })),
      dead: comm.silent.map((rank) => ({ rank, place: placeOf(comm, whole, rank) })),
    }
  })
  const [first, ...others] = read
  evidence.polls.push({
    comms: first === undefined ? [{ id: 'processes', size: 0, ranks: [], dead: gone }] : [{ ...first, dead: [...first.dead, ...gone] }, ...others],
  })
  for (const comm of comms)
    for (const state of comm.states.slice(0, 16))
      evidence.statements.push({ statement: { ranks: [], what: 'stalled', text: `NCCL (RAS): ${state}, in communicator ${comm.hash} of ${comm.size} ranks` } })
  for (const { pid, host, gpu } of dead.slice(0, 16))
    evidence.statements.push({ statement: { ranks: [], what: 'stalled', text: `NCCL (RAS) considers process ${pid} on ${host} (GPU ${gpu}) dead` } })
}

export const rasReport: EvidenceReader = {
  name: 'RAS report',
  mostBytes: 8 * 2 ** 20,
  recognises: (file) => isReport(headText(file)),
  read(file, evidence) {
    readReport(file.text(), evidence)
  },
}
