// Machine words in a person's words: why a GPU slows down, why something could not be read.

type ThrottleWord = { readonly text: string; readonly harmful: boolean }

/** NVML's clocks event reasons as `throttle_active` names them. A power cap is how a loaded GPU lives; heat and brakes are not. */
const THROTTLE: Readonly<Record<string, ThrottleWord>> = {
  gpu_idle: { text: 'idle', harmful: false },
  idle: { text: 'idle', harmful: false },
  applications_clocks_setting: { text: 'clocks set by the user', harmful: false },
  application_clocks: { text: 'clocks set by the user', harmful: false },
  display_clock_setting: { text: 'display clock setting', harmful: false },
  sync_boost: { text: 'held to the slowest GPU of its group', harmful: false },
  sw_power_cap: { text: 'at its power limit', harmful: false },
  hw_slowdown: { text: 'hardware slowdown', harmful: true },
  sw_thermal_slowdown: { text: 'thermally throttled (driver)', harmful: true },
  hw_thermal_slowdown: { text: 'thermally throttled (hardware)', harmful: true },
  hw_power_brake_slowdown: { text: 'power brake of the server', harmful: true },
  hw_power_brake: { text: 'power brake of the server', harmful: true },
}

export type Throttle = { readonly reason: string; readonly text: string; readonly harmful: boolean }

/** A reason that nobody knows yet may well be harmful. */
export const throttleWord = (reason: string): ThrottleWord => THROTTLE[reason] ?? { text: reason.replaceAll('_', ' '), harmful: true }

/** The reasons that hold right now, harmful ones first; idling is no throttling. */
export function activeThrottles(active: Readonly<Record<string, number>> | undefined): readonly Throttle[] {
  const found: Throttle[] = []
  for (const [reason, value] of Object.entries(active ?? {})) {
    if (value === 0 || reason === 'gpu_idle' || reason === 'idle') continue
    found.push({ reason, ...throttleWord(reason) })
  }
  // `hw_slowdown` is NVML's umbrella over the heat and brake reasons: beside one of those it says nothing.
  const precise = found.some((throttle) => throttle.harmful && throttle.reason !== 'hw_slowdown')
  return found
    .filter((throttle) => !(precise && throttle.reason === 'hw_slowdown'))
    .sort((a, b) => Number(b.harmful) - Number(a.harmful) || (a.text < b.text ? -1 : 1))
}

const GAP: Readonly<Record<string, string>> = {
  not_supported: 'not supported here',
  no_permission: 'no permission to read it',
  gpu_lost: 'the GPU is lost',
  reset_required: 'the GPU needs a reset',
  timeout: 'the driver does not answer',
  driver_error: 'the driver reports an error',
  parse_error: 'its answer could not be understood',
}

/** A gap's reason in words; a detail, where there is one, says more. */
export const gapText = (reason: string): string => GAP[reason] ?? reason.replaceAll('_', ' ')
