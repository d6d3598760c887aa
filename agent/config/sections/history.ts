// How long the past is kept.
import { onOff, wholeNumber } from '../field.ts'

export const history = {
  description: 'The past, in data_dir. What is older or larger than this goes, oldest first.',
  fields: {
    enabled: onOff({ default: true, description: 'Keep history.' }),
    raw_hours: wholeNumber({ default: 48, min: 1, max: 8_760, description: 'Every second, for so many hours.' }),
    minute_days: wholeNumber({ default: 30, min: 1, max: 3_650, description: 'Minimum, mean and maximum of every minute, for so many days.' }),
    hour_days: wholeNumber({ default: 400, min: 1, max: 36_500, description: 'Minimum, mean and maximum of every hour, for so many days.' }),
    max_size_mb: wholeNumber({ default: 2_048, min: 16, max: 1_048_576, description: 'Size of the whole history on disk.' }),
  },
}
