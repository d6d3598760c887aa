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
