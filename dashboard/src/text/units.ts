// The units in which the reader wants figures. Kept apart from the page's state, so that the texts need none of it.
export type Units = {
  /** GiB of 1024³ bytes, as the driver counts; GB of 1000³, as on the box. */
  readonly memory: 'GiB' | 'GB'
  readonly temperature: '°C' | '°F'
}

let units: Units = { memory: 'GiB', temperature: '°C' }
export const unitsNow = (): Units => units
export function chooseUnits(chosen: Units): void {
  units = chosen
}
