// AMD's compute driver (KFD, ROCm): which cards and partitions it has, and which processes compute on them.
import { isFailure, type Files } from '../files.ts'

export type KfdNode = {
  /** What KFD calls the GPU in the folders of processes. */
  readonly gpuId: string
  /** PCI address of the card; a partition has that of its card. */
  readonly slot: string
  /** `90402` for gfx942. */
  readonly target: number
  readonly uniqueId: string
}
export type Kfd = {
  readonly nodes: () => readonly KfdNode[]
  /** Nodes of a card: one, or one for each partition. */
  readonly nodesAt: (slot: string) => readonly KfdNode[]
  /** Processes that have opened /dev/kfd. */
  readonly pids: () => ReadonlySet<number>
  /** Bytes that a process asked for on a card. undefined: it has none there, or they cannot be read. */
  readonly bytes: (pid: number, slot: string) => number | undefined
}

const MOST_NODES = 1_024
const MOST_PIDS = 4_096

/** `gfx90a` for 90010: the step is a hexadecimal digit. */
export const targetName = (target: number): string =>
  `gfx${Math.floor(target / 10_000)}${Math.floor((target / 100) % 100).toString(16)}${(target % 100).toString(16)}`

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')

/** `location_id` is bus << 8 | device << 3 | function; partitions count the function up. */
function slotOf(domain: number, location: number): string {
  return `${hex(domain, 4)}:${hex(location >> 8, 2)}:${hex((location >> 3) & 0x1f, 2)}.${location & 7}`
}

export function createKfd(files: Files, sys: string): Kfd {
  const root = `${sys}/class/kfd/kfd`
  let nodes: readonly KfdNode[] | undefined

  const readNodes = (): readonly KfdNode[] => {
    const found: KfdNode[] = []
    const cardOf = new Map<string, string>()
    for (const name of files.list(`${root}/topology/nodes`).slice(0, MOST_NODES)) {
      const text = files.text(`${root}/topology/nodes/${name}/properties`)
      if (isFailure(text)) continue
      const property = (key: string): string => new RegExp(`^${key} (\\d+)$`, 'm').exec(text)?.[1] ?? '0'
      if (property('simd_count') === '0') continue
      const id = files.text(`${root}/topology/nodes/${name}/gpu_id`)
      const location = Number(property('location_id'))
      const uniqueId = property('unique_id')
      const domain = Number(property('domain'))
      const own = slotOf(domain, location)
      // Partitions of a card have its unique_id; the first of them is at the card's address.
      const slot = uniqueId === '0' ? own : (cardOf.get(uniqueId) ?? own)
      cardOf.set(uniqueId, slot)
      found.push({ gpuId: isFailure(id) ? '' : id, slot, target: Number(property('gfx_target_version')), uniqueId })
    }
    return found
  }
  const all = (): readonly KfdNode[] => (nodes ??= readNodes())
  const nodesAt = (slot: string): readonly KfdNode[] => all().filter((node) => node.slot === slot)
  return {
    nodes: all,
    nodesAt,
    pids: () =>
      new Set(
        files
          .list(`${root}/proc`)
          .filter((name) => /^\d+$/.test(name))
          .slice(0, MOST_PIDS)
          .map(Number),
      ),
    bytes(pid, slot) {
      let sum: number | undefined
      for (const { gpuId } of nodesAt(slot)) {
        const bytes = gpuId === '' ? undefined : files.number(`${root}/proc/${pid}/vram_${gpuId}`)
        if (bytes !== undefined && !isFailure(bytes)) sum = (sum ?? 0) + bytes
      }
      return sum
    },
  }
}
