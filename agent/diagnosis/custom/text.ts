// How a threshold's series is named to a person, and its Prometheus expression.
import type { CustomThreshold } from '../../model/detector-settings.ts'
import { labelPairs, type Labels } from '../../model/series.ts'

/** ` of GPU 3 and container trainer (reason sw_power_cap)`; empty where there is only one series. */
export function placeText({ gpu, uuid: _uuid, container, container_id: _id, image: _image, pid, process, ...others }: Labels): string {
  const who = [
    ...(gpu === undefined ? [] : [`GPU ${gpu}`]),
    ...(pid === undefined ? [] : [process === undefined ? `process ${pid}` : `process ${process} (${pid})`]),
    ...(container === undefined ? [] : [`container ${container}`]),
  ]
  const more = Object.entries(others).flatMap(([name, value]) => (value === '' ? [] : [`${name} ${value}`]))
  return `${who.length === 0 ? '' : ` of ${who.join(', ')}`}${more.length === 0 ? '' : ` (${more.join(', ')})`}`
}

export function promqlOf({ metric, labels, comparison, value }: CustomThreshold): string {
  const pairs = labelPairs(Object.keys(labels), labels)
  return `${metric}${pairs === '' ? '' : `{${pairs}}`} ${comparison} ${value}`
}
