// The sensors of a card in /sys/class/hwmon: which folder it is, and which channel has which label.
import type { Card } from '../card.ts'
import { isFailure } from '../files.ts'

/** hwmon gives watts and joules in millionths, degrees in thousandths; clocks elsewhere are in MHz. */
export const MICRO = 1e-6
export const MILLI = 1e-3
export const MEGA = 1e6

/** i915 has one folder for the card and further ones for its parts. Without any the path leads nowhere, and the read says so. */
export function hwmonOf(card: Card): string {
  const names = card.files.list(`${card.device}/hwmon`)
  const own = names.find((name) => card.files.text(`${card.device}/hwmon/${name}/name`) === card.driver)
  return `${card.device}/hwmon/${own ?? names[0] ?? 'hwmon'}`
}

/** Numbers of the channels of a kind that the folder has, such as 2 and 3 for `temp2_input` and `temp3_input`, with their labels. */
export function channels(card: Card, hwmon: string, kind: string): readonly { readonly number: number; readonly label: string }[] {
  const found = new Set<number>()
  for (const name of card.files.list(hwmon)) {
    const number = new RegExp(`^${kind}(\\d+)_(?:input|average)$`).exec(name)?.[1]
    if (number !== undefined) found.add(Number(number))
  }
  return [...found].map((number) => {
    const label = card.files.text(`${hwmon}/${kind}${number}_label`)
    return { number, label: isFailure(label) ? '' : label }
  })
}
