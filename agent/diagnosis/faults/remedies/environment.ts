// Environment variables, set where the program runs: a shell on Linux, cmd on Windows, a pod, a container.
import type { Situation } from '../../situation/situation.ts'

/** A command that sets variables for the next start. Values hold no blanks. */
export function setVariables(situation: Situation, variables: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
  return situation.system === 'windows' ? pairs.map((pair) => `set ${pair}`).join('\n') : `export ${pairs.join(' ')}`
}

export const python = (code: string): string => `python -c "${code}"`

/** Prints what this PyTorch says of itself. */
export const printTorch = (values: string): string => python(`import torch; print(${values})`)
export const withoutPeers = (situation: Situation): { readonly text: string; readonly command: string } => ({
  text: 'Let NCCL do without direct access between the GPUs (slower).',
  command: setVariables(situation, { NCCL_P2P_DISABLE: '1' }),
})
