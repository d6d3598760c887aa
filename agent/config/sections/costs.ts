// What GPU time and energy cost whoever runs this host: their own figures. Without them nothing is priced, and none is ever assumed.
import { anyNumber, text } from '../field.ts'

const factor = (description: string) => anyNumber({ default: 0, min: 0, max: 1_000_000, description: `${description} 0: not known.` })

export const costs = {
  description: 'Your own prices and carbon factor, for "warpwatch jobs --by" and the waste summary; without them nothing is priced.',
  fields: {
    gpu_hour: factor('Price of a GPU for an hour, used or not.'),
    kwh: factor('Price of a kilowatt-hour.'),
    currency: text({ default: '', pattern: /^[^\s\p{Cc}]{0,12}$/u, expected: 'a currency such as EUR', description: 'Currency of the prices.' }),
    grams_per_kwh: factor('Grams of CO2 for a kilowatt-hour of your supply.'),
  },
}
