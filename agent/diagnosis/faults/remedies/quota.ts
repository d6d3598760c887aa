// What fills a quota on a cluster: caches in the home, and many small files of environments.
import type { Situation } from '../../situation/situation.ts'
import { setVariables } from './environment.ts'
import type { Piece } from './plan.ts'

const FILES = /\binodes?\b|(?:number|count) of files|file[- ](?:count|creation|number) (?:limit|quota)|too many files/i
const PACKAGES = /\bpip\b|\bconda\b|\bmamba\b|site-packages|\buv\b/

const HUB = /huggingface|transformers|\bhf[-_]|\btorch\b|vllm/i

export function inQuota(situation: Situation): readonly Piece[] {
  const moved = {
    ...(PACKAGES.test(situation.text) ? { PIP_CACHE_DIR: '<SCRATCH>/pip', TMPDIR: '<SCRATCH>/tmp' } : {}),
    ...(HUB.test(situation.text) ? { HF_HOME: '<SCRATCH>/huggingface' } : {}),
  }
  return [
    FILES.test(situation.text) && {
      text: 'Of files it counts how many there are: see which folder holds most. Environments of conda and pip, and unpacked data sets, hold many; archives or one image (Apptainer) hold few.',
      command: 'du --inodes -x --max-depth=2 "$HOME" | sort -n | tail',
    },
    Object.keys(moved).length > 0 && {
      text: 'Move caches out of the home, to the scratch or project space of the cluster: set these in the job too.',
      command: setVariables(situation, moved),
    },
  ]
}
