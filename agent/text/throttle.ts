// Why a GPU slows down, in words.

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

/** A reason that nobody knows yet may well be harmful. */
export const throttleWord = (reason: string): ThrottleWord => THROTTLE[reason] ?? { text: reason.replaceAll('_', ' '), harmful: true }
