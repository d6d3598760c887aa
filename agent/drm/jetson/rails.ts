// The power monitors of a Jetson board (INA3221), whose channels are named after what they feed; which of them feeds the GPU.
import type { Files } from '../files.ts'
import { isFailure } from '../files.ts'
import { failureOf, type Failure } from '../../nvml/codes.ts'

export type Rail = {
  readonly label: string
  readonly watts: () => number | Failure
  /** Files that hold 1 while the current is above a limit of the board. */
  readonly alarms: readonly string[]
}

/** The GPU's own rail before those that it shares: with the rest of the chip (Orin), with the CPU (Orin Nano and NX, Xavier NX). */
const ORDER = [/^(?:VDD_|VDD_SYS_|POM_5V_)?GPU$/, /^VDD_GPU_SOC$/, /^VDD_CPU_GPU(?:_CV)?$/] as const

/** JetPack 5 and newer: a folder of hwmon with millivolts and milliamperes. */
function hwmonRails(files: Files, sys: string): readonly Rail[] {
  return files.list(`${sys}/class/hwmon`).flatMap((name) => {
    const folder = `${sys}/class/hwmon/${name}`
    if (files.text(`${folder}/name`) !== 'ina3221') return []
    return [1, 2, 3].flatMap((channel): readonly Rail[] => {
      const label = files.text(`${folder}/in${channel}_label`)
      if (isFailure(label)) return []
      const watts = (): number | Failure => {
        const [volts, amperes] = [files.number(`${folder}/in${channel}_input`), files.number(`${folder}/curr${channel}_input`)]
        return isFailure(volts) ? volts : isFailure(amperes) ? amperes : (volts * amperes) / 1e6
      }
      const alarms = ['crit', 'max'].map((limit) => `${folder}/curr${channel}_${limit}_alarm`).filter((path) => files.has(path))
      return [{ label, watts, alarms }]
    })
  })
}

/** JetPack 4: a driver of NVIDIA's own, in milliwatts. */
function oldRails(files: Files, sys: string): readonly Rail[] {
  const root = `${sys}/bus/i2c/drivers/ina3221x`
  return files.list(root).flatMap((chip) =>
    files
      .list(`${root}/${chip}`)
      .filter((name) => name.startsWith('iio:device') || name === 'iio_device')
      .slice(0, 1)
      .flatMap((device) =>
        [0, 1, 2].flatMap((channel): readonly Rail[] => {
          const folder = `${root}/${chip}/${device}`
          const label = files.text(`${folder}/rail_name_${channel}`)
          if (isFailure(label)) return []
          const watts = (): number | Failure => {
            const milliwatts = files.number(`${folder}/in_power${channel}_input`)
            return isFailure(milliwatts) ? milliwatts : milliwatts / 1e3
          }
          return [{ label, watts, alarms: [] }]
        }),
      ),
  )
}

/** The rail of the GPU, else why there is none. */
export function gpuRail(files: Files, sys: string): Rail | Failure {
  const all = [...hwmonRails(files, sys), ...oldRails(files, sys)]
  for (const wanted of ORDER) {
    const found = all.find(({ label }) => wanted.test(label))
    if (found !== undefined) return found
  }
  const detail =
    all.length === 0
      ? 'this board has no power monitor (INA3221)'
      : `no channel of the power monitor feeds the GPU: ${all.map(({ label }) => label).join(', ')}`
  return failureOf(`${sys}/class/hwmon`, -1, 'not_supported', detail)
}
