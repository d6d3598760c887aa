// What the ways in which nvidia-smi can end mean, and what to do about each: exit codes as in its manual, which are NVML's for the first fifteen.
import type { GapReason } from '../../model/reading.ts'
import type { ParseError } from './result.ts'
import type { RunResult } from './run.ts'

export type Failure = { readonly reason: GapReason; readonly code?: number; readonly detail: string }

const EXITS: Readonly<Record<number, { readonly reason: GapReason; readonly detail: string }>> = {
  2: { reason: 'not_supported', detail: 'this nvidia-smi does not know -q -x: it is too old, or another program of that name' },
  3: { reason: 'not_supported', detail: 'the GPU does not support what was asked' },
  4: { reason: 'no_permission', detail: 'no permission: run the agent as root, or give it /dev/nvidiactl and /dev/nvidia*' },
  6: { reason: 'not_supported', detail: 'the driver sees no GPU: check `lspci | grep -i nvidia` and, in a container, that it was started with GPUs' },
  8: { reason: 'driver_error', detail: "a GPU's external power is not connected: check its power cables" },
  9: { reason: 'driver_error', detail: 'the NVIDIA driver is not loaded: run `modprobe nvidia`; after a kernel update rebuild the module (dkms) or reboot' },
  10: { reason: 'driver_error', detail: "the kernel found a problem with a GPU's interrupts: see `dmesg | grep NVRM`" },
  12: {
    reason: 'not_supported',
    detail: 'nvidia-smi does not find libnvidia-ml.so.1: install the driver; in a container start it with NVIDIA_DRIVER_CAPABILITIES=utility (or all)',
  },
  13: { reason: 'not_supported', detail: 'libnvidia-ml.so.1 is older than this nvidia-smi: install both from one driver version' },
  14: { reason: 'driver_error', detail: "a GPU's InfoROM is corrupted: the board needs service" },
  15: { reason: 'gpu_lost', detail: 'a GPU has fallen off the bus: see `dmesg | grep -i xid`, then reset it (`nvidia-smi -r`) or reboot' },
  18: { reason: 'driver_error', detail: 'kernel module and libraries are of different versions: reload the module or reboot' },
  126: { reason: 'no_permission', detail: 'nvidia-smi may not be executed' },
  127: {
    reason: 'not_supported',
    detail: 'nvidia-smi, or a library that it needs, is not installed: install the NVIDIA driver, or set gpu.nvidia_smi to its path',
  },
  137: { reason: 'driver_error', detail: 'nvidia-smi was killed (SIGKILL): by the OOM killer, or by hand' },
  139: {
    reason: 'driver_error',
    detail: 'nvidia-smi crashed (segmentation fault): under WSL2 known of Windows drivers 552 to 560, update the driver; elsewhere reinstall it',
  },
  255: { reason: 'driver_error', detail: 'nvidia-smi failed without saying why: run `nvidia-smi -q` by hand, and see `dmesg | grep NVRM`' },
}

const firstLine = (text: string): string => (text.trim().split('\n', 1)[0] ?? '').slice(0, 160)

/** Why a run brought no readings. `parsed` is what its output said instead. */
export function failureOf(command: string, result: RunResult, parsed?: ParseError): Failure {
  switch (result.kind) {
    case 'absent':
      return result.errno === 'ENOENT'
        ? { reason: 'not_supported', code: 127, detail: `${command} is not installed: install the NVIDIA driver, or set gpu.nvidia_smi to its path` }
        : { reason: result.errno === 'EACCES' ? 'no_permission' : 'driver_error', detail: `${command} cannot be started: ${result.errno}` }
    case 'timeout':
      return {
        reason: 'timeout',
        detail: `${command} gave no answer within ${result.deadlineMs} ms and was killed (pid ${result.pid ?? '?'}): a driver that hangs, see \`dmesg | grep -i -e NVRM -e xid\``,
      }
    case 'still_hanging':
      return {
        reason: 'timeout',
        detail: `${command} (pid ${result.pid ?? '?'}) was killed and does not end: it hangs in the kernel, see \`dmesg | grep -i -e NVRM -e xid\`; only a reboot helps when that lasts`,
      }
    case 'too_long':
      return { reason: 'parse_error', detail: `${command} printed more than ${result.maxBytes} bytes` }
    case 'ended':
    default:
      return endedWith(command, result, parsed)
  }
}

function endedWith(command: string, result: Extract<RunResult, { kind: 'ended' }>, parsed: ParseError | undefined): Failure {
  const known = EXITS[result.exitCode]
  const said = firstLine(result.stderr) || firstLine(result.stdout)
  const tail = said === '' ? '' : ` (it says: ${JSON.stringify(said)})`
  if (known !== undefined) {
    // 255 and the shell's codes say little: the words that came with them say more.
    if (result.exitCode >= 126 && result.exitCode !== 139 && parsed !== undefined && parsed.reason !== 'parse_error')
      return { reason: parsed.reason, code: parsed.code ?? result.exitCode, detail: `${command}: ${parsed.message}` }
    return { reason: known.reason, code: result.exitCode, detail: `${command}: ${known.detail}${tail}` }
  }
  if (result.exitCode !== 0) return { reason: 'driver_error', code: result.exitCode, detail: `${command} ended with exit code ${result.exitCode}${tail}` }
  return {
    reason: parsed?.reason ?? 'parse_error',
    ...(parsed?.code === undefined ? {} : { code: parsed.code }),
    detail: `${command}: ${parsed?.message ?? 'no output'}`,
  }
}
