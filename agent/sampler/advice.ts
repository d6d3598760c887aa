// What an operator can do when NVML as a whole does not work, by its return code.
import type { Hello } from './protocol.ts'
import { DRIVER_NOT_LOADED, LIB_RM_VERSION_MISMATCH, NO_PERMISSION } from '../nvml/codes.ts'

const ADVICE: Readonly<Record<number, string>> = {
  [NO_PERMISSION]: 'no permission on /dev/nvidiactl: run the agent as root or in the group that owns the device',
  [DRIVER_NOT_LOADED]: 'the NVIDIA kernel module is not loaded: `modprobe nvidia` loads it or says why not; on a host without a GPU set gpu.source: off',
  [LIB_RM_VERSION_MISMATCH]: 'the driver was updated while its old kernel module was in use: reboot, or stop all that uses the GPUs and load the module again',
}

/** The failure in NVML's words, and behind it what to do where that is known. */
export const withAdvice = (detail: string, code: number | undefined): string => {
  const advice = code === undefined ? undefined : ADVICE[code]
  return advice === undefined ? detail : `${detail}: ${advice}`
}

/** The driver works and lists nothing: reported, so that an empty page is not taken for a healthy one. */
export const noGpu = ({ driverVersion, library }: Pick<Hello, 'driverVersion' | 'library'>): string =>
  `the driver${driverVersion === '' ? '' : ` ${driverVersion}`} lists no GPU (${library}): \`lspci | grep -i nvidia\` shows what the host has; a container must be started with its GPUs`
