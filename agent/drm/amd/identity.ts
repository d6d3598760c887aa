// Who an AMD card is: UUID, name, firmware, serial number, and how it is partitioned.
import { gpuPartitionInfo } from '../../metrics/gpu-identity.ts'
import { gpuPcieReplayTotal } from '../../metrics/gpu-links.ts'
import { makeSeries } from '../../model/series.ts'
import { failureOf } from '../../nvml/codes.ts'
import type { Card, CardCollector, FoundCard, Vendor } from '../card.ts'
import { createKfd, targetName } from '../clients/kfd.ts'
import { isFailure, ueventValue, type Files, type Roots } from '../files.ts'
import { identityCollector } from '../parts/identity.ts'
import { nameInPciIds } from '../parts/pci-ids.ts'
import { firstRead, report } from '../parts/report.ts'
import { figureOf } from './table.ts'

const textOr = (files: Files, path: string): string => {
  const text = files.text(path)
  return isFailure(text) ? '' : text.trim()
}

/** From files that ask no hardware: an APU has no memory chips of its own and no fan or power limit of a board. */
export const isIntegrated: Vendor['isIntegrated'] = (files, { device }) => {
  // An accelerator (PCI class 0x12) is a card of its own, or of MI300A's kind: all of its memory is VRAM. In a virtual machine it shows few sensors.
  if (ueventValue(textOr(files, `${device}/uevent`), 'PCI_CLASS')?.startsWith('12') === true) return false
  const hwmon = files.list(`${device}/hwmon`)[0] ?? 'hwmon'
  if (textOr(files, `${device}/hwmon/${hwmon}/in1_label`) === 'vddnb') return true
  const names = new Set(files.list(device))
  const sensors = new Set(files.list(`${device}/hwmon/${hwmon}`))
  if (!names.has('mem_info_gtt_total') || names.has('current_compute_partition') || sensors.size === 0) return false
  return !names.has('mem_busy_percent') && !names.has('mem_info_vram_vendor') && !sensors.has('fan1_input') && !sensors.has('power1_cap')
}

/** The board's own name, else what the host's lists call it, else its numbers. */
function nameOf(files: Files, card: FoundCard, roots: Roots): string {
  const product = textOr(files, `${card.device}/product_name`)
  if (product !== '') return product
  const revision = textOr(files, `${card.device}/revision`)
  const listed = nameInPciIds(card.pciId, revision)
  if (listed !== undefined) return listed
  const target = createKfd(files, roots.sys).nodesAt(card.slot)[0]?.target ?? 0
  return `AMD GPU ${card.pciId}${target === 0 ? '' : ` (${targetName(target)})`}`
}

export const identify: Vendor['identify'] = (files, card, roots) => {
  // 16 hex digits, the same in every machine; small cards have none and are known by their slot.
  const unique = textOr(files, `${card.device}/unique_id`).toLowerCase()
  const uuid = /^[0-9a-f]{1,16}$/.test(unique) && !/^0+$/.test(unique) ? `amd-${unique.padStart(16, '0')}` : `pci-${card.slot}`
  return { uuid, name: nameOf(files, card, roots) }
}

export const identity = identityCollector('amd', ({ files, device, slot }) => ({
  pci_bus_id: slot,
  vbios_version: textOr(files, `${device}/vbios_version`),
  serial: textOr(files, `${device}/serial_number`),
}))

/** Partitions of a card, which power, temperature and activity do not distinguish. */
export const partitions: CardCollector = {
  id: 'partitions',
  rate: 'rare',
  readsAsleep: true,
  metrics: [gpuPartitionInfo],
  attach(card: Card) {
    const { files, device } = card
    const compute = textOr(files, `${device}/current_compute_partition`)
    const nodes = card.clients.kfd.nodesAt(card.slot).length
    if (compute === '' && nodes <= 1) return undefined
    return {
      read(out) {
        const mode = textOr(files, `${device}/current_compute_partition`)
        const memory = textOr(files, `${device}/current_memory_partition`)
        out.reading(makeSeries(gpuPartitionInfo, { ...card.labels, compute: mode, memory, partitions: String(Math.max(1, nodes)) }), 1)
      },
    }
  },
}

export const pcieReplays: CardCollector = {
  id: 'pcie-replays',
  rate: 'slow',
  readsAsleep: false,
  metrics: [gpuPcieReplayTotal],
  attach(card) {
    const series = makeSeries(gpuPcieReplayTotal, card.labels)
    const integrated = failureOf(`${card.device}/pcie_replay_count`, -2, 'not_supported', 'a GPU on the chip of the CPU has no PCIe slot')
    return {
      read(out) {
        const count = firstRead(
          () => card.askNumber(`${card.device}/pcie_replay_count`),
          () => figureOf(card, 'replays'),
        )
        report(out, series, card.integrated ? integrated : count)
      },
    }
  },
}
