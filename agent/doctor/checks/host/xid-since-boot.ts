// What the driver reported in the kernel's log since boot: hardware that broke, apart from programs that misbehaved.
import { xid as xidFamily, xidFacts } from '../../../diagnosis/faults/xid.ts'
import { plan } from '../../../diagnosis/faults/remedies/plan.ts'
import { actionsFor } from '../../../diagnosis/xid/actions.ts'
import { xidEntry } from '../../../diagnosis/xid/catalogue.ts'
import { timesText } from '../../../text/grammar.ts'
import { agoText } from '../../../text/span.ts'
import { defineCheck, type Finding } from '../../definition.ts'
import { readKernelLines } from '../../parts/kernel-lines.ts'
import { skipped } from '../../parts/nvidia-pci.ts'

type XidCount = { readonly xid: number; readonly address: string; count: number; last: number }

/** Older ones may have been fixed by a reset since; they are reported, and fail nothing. */
const RECENT_S = 24 * 3_600

export const xidSinceBoot = defineCheck({
  id: 'xid-since-boot',
  group: 'host',
  title: 'the driver has reported no fault of a GPU since boot (Xid)',
  covers: ['xid', 'gpu_lost', 'ecc_error', 'illegal_memory_access', 'nvlink_errors'],
  timeoutMs: 4_000,
  async run({ files, run, distribution }) {
    if ((await distribution()).wsl !== 0) return skipped('WSL: Xids go to the event log of Windows (source nvlddmkm)')
    if (!(await files.exists('/proc/driver/nvidia/version')) && !(await files.exists('/sys/module/nvidia'))) return skipped('no NVIDIA driver is loaded')
    const log = await readKernelLines(run)
    if ('problem' in log) return skipped(`${log.problem}; as root it can: sudo warpwatch doctor`)
    const uptime = Number(((await files.readText('/proc/uptime')) ?? '').split(' ')[0])
    const found = new Map<string, XidCount>()
    for (const { text, at } of log.lines) {
      if (!xidFamily.literals.some((literal) => text.includes(literal))) continue
      const facts = xidFacts(text)
      if (facts?.xid === undefined) continue
      const address = facts.pci_bus_id ?? ''
      const key = `${facts.xid} ${address}`
      const known = found.get(key)
      if (known === undefined) found.set(key, { xid: facts.xid, address, count: 1, last: at })
      else {
        known.count++
        known.last = Math.max(known.last, at)
      }
    }
    if (found.size === 0)
      return [
        {
          status: 'pass',
          summary: `no Xid in the kernel's log, which reaches ${log.lines[0]?.at === undefined || log.lines[0].at < 60 ? 'back to the boot' : 'not back to the boot'}`,
        },
      ]
    return [...found.values()].map(({ xid, address, count, last }): Finding => {
      const entry = xidEntry(xid)
      const age = Number.isFinite(uptime) ? uptime - last : 0
      const times = `${timesText(count)}, last ${agoText(age)}`
      const base = { ...(address === '' ? {} : { subject: address }), summary: `Xid ${xid} (${entry.title}) ${times}`, detail: entry.meaning }
      // A program's own bug says nothing of the host; its incident is reported where it crashed.
      if (entry.severity === 'info' || entry.causes[0] === 'program' || entry.causes[0] === 'user') return { status: 'pass', ...base }
      return {
        status: entry.severity === 'critical' && age < RECENT_S ? 'fail' : 'warn',
        ...base,
        remedies: plan(
          entry.advice !== undefined && { text: entry.advice },
          actionsFor(entry.action, { xid, ...(address === '' ? {} : { pci_bus_id: address }) }),
        ),
      }
    })
  },
})
