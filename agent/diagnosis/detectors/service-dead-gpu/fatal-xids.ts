// Xids after which nothing that ran on a GPU can go on: it must be reset, or the host rebooted. By NVML's count and by the kernel's line.
import type { Event } from '../../../model/event.ts'
import { xidFacts } from '../../faults/xid.ts'
import { createXidCounter } from '../../incidents/xid-counter.ts'
import { xidEntry } from '../../xid/catalogue.ts'
import type { XidAction } from '../../xid/entry.ts'
import type { Present } from '../parts/present.ts'

export type FatalXid = { readonly t: number; readonly xid: number }
export type FatalXids = {
  readonly ingest: (event: Event) => void
  /** The newest of a GPU. */
  readonly of: (uuid: string) => FatalXid | undefined
}

const FATAL: ReadonlySet<XidAction> = new Set<XidAction>(['reset-gpu', 'drain-and-reset', 'reboot'])
const MAX_GPUS = 1_024

export function createFatalXids(present: Present): FatalXids {
  const newest = new Map<string, FatalXid>()
  const risen = createXidCounter()
  const atBus = (bus: string | undefined): string | undefined => (bus === undefined ? undefined : present.inventory.byBus(bus)?.uuid)
  const note = (uuid: string | undefined, xid: number | undefined, t: number): void => {
    if (uuid === undefined || xid === undefined || !FATAL.has(xidEntry(xid).action)) return
    if (newest.size >= MAX_GPUS && !newest.has(uuid)) return
    newest.set(uuid, { t, xid })
  }
  return {
    ingest(event) {
      if (event.type === 'log') {
        if (event.stream !== 'kernel' || !event.text.includes('Xid')) return
        const facts = xidFacts(event.text)
        note(atBus(facts?.pci_bus_id), facts?.xid, event.t)
      } else if (event.type === 'scrape') {
        for (const { uuid, xid } of risen(event)) note(uuid, xid, event.t)
      }
    },
    of: (uuid) => newest.get(uuid),
  }
}
