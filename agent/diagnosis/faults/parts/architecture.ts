// The GPU's architecture as a text names it: sm_86, compute capability 8.6.

/** 86 for sm_86 or capability 8.6. */
export function architectureIn(text: string): number | undefined {
  const sm = /\bCUDA capability\s{1,3}sm_(\d{2,3})\b/.exec(text) ?? /\bsm_(\d{2,3})a? is not compatible/.exec(text)
  if (sm?.[1] !== undefined) return Number(sm[1])
  const capability = /(?:compute )?capability:? (\d{1,2})\.(\d)\b/i.exec(text)
  return capability === null ? undefined : Number(`${capability[1]}${capability[2]}`)
}
export const capabilityText = (architecture: number): string => `${Math.floor(architecture / 10)}.${architecture % 10}`
