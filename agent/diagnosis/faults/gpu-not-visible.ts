// A program, the container engine or the driver's own tools find no GPU that they may use.
import { ASKED_LITERALS, askedRules } from './gpu-not-visible/asked.ts'
import { engineRules, LITERALS as ENGINE_LITERALS } from './gpu-not-visible/engine.ts'
import { driverRules, LITERALS as DRIVER_LITERALS } from './gpu-not-visible/driver.ts'
import { LITERALS as OTHER_LITERALS, otherRules } from './gpu-not-visible/others.ts'
import { programRules, LITERALS as PROGRAM_LITERALS } from './gpu-not-visible/program.ts'
import { ruleFamily } from './parts/rules.ts'

export const gpuNotVisible = ruleFamily({
  id: 'gpu-not-visible',
  kind: 'gpu_not_visible',
  literals: [...new Set([...ENGINE_LITERALS, ...DRIVER_LITERALS, ...PROGRAM_LITERALS, ...OTHER_LITERALS, ...ASKED_LITERALS])],
  rules: [...engineRules, ...driverRules, ...programRules, ...otherRules, ...askedRules],
})
