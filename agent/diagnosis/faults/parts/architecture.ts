// The GPU's architecture as a text names it: sm_86, compute capability 8.6.

/** 86 for sm_86 or capability 8.6. */
export function architectureIn(text: string): number | undefined {
  const sm = /\bCUDA capability\s{1,3}sm_(\d{2,3})\b/.exec(text) ?? /\bsm_(\d{2,3})a? is not compatible/.exec(text)
  if (sm?.[1] !== undefined) return Number(sm[1])
  const capability = /(?:compute )?capability:? (\d{1,2})\.(\d)\b/i.exec(text)
  return capability === null ? undefined : Number(`${capability[1]}${capability[2]}`)
}

const BLACKWELL = /\b(?:RTX (?:PRO )?50\d0|RTX PRO [2-6]\d00|G?B[123]00|GB10|Blackwell)\b/i
const BEFORE_TURING = /\b(?:GTX (?:Titan|9\d\d|10\d\d)|(?:Tesla )?[PV]100|P40|Titan (?:V|X|Xp)|Quadro (?:P|GV|M)\d{3,4}|Maxwell|Pascal|Volta)\b/i
/** The architecture itself, or the first one of the generation whose name stands in the text. */
export function generationIn(text: string): number | undefined {
  return architectureIn(text) ?? (BLACKWELL.test(text) ? 100 : BEFORE_TURING.test(text) ? 50 : undefined)
}
export const capabilityText = (architecture: number): string => `${Math.floor(architecture / 10)}.${architecture % 10}`

/** Thrust and CUB name their namespace by what nvcc compiled for: `THRUST_200700_800_890_NS` is compute capability 8.0 and 8.9. */
export function compiledFor(text: string): string | undefined {
  const list = /\b(?:THRUST|CUB)_\d{6}((?:_\d{3,4}){1,20})_NS\b/.exec(text)?.[1]
  if (list === undefined) return undefined
  const capabilities = list.split('_').flatMap((one) => (one === '' ? [] : [capabilityText(Number(one) / 10)]))
  return `compute capability ${capabilities.join(', ')}`
}
