// Whatever nvidia-smi prints: what a made-up host prints comes back as it was.
import * as fc from '../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import type { FieldId } from '../../agent/sources/nvidia-smi/field-id.ts'
import type { Values } from '../../agent/sources/nvidia-smi/gpu.ts'
import { parseNvidiaSmi } from '../../agent/sources/nvidia-smi/parse.ts'
import type { Parsed } from '../../agent/sources/nvidia-smi/result.ts'
import type { FakeGpu, Generation } from '../fakes/nvidia-smi/host.ts'
import { exampleHost } from '../fakes/nvidia-smi/host.ts'
import { printApps, printDmon, printList, printPmon, printQuery, printTable, printText } from '../fakes/nvidia-smi/print-text.ts'
import { printXml } from '../fakes/nvidia-smi/print-xml.ts'

const MIB = 2 ** 20
const optional = (max: number) => fc.option(fc.integer({ min: 0, max }), { nil: null })
const word = fc.stringMatching(/^[a-z][A-Za-z0-9_./-]{0,12}$/)
const uuid = fc.uuid().map((id) => `GPU-${id}`)

const processes = fc.uniqueArray(
  fc.record({
    pid: fc.integer({ min: 1, max: 4_194_304 }),
    type: fc.constantFrom('C' as const, 'G' as const, 'C+G' as const),
    name: fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(' ')),
    usedMib: optional(80_000),
  }),
  { selector: (process) => process.pid, maxLength: 4 },
)

const gpu: fc.Arbitrary<FakeGpu> = fc.record({
  uuid,
  name: fc.constantFrom('Example X100 40GB', 'Example RTX 1 Ti', 'Graphics Device'),
  busId: fc
    .tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 0, max: 31 }))
    .map(([bus, device]) => `00000000:${bus.toString(16).padStart(2, '0').toUpperCase()}:${device.toString(16).padStart(2, '0').toUpperCase()}.0`),
  totalMib: fc.integer({ min: 100_000, max: 200_000 }),
  reservedMib: fc.integer({ min: 0, max: 2_000 }),
  usedMib: fc.integer({ min: 0, max: 90_000 }),
  utilization: optional(100),
  memoryUtilization: optional(100),
  temperature: optional(110),
  memoryTemperature: optional(110),
  powerCentiwatts: optional(150_000),
  limitCentiwatts: optional(150_000),
  fan: optional(100),
  state: optional(15),
  clocksMhz: fc.record({ graphics: fc.nat(3_000), sm: fc.nat(3_000), memory: fc.nat(15_000), video: fc.nat(3_000) }),
  hwThermal: fc.boolean(),
  swPowerCapUs: fc.nat(),
  sramCorrected: fc.nat(1_000_000),
  dramCorrected: fc.nat(1_000_000),
  uncorrected: fc.nat(1_000),
  generation: fc.integer({ min: 1, max: 6 }),
  width: fc.constantFrom(1, 2, 4, 8, 16),
  migs: fc.uniqueArray(
    fc.record({
      gi: fc.integer({ min: 1, max: 14 }),
      ci: fc.integer({ min: 0, max: 6 }),
      totalMib: fc.integer({ min: 5_000, max: 40_000 }),
      usedMib: fc.integer({ min: 0, max: 5_000 }),
    }),
    { selector: (mig) => `${mig.gi}/${mig.ci}`, maxLength: 3 },
  ),
  processes,
})
const host = fc.uniqueArray(gpu, { selector: (one) => one.uuid, minLength: 1, maxLength: 3 }).map((gpus) => exampleHost(gpus))

function parsed(text: string, kind: Parsed['kind']): Parsed {
  const result = parseNvidiaSmi(text)
  if (result.kind !== kind) throw new Error(`expected ${kind}, came ${result.kind}${result.kind === 'error' ? `: ${result.message}` : ''}`)
  return result
}

/** A number to the last bit, or the reason why there is none. */
function reported({ values, missing }: Values, id: FieldId): string {
  return `${id} ${values.get(id) ?? missing.get(id)?.reason ?? 'nothing'}`
}
function expectValue(found: Values, id: FieldId, value: number | null): void {
  expect(reported(found, id)).toBe(`${id} ${value ?? 'not_supported'}`)
}

