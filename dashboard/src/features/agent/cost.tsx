// What the agent costs this host: CPU and memory of its main process over the last 15 minutes.
import { type Figure } from '../../../../agent/text/bytes.ts'
import { timeOfDay, zoneName } from '../../../../agent/text/time.ts'
import { cost, known } from './state.ts'
import { COST } from './cost-lanes.ts'
import { memoryFigure, NO_FIGURE, percentFigure } from '../../text/format.ts'
import { Readout } from '../../parts/chart/readout.tsx'
import { processResidentMemoryBytes } from '../../text/metric-names.ts'

/** The tops of the scales; what is above moves them. */
const CPU_TOP = 0.1
const MEMORY_TOP = 256 * 2 ** 20

/** Hundredths of a core matter here. */
const corePercent = (cores: number | undefined): Figure =>
  cores === undefined ? NO_FIGURE : { value: (cores * 100).toFixed(cores < 0.0995 ? 1 : 0), unit: '%' }

function residentBytes(): number | undefined {
  const now = known.value
  return now.state === 'there' ? now.health.figures.one(processResidentMemoryBytes) : undefined
}

export function Cost() {
  const { since } = cost.value
  const recorded = since === undefined ? '' : `, recorded since ${timeOfDay(since)} ${zoneName(since)}`
  return (
    <section class="panel" aria-labelledby="cost-title">
      <h2 id="cost-title">What it costs</h2>
      <div class="cost">
        <Readout name="CPU" id="agent-cpu" figure={() => corePercent(cost.value.cpu)} beside={() => 'of one core'} lane={COST.cpu} range={() => [0, CPU_TOP]} />
        <Readout name="Memory" id="agent-memory" figure={() => memoryFigure(residentBytes())} lane={COST.memory} range={() => [0, MEMORY_TOP]} />
        <Readout name="Event loop busy" id="agent-busy" figure={() => percentFigure(cost.value.busy)} lane={COST.busy} range={() => [0, 1]} />
      </div>
      <p class="sub">The main process, over the last 15 minutes{recorded}. The child process that asks the driver is not part of it.</p>
    </section>
  )
}
