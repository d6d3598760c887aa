// What the doctor learns of the GPUs from the real child over the fake library, and how it hears that NVML hangs, refuses or is not there.
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { NvmlError, askNvml, type NvmlFacts } from '../../../agent/doctor/parts/nvml-facts.ts'
import { createRunCommand } from '../../../agent/doctor/parts/run-command.ts'
import { CHILD_ENTRY } from '../../../agent/sampler/entry.ts'
import { gpu } from '../../../agent/sources/gpu.ts'
import { exampleGpu, exampleHost } from '../../fakes/nvidia-smi/host.ts'
import { printXml } from '../../fakes/nvidia-smi/print-xml.ts'
import { compiler, fakeLibrary } from '../../fakes/nvml/build.ts'
import { eightH100, fakeUuid, h100, scenarioFile, type FakeScenario } from '../../fakes/nvml/scenario.ts'
import { gpuEccErrorsTotal, gpuRowRemapPending } from '../../../agent/metrics/gpu-errors.ts'
import { gpuPersistenceMode } from '../../../agent/metrics/gpu-identity.ts'
import { gpuPcieLinkWidth, gpuPcieLinkWidthMax } from '../../../agent/metrics/gpu-links.ts'
import { gpuPowerLimitDefaultWatts } from '../../../agent/metrics/gpu-power.ts'

type Own = { readonly libraries?: readonly string[]; readonly commands?: readonly string[]; readonly env?: NodeJS.ProcessEnv }

async function ask(scenario: FakeScenario, own: Own = {}): Promise<NvmlFacts | undefined> {
  const file = scenarioFile(scenario)
  onTestFinished(file.remove)
  return await askNvml({
    entry: CHILD_ENTRY,
    metrics: gpu.metrics,
    libraries: own.libraries ?? [fakeLibrary('full') ?? ''],
    env: { ...process.env, FAKE_NVML_SCENARIO: file.path },
    run: createRunCommand({}),
    commands: own.commands ?? [],
    startDeadlineMs: 20_000,
    deadlineMs: 5_000,
  })
}
const failure = async (asked: Promise<unknown>): Promise<NvmlError> => {
  const error: unknown = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof NvmlError)) throw new Error(`expected an NvmlError, came ${String(error)}`)
  return error
}
const { values } = eightH100()

describe.skipIf(compiler === undefined)('NVML in a child', () => {
  test('tells driver, CUDA, and of each GPU what the checks need', async () => {
    const gpus = [h100(0), h100(1, { cc_major: 10, cc_minor: 3, persistence: 0, reasons: 0x88, minor: 3, remap_pending: 1 })]
    const facts = await ask({ values, gpus })
    expect(facts).toMatchObject({ from: 'NVML', driverVersion: '590.48.01', cudaVersion: '13.1', lost: [] })
    const [first, second] = facts?.gpus ?? []
    expect(first).toMatchObject({ index: 0, uuid: fakeUuid(0), name: 'NVIDIA H100 80GB HBM3', computeCapability: '9.0', minor: 0 })
    expect(second).toMatchObject({ index: 1, computeCapability: '10.3', minor: 3, throttleReasons: ['hw_slowdown', 'hw_power_brake_slowdown'] })
    expect(first?.value(gpuPersistenceMode)).toBe(1)
    expect(second?.value(gpuPersistenceMode)).toBe(0)
    expect(second?.value(gpuRowRemapPending)).toBe(1)
    expect(first?.value(gpuPcieLinkWidthMax)).toBe(16)
    expect(first?.value(gpuPowerLimitDefaultWatts)).toBe(700)
    expect(first?.value(gpuEccErrorsTotal, { type: 'uncorrected', scope: 'volatile' })).toBe(0)
  })
  test('tells a card that does not open beside those that do', async () => {
    const facts = await ask({ values, gpus: [h100(0), h100(1, { 'ret.nvmlDeviceGetHandleByIndex_v2': 15 })] })
    expect(facts?.gpus).toHaveLength(1)
    expect(facts?.lost).toMatchObject([{ index: 1, code: 15 }])
  })
  test('refuses with its code', async () => {
    const error = await failure(ask({ values: { ...values, init: 18 }, gpus: [] }))
    expect([error.kind, error.code]).toEqual(['failed', 18])
    expect(error.message).toContain('LIB_RM_VERSION_MISMATCH')
  })
  test('crashes alone', async () => {
    const error = await failure(ask({ values: { ...values, 'crash.nvmlInit_v2': 1 }, gpus: [] }))
    expect(error.kind).toBe('crash')
  })
  test('hangs, and is left behind', async () => {
    const file = scenarioFile({ values: { ...values, 'delay.nvmlInit_v2': 600_000 }, gpus: [h100(0)] })
    onTestFinished(file.remove)
    const asked = askNvml({
      entry: CHILD_ENTRY,
      metrics: gpu.metrics,
      libraries: [fakeLibrary('full') ?? ''],
      env: { ...process.env, FAKE_NVML_SCENARIO: file.path },
      run: createRunCommand({}),
      commands: [],
      startDeadlineMs: 3_000,
      deadlineMs: 1_000,
    })
    expect((await failure(asked)).kind).toBe('hang')
  })
})

describe('without the library', () => {
  const none = { libraries: ['/nowhere/libnvidia-ml.so.1'] }
  test('there is nothing', async () => {
    expect(await ask({ values, gpus: [] }, none)).toBeUndefined()
  })
  test('nvidia-smi stands in', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'warpwatch-smi-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    copyFileSync(join(import.meta.dirname, '../../fakes/nvidia-smi/nvidia-smi'), join(folder, 'nvidia-smi'))
    writeFileSync(join(folder, 'q-x.xml'), printXml(exampleHost()))
    const facts = await ask({ values, gpus: [] }, { ...none, commands: ['/nowhere/nvidia-smi', join(folder, 'nvidia-smi')] })
    expect(facts).toMatchObject({ from: 'nvidia-smi', driverVersion: '570.10.20', cudaVersion: '12.8' })
    expect(facts?.gpus[0]).toMatchObject({ name: exampleGpu.name, uuid: exampleGpu.uuid })
    expect(facts?.gpus[0]?.value(gpuPcieLinkWidth)).toBe(exampleGpu.width)
  })
})
