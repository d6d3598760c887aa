// What the snapshot says of a device in one sentence and one bar.
import { shareText } from '../../../../../agent/text/figures.ts'
import { PALETTES } from '../../../parts/chart/palette.ts'
import { closeFile, device, file } from './state.ts'
import { setParams } from '../../../parts/route.ts'
import { theme } from '../../../parts/theme.ts'
import { memory } from '../../../text/format.ts'
import type { DeviceAnalysis } from './messages.ts'
import { FilePicker } from './drop.tsx'

type Part = { readonly id: string; readonly name: string; readonly note: string; readonly bytes: number }
function partsOf({
  allocated_bytes: live,
  pending_bytes: pending,
  free_bytes: free,
  stranded_bytes: holes,
  releasable_bytes: cache,
}: DeviceAnalysis): readonly Part[] {
  const parts: Part[] = [{ id: 'allocated', name: 'In use', note: 'live blocks', bytes: live }]
  if (pending > 0) parts.push({ id: 'pending', name: 'Waiting', note: 'freed, a stream may still use it', bytes: pending })
  if (holes === undefined || cache === undefined) return [...parts, { id: 'releasable', name: 'Free', note: 'the file does not tell more', bytes: free }]
  return [
    ...parts,
    { id: 'stranded', name: 'Stranded', note: 'free pieces between live blocks; no flush gives it back', bytes: holes },
    { id: 'releasable', name: 'Cache', note: 'a flush gives it back', bytes: cache },
  ]
}

/** What is in use as the map colours it: by the place that allocated it, where that was recorded. */
function InUse({ of }: { readonly of: DeviceAnalysis }) {
  const { containers, host } = PALETTES[theme.value]
  const { allocated_bytes: live, live: sites, reserved_bytes: reserved } = of
  if (sites.recorded_bytes === 0) return <span class="state-allocated" style={{ flexGrow: live / reserved }} />
  const named = sites.top.map(({ bytes, frames }, rank) => ({ bytes, colour: frames.length > 0 ? containers[rank % containers.length] : host }))
  return (
    <>
      {[...named, { bytes: sites.others.bytes, colour: host }].map(
        ({ bytes, colour }, i) => bytes > 0 && <span key={i} class="by-site" style={{ flexGrow: bytes / reserved, '--swatch': colour }} />,
      )}
    </>
  )
}

export function Totals({ of }: { readonly of: DeviceAnalysis }) {
  const parts = partsOf(of)
  const { reserved_bytes: reserved, internal } = of
  return (
    <section class="snapshot-totals" aria-label={`Device ${of.device}`}>
      <p class="verdict">{of.verdict}</p>
      <div class="state-bar" aria-hidden="true">
        <InUse of={of} />
        {parts.map(({ id, bytes }) => bytes > 0 && id !== 'allocated' && <span key={id} class={`state-${id}`} style={{ flexGrow: bytes / reserved }} />)}
      </div>
      <dl class="state-list">
        {parts.map(({ id, name, note, bytes }) => (
          <div key={id} data-part={id}>
            <dt>
              {(id !== 'allocated' || of.live.recorded_bytes === 0) && <span class={`swatch state-${id}`} />}
              {name}
            </dt>
            <dd>
              <b>{memory(bytes)}</b> <span class="of">{shareText(bytes, reserved)}</span>
              <span class="tile-note">{note}</span>
            </dd>
          </div>
        ))}
        <div data-part="reserved">
          <dt>Reserved</dt>
          <dd>
            <b>{memory(reserved)}</b> <span class="of">{of.segments === 1 ? '1 segment' : `${of.segments} segments`}</span>
            <span class="tile-note">largest free block {memory(of.largest_free_bytes)}</span>
          </dd>
        </div>
        {internal !== undefined && (
          <div data-part="waste">
            <dt>Rounding</dt>
            <dd>
              <b>{memory(internal.waste_bytes)}</b> <span class="of">{shareText(internal.waste_bytes, internal.active_bytes)}</span>
              <span class="tile-note">blocks larger than what was asked for</span>
            </dd>
          </div>
        )}
      </dl>
    </section>
  )
}

/** The file's name, the device where there are several, and the way to another file. */
export function SnapshotHead() {
  const now = file.value
  if (now.state !== 'there') return null
  const { devices, settings, expandable_segments: expandable, trace } = now.report.analysis
  const about = [
    memory(now.bytes),
    `expandable segments ${expandable ? 'on' : 'off'}`,
    ...(settings?.text === undefined || settings.text === '' ? [] : [settings.text]),
    ...(trace === undefined || trace.entries === 0 ? [] : [trace.entries === 1 ? '1 entry of history' : `${trace.entries} entries of history`]),
  ]
  return (
    <header class="snapshot-head">
      <div>
        <h2>{now.name}</h2>
        <p class="sub">{about.join(' · ')}</p>
      </div>
      {devices.length > 1 && (
        <label class="choice">
          <span>Device</span>
          <select
            name="device"
            value={device.value?.device ?? ''}
            onChange={(event) => setParams({ device: event.currentTarget.value, pool: undefined, site: undefined })}
          >
            {devices.map(({ device: number, reserved_bytes: reserved }) => (
              <option key={number} value={number}>{`Device ${number} (${memory(reserved)})`}</option>
            ))}
          </select>
        </label>
      )}
      <div class="buttons">
        <FilePicker label="Another file …" />
        <button type="button" onClick={closeFile}>
          Close
        </button>
      </div>
    </header>
  )
}
