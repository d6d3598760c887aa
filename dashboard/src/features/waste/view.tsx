// GPU time that was held and idle, or lost: by user, namespace or Slurm account, over a period of one's choice. The summary that is sent leads here.
import './style.css'
import { useEffect } from 'preact/hooks'
import { hoursText, priceText } from '../../../../agent/text/waste.ts'
import type { WasteGroup, WasteSummary } from '../../../../agent/model/ledger.ts'
import { JobTabs } from '../../parts/job/tabs.tsx'
import { stale } from '../../parts/live/state.ts'
import { RangeButtons } from '../../parts/range/picker.tsx'
import { setParams } from '../../parts/route.ts'
import { by, GROUPS, known, period, PERIODS, watchWaste } from './state.ts'
import { UNKNOWN_OWNER } from './names.ts'
import { WasteTable } from './table.tsx'

const CHOICES = GROUPS.map((id) => ({ id, label: id }))

/** What is listed in one sentence: who wasted next to nothing is not, so it is no share of all that was held. */
function Total({ summary: { rows }, by }: { readonly summary: WasteSummary; readonly by: WasteGroup }) {
  const sum = (of: (row: WasteSummary['rows'][number]) => number): number => rows.reduce((all, row) => all + of(row), 0)
  const idle = sum((row) => row.gpu_hours_idle)
  const lost = sum((row) => row.gpu_hours_lost)
  const priced = rows.some(({ price }) => price !== undefined)
  if (rows.length === 0) return null
  return (
    <p class="waste-total">
      <b>{`${hoursText(idle + lost)} GPU hours`}</b> idle or lost
      {priced && (
        <b>{` (${priceText(
          sum(({ price }) => price ?? 0),
          rows.find(({ currency }) => currency !== undefined)?.currency,
        )})`}</b>
      )}
      {` of the ${hoursText(sum((row) => row.gpu_hours_held))} that ${rows.length === 1 ? `this ${by}` : `these ${by}s`} held in ${period.value.spoken}.`}
    </p>
  )
}

function Answer() {
  const now = known.value
  if (now.state === 'asking')
    return (
      <p class="nothing" role="status" aria-busy="true">
        Asking the agent …
      </p>
    )
  if (now.state === 'failed')
    return (
      <p class="nothing" role="alert">
        The use could not be fetched: {now.why}. The page tries again.
      </p>
    )
  const { summary } = now
  return (
    <>
      <Total summary={summary} by={now.by} />
      <WasteTable rows={summary.rows} by={now.by} spoken={period.value.spoken} />
      <div class="waste-notes">
        <p>
          <b>Held</b>: each job with GPU memory counts, so a GPU that two jobs share counts twice. <b>Idle</b>: no kernel ran on that GPU, split between those
          who held it. <b>Whole idle hours</b>: another job could have had the GPU. <b>Lost</b>: GPU time since the last checkpoint of runs that failed, split
          in the same way; an incident counts the whole GPU.
        </p>
        {summary.rows.some((row) => row[now.by] === undefined) && <p>{UNKNOWN_OWNER[now.by]}</p>}
        {!summary.rows.some(({ price }) => price !== undefined) && (
          <p>
            To see what it cost, set your prices in <code>warpwatch.yaml</code>: <code>{'costs: {gpu_hour: 2.5, kwh: 0.3, currency: EUR}'}</code>
          </p>
        )}
        <p>
          In a terminal: <code>{`warpwatch jobs --waste --since ${period.value.days}d${now.by === 'user' ? '' : ` --by ${now.by}`}`}</code>, with{' '}
          <code>--csv</code> for a spreadsheet.
        </p>
      </div>
    </>
  )
}

export function Waste() {
  useEffect(watchWaste, [])
  const [now, group] = [period.value, by.value]
  return (
    <div class={stale.value ? 'content stale waste' : 'content waste'}>
      <JobTabs here="waste" />
      <section class="panel" aria-labelledby="waste-page-title">
        <h2 id="waste-page-title" class="spoken">
          Idle and lost GPU time
        </h2>
        <div class="filters">
          <div class="choice">
            <span>Period</span>
            <RangeButtons ranges={PERIODS} now={now} label="Period" onPick={({ id }) => setParams({ days: id })} />
          </div>
          <div class="choice">
            <span>Sum by</span>
            <RangeButtons
              ranges={CHOICES}
              now={{ id: group, label: group }}
              label="Sum by"
              onPick={({ id }) => setParams({ by: id === 'user' ? undefined : id })}
            />
          </div>
        </div>
      </section>
      <Answer />
    </div>
  )
}
