// The metrics: the names of the contract exist, units agree with names, every help text is a sentence.
import { describe, expect, test } from 'vitest'
import { catalogue, metricNamed } from '../../agent/catalogue.ts'

/** Public names that users script against, with their kind and the labels beside gpu and uuid that they must carry. */
const CONTRACT: Readonly<Record<string, readonly [kind: string, ...labels: string[]]>> = {
  gpu_info: ['info', 'gpu', 'uuid', 'name', 'pci_bus_id', 'driver_version', 'cuda_version', 'vbios_version', 'serial', 'minor'],
  gpu_memory_total_bytes: ['gauge', 'gpu', 'uuid', 'gi', 'ci'],
  gpu_memory_used_bytes: ['gauge', 'gpu', 'uuid', 'gi', 'ci'],
  gpu_memory_free_bytes: ['gauge', 'gpu', 'uuid', 'gi', 'ci'],
  gpu_memory_reserved_bytes: ['gauge', 'gpu', 'uuid'],
  gpu_memory_used_peak_bytes: ['gauge', 'gpu', 'uuid'],
  gpu_memory_unattributed_bytes: ['gauge', 'gpu', 'uuid'],
  gpu_sample_age_seconds: ['gauge', 'gpu', 'uuid'],
  gpu_utilization_ratio: ['gauge', 'gpu', 'uuid'],
  gpu_memory_utilization_ratio: ['gauge', 'gpu', 'uuid'],
  gpu_encoder_utilization_ratio: ['gauge', 'gpu', 'uuid'],
  gpu_decoder_utilization_ratio: ['gauge', 'gpu', 'uuid'],
  gpu_temperature_celsius: ['gauge', 'gpu', 'uuid'],
  gpu_memory_temperature_celsius: ['gauge', 'gpu', 'uuid'],
  gpu_power_watts: ['gauge', 'gpu', 'uuid'],
  gpu_power_limit_watts: ['gauge', 'gpu', 'uuid'],
  gpu_fan_speed_ratio: ['gauge', 'gpu', 'uuid'],
  gpu_energy_joules_total: ['counter', 'gpu', 'uuid'],
  gpu_clock_hertz: ['gauge', 'gpu', 'uuid', 'domain'],
  gpu_clock_max_hertz: ['gauge', 'gpu', 'uuid', 'domain'],
  gpu_performance_state: ['gauge', 'gpu', 'uuid'],
  gpu_throttle_active: ['gauge', 'gpu', 'uuid', 'reason'],
  gpu_throttle_seconds_total: ['counter', 'gpu', 'uuid', 'reason'],
  gpu_ecc_errors_total: ['counter', 'gpu', 'uuid', 'type', 'scope'],
  gpu_retired_pages: ['gauge', 'gpu', 'uuid', 'cause'],
  gpu_remapped_rows: ['gauge', 'gpu', 'uuid', 'type'],
  gpu_row_remap_pending: ['gauge', 'gpu', 'uuid'],
  gpu_row_remap_failure: ['gauge', 'gpu', 'uuid'],
  gpu_pcie_link_generation: ['gauge', 'gpu', 'uuid'],
  gpu_pcie_link_width: ['gauge', 'gpu', 'uuid'],
  gpu_pcie_replay_total: ['counter', 'gpu', 'uuid'],
  gpu_pcie_throughput_bytes_per_second: ['gauge', 'gpu', 'uuid', 'direction'],
  gpu_xid_errors_total: ['counter', 'gpu', 'uuid', 'xid'],
  gpu_xid_last_timestamp_seconds: ['gauge', 'gpu', 'uuid', 'xid'],
  process_gpu_memory_bytes: ['gauge', 'gpu', 'uuid', 'pid', 'process', 'container'],
  container_gpu_memory_bytes: ['gauge', 'gpu', 'uuid', 'container', 'container_id', 'image', 'compose_project', 'compose_service', 'namespace', 'pod'],
  container_cpu_seconds_total: ['counter', 'container', 'container_id', 'image', 'compose_project', 'compose_service', 'namespace', 'pod'],
  container_memory_bytes: ['gauge', 'container', 'container_id'],
  container_memory_limit_bytes: ['gauge', 'container', 'container_id'],
  container_oom_kills_total: ['counter', 'container', 'container_id'],
  container_restarts_total: ['counter', 'container', 'container_id'],
  incident_active: ['gauge', 'kind', 'severity', 'gpu', 'uuid', 'container'],
  incidents_total: ['counter', 'kind'],
  incident_last_timestamp_seconds: ['gauge', 'kind'],
  agent_source_duration_seconds: ['gauge', 'source'],
  agent_source_up: ['gauge', 'source'],
  agent_gaps_total: ['counter', 'source', 'reason'],
  agent_sink_dropped_total: ['counter', 'sink'],
}

describe('metrics', () => {
  test.each(Object.entries(CONTRACT))('warpwatch_%s is as the contract says', (name, [kind, ...labels]) => {
    const def = metricNamed(`warpwatch_${name}`)
    expect(def?.kind).toBe(kind)
    expect(def?.labels).toEqual(expect.arrayContaining(labels))
  })

  test('units and names agree', () => {
    const SUFFIX: Readonly<Record<string, readonly string[]>> = {
      _bytes: ['By'],
      _seconds: ['s'],
      _watts: ['W'],
      _celsius: ['Cel'],
      _hertz: ['Hz'],
      _joules: ['J'],
      _ratio: ['1'],
    }
    const wrong = catalogue.filter((def) => {
      const base = def.name.replace(/_total$/, '')
      return Object.entries(SUFFIX).some(([suffix, units]) => base.endsWith(suffix) && !units.includes(def.unit))
    })
    expect(wrong.map((def) => `${def.name} in ${def.unit}`)).toEqual([])
  })

  test('every help text is a sentence of its own', () => {
    const wrong = catalogue.filter((def) => def.help.length < 15 || !/[.)]$/.test(def.help))
    expect(wrong.map((def) => `${def.name}: ${def.help}`)).toEqual([])
  })
})
