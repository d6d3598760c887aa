// A snapshot file: totals, what would fit, the map of its segments, who allocated, what to change.
import { timeWithSeconds, zoneName } from '../../../../../agent/text/time.ts'
import { RemedyList } from '../../../parts/incident/account.tsx'
import { memory } from '../../../text/format.ts'
import { BlockDetail } from './block.tsx'
import { NoFile } from './drop.tsx'
import { MapPanel } from './map/panel.tsx'
import type { DeviceAnalysis, LastOom } from './messages.ts'
import { RequestForm } from './request-form.tsx'
import { SiteList } from './sites.tsx'
import { device, report } from './state.ts'
import { PoolTable, SegmentTable } from './tables.tsx'
import { SnapshotHead, Totals } from './totals.tsx'

function Oom({ of }: { readonly of: LastOom }) {
  const when = of.time_ms === undefined ? '' : ` at ${timeWithSeconds(of.time_ms)} ${zoneName(of.time_ms)}`
  const free = of.device_free_bytes === undefined ? '' : `, with ${memory(of.device_free_bytes)} free on the GPU`
  const { frame } = of
  return (
    <p class="last-oom">
      The history ends in an out-of-memory error{when}: {memory(of.rounded_request_bytes)} on device {of.device}
      {free}
      {frame === undefined ? '' : `, asked for at ${frame.file}${frame.line === undefined ? '' : `:${frame.line}`} ${frame.function}`}.
    </p>
  )
}

function Advice({ of }: { readonly of: DeviceAnalysis }) {
  if (of.remedies.length === 0) return null
  return (
    <section class="part" aria-labelledby="advice-title">
      <h3 id="advice-title">What to change</h3>
      <RemedyList remedies={of.remedies} />
    </section>
  )
}

function Unsaid() {
  const { notes = [], unknown = [] } = report.value?.analysis ?? {}
  return (
    <section class="part unsaid" aria-labelledby="unsaid-title">
      <h3 id="unsaid-title">Not in this file</h3>
      <ul>
        {[...notes, ...unknown].map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </section>
  )
}

export function SnapshotPart() {
  const found = report.value
  const of = device.value
  if (found === undefined) return <NoFile />
  if (of === undefined)
    return (
      <>
        <SnapshotHead />
        <p class="nothing">PyTorch held no memory when this snapshot was taken.</p>
      </>
    )
  const oom = found.analysis.trace?.last_oom
  return (
    <div class="snapshot">
      <SnapshotHead />
      {oom !== undefined && <Oom of={oom} />}
      <Totals of={of} />
      <div class="snapshot-columns">
        {found.packed.bytes.length === 0 ? <PoolTable of={of} /> : <MapPanel />}
        <div class="snapshot-side">
          <RequestForm key={of.device} />
          {found.packed.bytes.length > 0 && <BlockDetail />}
          {found.packed.bytes.length > 0 && <SiteList of={of} />}
        </div>
      </div>
      {found.packed.bytes.length > 0 && <SegmentTable />}
      <div class="snapshot-foot">
        <Advice of={of} />
        <Unsaid />
      </div>
    </div>
  )
}
