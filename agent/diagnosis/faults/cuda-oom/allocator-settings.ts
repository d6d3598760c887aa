// What PyTorch's allocator can be set to, by vendor, system and version.
import type { Situation } from '../../situation/situation.ts'
import { compareVersions } from '../../situation/versions.ts'

/** The name with CUDA in it is read by every release; the shorter one only by 2.9 and later. */
export const variable = (situation: Situation): string => (situation.vendor === 'amd' ? 'PYTORCH_HIP_ALLOC_CONF' : 'PYTORCH_CUDA_ALLOC_CONF')

/**
 * Whether segments can grow. PyTorch only warns that it does not support it on Windows, and before 2.11 on AMD; under WSL 2 it fails with drivers before R615.
 * https://github.com/pytorch/pytorch/pull/177974, https://github.com/pytorch/pytorch/issues/192330 and 112957
 */
export function growable({ system, vendor, jetson, versions, text }: Situation): boolean {
  if (text.includes('expandable_segments not supported on this platform')) return false
  if (vendor === 'amd') return versions.torch !== undefined && compareVersions(versions.torch, '2.11') >= 0
  return system !== 'windows' && system !== 'wsl' && !jetson
}