const percent = (value: number | null): number | null => (value === null ? null : value / 100)
const owned = (one: FakeGpu, cut: (name: string) => string = (name) => name): readonly object[] =>
  one.processes.map(({ pid, type, name, usedMib }) => ({ pid, type, name: cut(name), bytes: usedMib === null ? null : usedMib * MIB }))

describe('what a host prints comes back as it was', () => {
  test.each(['v10', 'v11', 'v12', 'v13'] as const)('-q -x, %s', (generation: Generation) => {
    fc.assert(
      fc.property(host, (fake) => {
        const result = parsed(printXml(fake, generation), 'xml')
        expect(result.driverVersion).toBe(fake.driver)
        expect(result.cudaVersion).toBe(fake.cuda)
        expect(result.gaps).toEqual([])
        expect(result.gpus.map((one) => [one.index, one.uuid, one.name, one.pciBusId])).toEqual(
          fake.gpus.map((one, index) => [index, one.uuid, one.name, one.busId]),
        )
        for (const [index, one] of fake.gpus.entries()) {
          const found = result.gpus[index]
          if (found === undefined) throw new Error('checked above')
          expectValue(found, 'memory_total', one.totalMib * MIB)
          expectValue(found, 'memory_used', one.usedMib * MIB)
          expectValue(found, 'memory_reserved', generation === 'v10' ? null : one.reservedMib * MIB)
          expectValue(found, 'utilization', percent(one.utilization))
          expectValue(found, 'temperature', one.temperature)
          expectValue(found, 'power', percent(one.powerCentiwatts))
          expectValue(found, 'power_limit', percent(one.limitCentiwatts))
          expectValue(found, 'fan_speed', percent(one.fan))
          expectValue(found, 'performance_state', one.state)
          expectValue(found, 'clock_memory', one.clocksMhz.memory * 1e6)
          expectValue(found, 'throttle_hw_thermal_slowdown', one.hwThermal ? 1 : 0)
          expectValue(found, 'throttle_seconds_sw_power_cap', generation === 'v13' ? one.swPowerCapUs / 1e6 : null)
          expectValue(found, 'ecc_corrected_volatile', one.sramCorrected + one.dramCorrected)
          expectValue(found, 'ecc_uncorrected_aggregate', one.uncorrected)
          expectValue(found, 'pcie_width', one.width)
          expect(found.migs.map(({ gi, ci, values }) => [gi, ci, values.get('memory_total'), values.get('memory_used')])).toEqual(
            one.migs.map((mig) => [mig.gi, mig.ci, mig.totalMib * MIB, mig.usedMib * MIB]),
          )
          expect(found.processes).toEqual(owned(one))
        }
      }),
      { numRuns: 60 },
    )
  })

  test('-q', () => {
    fc.assert(
      fc.property(host, (fake) => {
        const result = parsed(printText(fake), 'text')
        for (const [index, one] of fake.gpus.entries()) {
          const found = result.gpus[index]
          if (found === undefined) throw new Error(`no GPU ${index}`)
          expect([found.index, found.uuid, found.pciBusId]).toEqual([index, one.uuid, one.busId])
          expectValue(found, 'memory_total', one.totalMib * MIB)
          expectValue(found, 'utilization', percent(one.utilization))
          expectValue(found, 'power', percent(one.powerCentiwatts))
          expectValue(found, 'throttle_hw_thermal_slowdown', one.hwThermal ? 1 : 0)
          expectValue(found, 'ecc_uncorrected_volatile', one.uncorrected)
          expectValue(found, 'pcie_generation', one.generation)
          expect(found.migs.map(({ gi, ci, values }) => [gi, ci, values.get('memory_used')])).toEqual(
            one.migs.map((mig) => [mig.gi, mig.ci, mig.usedMib * MIB]),
          )
          expect(found.processes).toEqual(owned(one))
        }
      }),
      { numRuns: 60 },
    )
  })

  test('the table', () => {
    fc.assert(
      fc.property(host, (fake) => {
        const result = parsed(printTable(fake), 'table')
        expect(result.driverVersion).toBe(fake.driver)
        for (const [index, one] of fake.gpus.entries()) {
          const found = result.gpus[index]
          if (found === undefined) throw new Error(`no GPU ${index}`)
          expect([found.index, found.name, found.pciBusId]).toEqual([index, one.name, one.busId])
          expectValue(found, 'memory_total', one.totalMib * MIB)
          expectValue(found, 'memory_used', one.usedMib * MIB)
          expectValue(found, 'utilization', percent(one.utilization))
          expectValue(found, 'temperature', one.temperature)
          expectValue(found, 'power', one.powerCentiwatts === null ? null : Math.round(one.powerCentiwatts / 100))
          expect(found.migs.map(({ gi, ci, values }) => [gi, ci, values.get('memory_total'), values.get('memory_used')])).toEqual(
            one.migs.map((mig) => [mig.gi, mig.ci, mig.totalMib * MIB, mig.usedMib * MIB]),
          )
          expect(found.processes).toEqual(owned(one))
        }
      }),
      { numRuns: 60 },
    )
  })

  test.each([false, true])('--query-gpu, nounits: %s', (nounits) => {
    fc.assert(
      fc.property(host, (fake) => {
        const result = parsed(printQuery(fake, nounits), 'query-gpu')
        for (const [index, one] of fake.gpus.entries()) {
          const found = result.gpus[index]
          if (found === undefined) throw new Error(`no GPU ${index}`)
          expect([found.index, found.uuid, found.name]).toEqual([index, one.uuid, one.name])
          expectValue(found, 'memory_used', one.usedMib * MIB)
          expectValue(found, 'utilization', percent(one.utilization))
          expectValue(found, 'memory_temperature', one.memoryTemperature)
          expectValue(found, 'power', percent(one.powerCentiwatts))
          expectValue(found, 'clock_sm', one.clocksMhz.sm * 1e6)
          expectValue(found, 'throttle_seconds_sw_power_cap', one.swPowerCapUs / 1e6)
        }
      }),
      { numRuns: 60 },
    )
  })

  test('-L, the processes of --query-compute-apps, pmon and dmon', () => {
    fc.assert(
      fc.property(host, (fake) => {
        expect(parsed(printList(fake), 'list').gpus.map((one) => [one.index, one.name, one.uuid])).toEqual(
          fake.gpus.map((one, index) => [index, one.name, one.uuid]),
        )
        const apps = parsed(printApps(fake), 'compute-apps').gpus
        for (const one of fake.gpus) {
          const found = apps.find(({ uuid }) => uuid === one.uuid)
          expect(found?.processes?.map(({ pid, name, bytes }) => ({ pid, name, bytes })) ?? []).toEqual(
            one.processes.map(({ pid, name, usedMib }) => ({ pid, name, bytes: usedMib === null ? null : usedMib * MIB })),
          )
        }
        const pmon = parsed(printPmon(fake), 'pmon').gpus
        expect(pmon.map(({ processes }) => processes)).toEqual(fake.gpus.map((one) => owned(one, (name) => name.slice(0, 15).trim())))
        for (const [index, one] of fake.gpus.entries()) {
          const found = parsed(printDmon(fake), 'dmon').gpus[index]
          if (found === undefined) throw new Error(`no GPU ${index}`)
          expectValue(found, 'temperature', one.temperature)
          expectValue(found, 'utilization', percent(one.utilization))
          expectValue(found, 'clock_sm', one.clocksMhz.sm * 1e6)
        }
      }),
      { numRuns: 60 },
    )
  })

  test('commas in process names stay in the name', () => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), (words) => {
        const one = exampleHost().gpus[0]
        if (one === undefined) throw new Error('the example has a GPU')
        const name = words.join(', ')
        const fake = exampleHost([{ ...one, processes: [{ pid: 7, type: 'C', name, usedMib: 5 }] }])
        expect(parsed(printApps(fake), 'compute-apps').gpus[0]?.processes).toEqual([{ pid: 7, type: 'C', name, bytes: 5 * MIB }])
      }),
    )
  })
})
