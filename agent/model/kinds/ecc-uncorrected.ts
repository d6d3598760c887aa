// Uncorrectable ECC errors.
import { defineKind } from './kind.ts'

export const eccUncorrected = defineKind({
  id: 'ecc_uncorrected',
  title: 'Uncorrectable ECC errors',
  layer: 'gpu',
  from: 'numbers',
  facts: ['new_errors', 'ecc_uncorrected_volatile', 'ecc_uncorrected_aggregate'],
  quietMinutes: 1440,
  needsReading: true,
  newWhen: { above: ['ecc_uncorrected_volatile'] },
})
