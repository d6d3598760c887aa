// The GPUs of this host now: memory and who holds it, load, power, temperature.
import { memoryText } from '../../text/bytes.ts'
import { percent } from '../../text/figures.ts'
import { inLine } from '../answer.ts'
import { gpu, processRow, rowsOf } from '../rows.ts'
import { tool } from '../tool.ts'

const STALE_S = 5
const MAX_HOLDERS = 4

export const gpus = tool({
  name: 'gpus',
  title: 'GPUs now',
  description: 'Each GPU of the host now: memory used and by whom, utilisation, power, temperature, and whether it answers.',
  input: {},
  hint: 'Ask for one of them with history.',
  async run(_input, ask) {
    const [cards, processes] = await Promise.all([rowsOf(ask, '/api/v1/gpus', gpu), rowsOf(ask, '/api/v1/processes', processRow)])
    if (cards.length === 0) return ['No GPUs are read on this host. Ask doctor why.']
    return cards.map((card) => {
      const { memory_used_bytes: used, memory_total_bytes: total, power_watts: watts, temperature_celsius: celsius, sample_age_seconds: age = 0 } = card
      const held = processes.filter(({ uuid }) => uuid === card.uuid).toSorted((a, b) => (b.gpu_memory_bytes ?? 0) - (a.gpu_memory_bytes ?? 0))
      const holders = held
        .slice(0, MAX_HOLDERS)
        .map(
          (one) =>
            `${inLine(one.container ?? one.slurm_job ?? one.unit ?? one.process, 60)} pid ${one.pid}${one.gpu_memory_bytes === undefined ? '' : ` ${memoryText(one.gpu_memory_bytes)}`}`,
        )
      const slowed = Object.entries(card.throttle_active ?? {}).flatMap(([reason, on]) => (on === 1 && reason !== 'gpu_idle' ? [reason] : []))
      return [
        `GPU ${card.index} ${inLine(card.name ?? '', 60)}`,
        used === undefined || total === undefined ? 'memory not readable' : `${memoryText(used)} of ${memoryText(total)} used`,
        card.utilization_ratio === undefined ? 'utilisation not readable' : `${percent(card.utilization_ratio)} busy`,
        ...(watts === undefined ? [] : [`${watts.toFixed(0)} W`]),
        ...(celsius === undefined ? [] : [`${celsius.toFixed(0)} °C`]),
        ...(age > STALE_S ? [`NOT RESPONDING for ${Math.round(age)} s`] : []),
        ...(slowed.length === 0 ? [] : [`slowed by ${slowed.join(', ')}`]),
        held.length === 0 ? 'no process' : `held by ${holders.join('; ')}${held.length > MAX_HOLDERS ? ` and ${held.length - MAX_HOLDERS} more` : ''}`,
      ].join(', ')
    })
  },
})
