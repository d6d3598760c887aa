// NVML answers "Unknown Error" when it starts: in a container mostly because its device access was taken away while it ran.
import type { FaultFamily, LogText, Recognised } from './family.ts'
import { around, known, whole } from './parts/window.ts'

// A change log that tells of a mended "Unknown error" is no fault.
const TOLD = /\b(?:[Ff]ix(?:ed|es)?|[Rr]esolve[sd]?|[Cc]hangelog)\b/
const UNKNOWN = /\bnvml\w{0,20}\b[^\n]{0,40}?\bunknown error\b|NVMLError_Unknown\b|NVML_ERROR_UNKNOWN\b|\bnvml\w{0,20}\b[^\n]{0,40}?\bERROR_UNKNOWN\b/i
const MISMATCH = /API mismatch|version mismatch/i

function recognise(text: LogText, at: number): Recognised | undefined {
  const line = text[at] ?? ''
  if (!UNKNOWN.test(line) || TOLD.test(line)) return undefined
  const near = around(text, at, 8, 3)
  // Drivers before about 340 said so where newer ones say "version mismatch"; only the lines above tell.
  if (MISMATCH.test(near)) return undefined
  const inContainer = /nvidia-container-cli|OCI runtime|kubectl|docker/.test(near)
  return {
    kind: 'nvml_unknown_error',
    severity: 'critical',
    title: 'NVML cannot start: Unknown Error',
    verdict: inContainer
      ? "The container toolkit could not start NVML on the host, or the container lost its access to the GPU's device files. Check first whether nvidia-smi works on the host."
      : "NVML could not talk to the driver. In a container this means mostly that its access to the GPU's device files was withdrawn while it ran (systemctl daemon-reload with the systemd cgroup driver does that); on a host, that a GPU or the driver is in a bad state.",
    facts: known({ exit_code: whole(/\b(?:rc|exit code|exit status)[ =:]{1,2}(\d{1,3})\b/.exec(line)?.[1]) }),
    remedies: [
      {
        text: 'See whether the host itself is well. If it fails there too, it is the driver or a GPU: look at the kernel log.',
        command: "nvidia-smi; sudo dmesg | grep -iE 'NVRM|Xid' | tail",
      },
      { text: 'If only the container fails: restart it; it gets its devices back.', command: 'docker restart CONTAINER' },
      {
        text: 'Make it last: request the GPUs by CDI, or create the /dev/char links that systemd needs.',
        command:
          'sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml && docker run --device nvidia.com/gpu=all …; or: sudo nvidia-ctk system create-dev-char-symlinks --create-all',
      },
    ],
    lines: [at],
  }
}

export const nvmlUnknownError: FaultFamily = {
  id: 'nvml-unknown-error',
  kinds: ['nvml_unknown_error'],
  literals: ['Unknown Error', 'nvml error: unknown error', 'NVMLError_Unknown', 'ERROR_UNKNOWN'],
  recognise,
}
