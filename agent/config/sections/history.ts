// How long the past is kept.
import { onOff, wholeNumber } from '../field.ts'

export const history = {
  description: 'The past, in data_dir. Beyond these limits the oldest data is deleted first.',
  fields: {
    enabled: onOff({ default: true, description: 'Keep history.' }),
    raw_hours: wholeNumber({ default: 48, min: 1, max: 8_760, description: 'Hours for which every second is kept.' }),
    minute_days: wholeNumber({ default: 30, min: 1, max: 3_650, description: 'Days for which minimum, mean and maximum of every minute are kept.' }),
    hour_days: wholeNumber({ default: 400, min: 1, max: 36_500, description: 'Days for which minimum, mean and maximum of every hour are kept.' }),
    max_size_mb: wholeNumber({ default: 2_048, min: 16, max: 1_048_576, description: 'Size of the whole history on disk.' }),
  },
}
