// Clock domains by nvmlClockType_t.
export const CLOCK_DOMAINS = [
  { domain: 'graphics', type: 0 },
  { domain: 'sm', type: 1 },
  { domain: 'memory', type: 2 },
  { domain: 'video', type: 3 },
] as const
/** NVML reports clocks in MHz. */
export const MHZ = 1e6
