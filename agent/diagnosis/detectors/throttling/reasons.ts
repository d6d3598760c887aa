// Why a GPU can be held back, and what an incident says of it.
import type { Severity } from '../../../model/severity.ts'

/** Nearest to the cause first: the first that holds names the incident. The names are nvidia-smi's query fields, and one of ours for the memory. */
export const ORDER = ['hw_thermal_slowdown', 'sw_thermal_slowdown', 'hw_slowdown', 'memory_temperature', 'sw_power_cap'] as const
export type Reason = (typeof ORDER)[number]
/** `text`: what holds now. `lately`: what held some seconds ago. */
type ReasonText = { readonly title: string; readonly text: string; readonly lately: string; readonly severity: Severity; readonly heat: boolean }
export const REASONS: Readonly<Record<Reason, ReasonText>> = {
  hw_thermal_slowdown: {
    title: 'thermally throttled by its hardware',
    text: 'its hardware thermal slowdown is on',
    lately: 'its hardware thermal slowdown was on a moment ago',
    severity: 'critical',
    heat: true,
  },
  sw_thermal_slowdown: {
    title: 'thermally throttled',
    text: "the driver's thermal slowdown is on",
    lately: "the driver's thermal slowdown was on a moment ago",
    severity: 'warning',
    heat: true,
  },
  hw_slowdown: {
    title: 'slowed down by its hardware',
    text: 'its hardware slowdown is on (heat, power or a fast trigger; the driver does not say which)',
    lately: 'its hardware slowdown was on a moment ago (heat, power or a fast trigger; the driver does not say which)',
    severity: 'critical',
    heat: true,
  },
  memory_temperature: {
    title: 'memory too hot',
    text: 'its memory has reached its limit',
    lately: 'its memory was at its limit a moment ago',
    severity: 'warning',
    heat: true,
  },
  sw_power_cap: {
    title: 'slowed down by its power limit',
    text: 'the power limit holds its clocks far down',
    lately: 'the power limit held its clocks far down a moment ago',
    severity: 'warning',
    heat: false,
  },
}
