// How a verdict names a process, a time and a share.
import type { About } from '../../../model/finding.ts'
import type { Track, Tracks } from './tracks.ts'

type Named = Pick<Track, 'pid' | 'process' | 'container'>

/** `process python3 (4242) of container trainer`. */
export function processText({ pid, process, container }: Named): string {
  const name = process === undefined ? `process ${pid}` : `process ${process} (${pid})`
  return container === undefined ? name : `${name} of container ${container}`
}

export const gpuText = (tracks: Tracks, uuid: string): string => {
  const index = tracks.gpu(uuid)?.index
  return index === undefined || !Number.isInteger(index) ? uuid : `GPU ${index}`
}

export const aboutOf = ({ uuid, pid, container, containerId }: Track): About => ({
  uuid,
  pid,
  ...(container === undefined ? {} : { container }),
  ...(containerId === undefined ? {} : { containerId }),
})

export const percent = (share: number): string => `${(100 * share).toFixed(0)} %`
/** `35 seconds`, `12 minutes`, `3 hours`. */
export function spanText(ms: number): string {
  const [amount, unit] = ms < 90_000 ? [ms / 1_000, 'second'] : ms < 5_400_000 ? [ms / 60_000, 'minute'] : [ms / 3_600_000, 'hour']
  const whole = Math.max(1, Math.round(amount))
  return `${whole} ${unit}${whole === 1 ? '' : 's'}`
}
export const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
