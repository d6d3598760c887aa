// Lines of /proc/meminfo in bytes.
import { isFailure, type Files, type Roots } from '../files.ts'

export function meminfoBytes(files: Files, { proc }: Pick<Roots, 'proc'>, key: string): number | undefined {
  const text = files.text(`${proc}/meminfo`)
  const kibibytes = isFailure(text) ? undefined : new RegExp(`^${key}:\\s+(\\d{1,15}) kB$`, 'm').exec(text)?.[1]
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024
}
