// Names of metrics in OTLP: those of the conventions exist there, ours come back through Prometheus, and no name means two things.
import * as conventions from '@opentelemetry/semantic-conventions/incubating'
import { describe, expect, test } from 'vitest'
import { catalogue } from '../../../agent/catalogue.ts'
import { BY_LABEL } from '../../../agent/sinks/otlp/attributes.ts'
import { otlpNameOf, otlpNames, type OtlpName } from '../../../agent/sinks/otlp/names.ts'
import { gpuEccErrorsTotal } from '../../../agent/metrics/gpu-errors.ts'

const named = catalogue.flatMap((metric) => otlpNames(metric).map((name) => ({ metric, name })))
const known = (prefix: string): ReadonlySet<unknown> => new Set(Object.entries(conventions).flatMap(([key, value]) => (key.startsWith(prefix) ? [value] : [])))
const METRICS = known('METRIC_')
const ATTRIBUTES = known('ATTR_')

/** The rules by which Prometheus, its Go library and the collector's exporter name what comes over OTLP: opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics. */
function inPrometheus({ name, unit, instrument }: OtlpName): string {
  const words: Readonly<Record<string, string>> = { By: 'bytes', s: 'seconds', W: 'watts', Cel: 'celsius', J: 'joules', Hz: 'hertz' }
  const [main = '', per] = unit.replaceAll(/\{[^}]*\}/g, '').split('/')
  const suffixes = [
    ...(words[main] === undefined ? [] : [words[main]]),
    ...(per === undefined ? [] : [per === 's' ? 'per_second' : `per_${per}`]),
    ...(instrument === 'counter' ? ['total'] : []),
    ...(unit === '1' && instrument === 'gauge' ? ['ratio'] : []),
  ]
  const tokens = name.split(/[^a-zA-Z0-9]+/)
  return [...tokens, ...suffixes.filter((suffix) => !tokens.includes(suffix))].join('_')
}

describe('names of metrics over OTLP', () => {
  test('those of conventions, and their attributes, are in the conventions', () => {
    const wanted = named.flatMap(({ name }) => (name.convention === undefined ? [] : [name]))
    expect(wanted.length).toBeGreaterThan(15)
    expect(wanted.map(({ name }) => name).filter((name) => !METRICS.has(name))).toEqual([])
    const attributes = wanted.flatMap(({ convention }) => [...Object.keys(convention?.attributes ?? {}), ...Object.values(convention?.labels ?? {})])
    expect(attributes.filter((name) => !ATTRIBUTES.has(name))).toEqual([])
    const values = new Set<unknown>(Object.values(conventions))
    const reported = wanted.flatMap(({ convention }) => Object.entries(convention?.attributes ?? {}))
    // Free texts by the conventions.
    const free = new Set(['hw.sensor_location', 'error.type'])
    expect(reported.filter(([attribute, value]) => !free.has(attribute) && !values.has(value))).toEqual([])
  })

  test('the attributes that labels become are in the conventions', () => {
    const attributes = Object.values(BY_LABEL).flatMap(({ names }) => names.replaceAll(/ \(.*?\)/g, '').split(', '))
    expect(attributes.length).toBeGreaterThan(10)
    expect(attributes.filter((name) => !ATTRIBUTES.has(name))).toEqual([])
  })

  test('ours get their names in /metrics back from Prometheus', () => {
    const own = named.filter(({ name }) => name.convention === undefined)
    expect(own.length).toBeGreaterThan(80)
    expect(own.map(({ name }) => inPrometheus(name))).toEqual(own.map(({ metric }) => metric.name))
  })

  test('one name has one unit and one instrument, and is no namespace of another', () => {
    const first = new Map<string, OtlpName>()
    for (const { name } of named) {
      const other = first.get(name.name) ?? name
      expect([name.name, name.unit, name.instrument]).toEqual([name.name, other.unit, other.instrument])
      first.set(name.name, other)
    }
    const names = [...first.keys()]
    expect(names.filter((name) => !/^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$/.test(name))).toEqual([])
    // hw.temperature and its limit are so by the conventions.
    expect(names.filter((name) => !name.startsWith('hw.') && names.some((other) => other.startsWith(`${name}.`)))).toEqual([])
  })

  test('a series has the first name that fits it, else our own', () => {
    const nameOf = (type: string, scope: string): string => otlpNameOf(gpuEccErrorsTotal, { gpu: '0', uuid: 'GPU-1', type, scope }).name
    expect([nameOf('corrected', 'volatile'), nameOf('uncorrected', 'volatile'), nameOf('corrected', 'aggregate')]).toEqual([
      'hw.errors',
      'hw.errors',
      'warpwatch.gpu.ecc_errors',
    ])
  })

  test.each([
    ['warpwatch_gpu_memory_free_bytes', 'warpwatch.gpu.memory_free', 'By', 'gauge'],
    ['warpwatch_gpu_memory_used_bytes', 'hw.gpu.memory.usage', 'By', 'updowncounter'],
    ['warpwatch_gpu_energy_joules_total', 'hw.energy', 'J', 'counter'],
    ['warpwatch_gpu_pcie_link_width', 'warpwatch.gpu.pcie_link_width', '', 'gauge'],
    ['warpwatch_gpu_info', 'warpwatch.gpu.info', '', 'gauge'],
    ['warpwatch_gpus_present', 'warpwatch.gpus_present', '{gpu}', 'gauge'],
    ['warpwatch_incidents_total', 'warpwatch.incidents', '{incident}', 'counter'],
    ['process_open_fds', 'process.unix.file_descriptor.count', '{file_descriptor}', 'updowncounter'],
  ])('%s is %s', (metric, name, unit, instrument) => {
    const found = named.find((entry) => entry.metric.name === metric)?.name
    expect(found).toMatchObject({ name, unit, instrument })
  })
})
