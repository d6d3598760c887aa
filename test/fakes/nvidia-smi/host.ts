// A made-up host as nvidia-smi would print it: the model that the printers beside this file print, and the tests compare with.

export type FakeProcess = {
  readonly pid: number
  readonly type: 'C' | 'G' | 'C+G'
  readonly name: string
  readonly usedMib: number | null
  readonly gi?: number
  readonly ci?: number
}
export type FakeMig = { readonly gi: number; readonly ci: number; readonly totalMib: number; readonly usedMib: number }
export type FakeGpu = {
  readonly uuid: string
  readonly name: string
  readonly busId: string
  readonly totalMib: number
  readonly reservedMib: number
  readonly usedMib: number
  /** Percent; null prints as N/A. */
  readonly utilization: number | null
  readonly memoryUtilization: number | null
  readonly temperature: number | null
  readonly memoryTemperature: number | null
  /** Hundredths of a watt. */
  readonly powerCentiwatts: number | null
  readonly limitCentiwatts: number | null
  readonly fan: number | null
  readonly state: number | null
  readonly clocksMhz: { readonly graphics: number; readonly sm: number; readonly memory: number; readonly video: number }
  readonly hwThermal: boolean
  readonly swPowerCapUs: number
  readonly sramCorrected: number
  readonly dramCorrected: number
  readonly uncorrected: number
  readonly generation: number
  readonly width: number
  readonly migs: readonly FakeMig[]
  readonly processes: readonly FakeProcess[]
  /** Printed in place of every value that would be read from the board. */
  readonly all?: string
}

export type Generation = 'v10' | 'v11' | 'v12' | 'v13'
export type FakeHost = { readonly driver: string; readonly cuda: string; readonly gpus: readonly FakeGpu[] }

export const exampleGpu: FakeGpu = {
  uuid: 'GPU-0f0f0f0f-1111-2222-3333-444444444444',
  name: 'Example X100 40GB',
  busId: '00000000:17:00.0',
  totalMib: 40_960,
  reservedMib: 500,
  usedMib: 1_500,
  utilization: 37,
  memoryUtilization: 12,
  temperature: 51,
  memoryTemperature: 60,
  powerCentiwatts: 12_345,
  limitCentiwatts: 40_000,
  fan: null,
  state: 0,
  clocksMhz: { graphics: 1_410, sm: 1_405, memory: 1_215, video: 1_275 },
  hwThermal: true,
  swPowerCapUs: 2_500_000,
  sramCorrected: 3,
  dramCorrected: 4,
  uncorrected: 1,
  generation: 4,
  width: 16,
  migs: [],
  processes: [
    { pid: 4_242, type: 'C', name: 'python train.py --lr 1e-4', usedMib: 1_000 },
    { pid: 4_343, type: 'G', name: '/usr/lib/xorg/Xorg', usedMib: null },
  ],
}

export const exampleHost = (gpus: readonly FakeGpu[] = [exampleGpu]): FakeHost => ({ driver: '570.10.20', cuda: '12.8', gpus })
