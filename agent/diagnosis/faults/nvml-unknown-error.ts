// NVML answers "Unknown Error" when it starts: in a container mostly because its device access was taken away while it ran.
import type { Remedy } from '../../model/fault.ts'
import type { Situation } from '../situation/situation.ts'
import type { FaultFamily, LogText, Recognised } from './family.ts'
import { around, known, whole } from './parts/window.ts'
import { SEE_TOOLKIT } from './gpu-not-visible/driver-remedies.ts'
import { plan } from './remedies/plan.ts'

// A change log that tells of a mended "Unknown error" is no fault.
const TOLD = /\b(?:[Ff]ix(?:ed|es)?|[Rr]esolve[sd]?|[Cc]hangelog)\b/
const UNKNOWN = /\bnvml\w{0,20}\b[^\n]{0,40}?\bunknown error\b|NVMLError_Unknown\b|NVML_ERROR_UNKNOWN\b|\bnvml\w{0,20}\b[^\n]{0,40}?\bERROR_UNKNOWN\b/i
const MISMATCH = /API mismatch|version mismatch/i

/** The same text shows an nvidia-smi that answers: the driver and the GPUs work. */
const WORKS = /^\s*GPU \d{1,2}: [^\n]{4,80}\(UUID: GPU-|\bNVIDIA-SMI \d{3}\.\d|\b[Dd]river [Vv]ersion: {1,3}\d{3}\./m
/** It worked, and stopped while the container ran. */
const LATER =
  /\bafter (?:a|an|some|random|several|few|about|\d{1,3})\b[^\n.]{0,40}\b(?:time|while|days?|hours?|minutes)\b|\bworks? (?:great|fine|well|again)\b|\bworked (?:before|at first|until)/i
/** A container that was started a moment ago has lost nothing yet. */
const STARTS = /\b(?:docker|podman) run\b[^\n]{0,240}(?:\bnvidia-smi\b|\n(?:[^\n]{0,200}\n){0,4}?[^\n]{0,80}[#$] ?nvidia-smi\b)/
/** The toolkit's own program runs on the host; a program in a container may have lost its device files. */
function remedies(situation: Situation, onHost: boolean, starts: boolean): readonly Remedy[] {
  const { programs, subject, text } = situation
  const kubernetes = programs.has('kubernetes') || programs.has('containerd')
  if (/\bnode-debugger-|kubectl debug node/.test(text))
    return plan(
      {
        text: 'A debug pod of kubectl has no GPU devices by default, and nvidia-smi fails in it so, in a chroot too: give it the profile sysadmin, or ask on the node itself.',
      },
      {
        text: 'If it fails on the node itself too, the driver or a GPU is at fault: look at the kernel log.',
        command: "nvidia-smi; sudo dmesg | grep -iE 'NVRM|Xid' | tail",
      },
    )
  const works = (WORKS.test(text) || LATER.test(text)) && !onHost
  if (!onHost && !kubernetes && starts)
    return plan(
      {
        text: 'See whether the toolkit lets containers use the device files: no-cgroups must be false, but for an engine without root.',
        command: 'grep -n no-cgroups /etc/nvidia-container-runtime/config.toml',
      },
      {
        text: 'If it is false: name the devices by CDI, which does not depend on how the engine manages cgroups.',
        command: 'sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml\ndocker run --rm --device nvidia.com/gpu=all ubuntu nvidia-smi',
      },
      !works && {
        text: 'See whether NVML works on the host. If it fails there too, the driver or a GPU is at fault: look at the kernel log.',
        command: "nvidia-smi; sudo dmesg | grep -iE 'NVRM|Xid' | tail",
      },
    )
  return plan(
    !works && {
      text: 'See whether NVML works on the host. If it fails there too, the driver or a GPU is at fault: look at the kernel log.',
      command: "nvidia-smi; sudo dmesg | grep -iE 'NVRM|Xid' | tail",
    },
    !onHost &&
      kubernetes && {
        text: `${works ? 'Delete the pod' : 'If only the pod fails: delete it'}, so that it is recreated with its devices. What it has not saved is lost.`,
        command: `kubectl delete pod ${subject.pod ?? '<POD>'}`,
        ...(works ? {} : { destroys: true as const }),
      },
    !onHost &&
      !kubernetes &&
      (programs.has('docker') || programs.has('compose')) && {
        text: `${works ? 'Restart the container' : 'If only the container fails: restart it'}; it gets its devices back.`,
        command: `docker restart ${subject.container ?? '<CONTAINER>'}`,
      },
    !onHost &&
      !kubernetes &&
      !programs.has('docker') &&
      !programs.has('compose') && {
        text: `${works ? 'Restart' : 'If it fails only in a container: restart'} the container; it lost its device files, mostly through systemctl daemon-reload.`,
      },
    !onHost && {
      text: 'To keep it from happening again: create the /dev/char links that systemd needs, or request the GPUs by CDI.',
      command: 'sudo nvidia-ctk system create-dev-char-symlinks --create-all',
    },
    onHost && SEE_TOOLKIT,
  )
}

function verdictOf(text: string, near: string, starts: boolean): string {
  if (/nvidia-container-cli/.test(near)) return 'The container toolkit could not start NVML on the host, so the container was not started.'
  if (/daemon-reload/.test(text))
    return "The container lost its access to the GPU's device files: systemctl daemon-reload on the host makes systemd rewrite the device rules of running containers without the GPUs."
  if (starts) return 'NVML could not talk to the driver in a container that was just started: it was not given the right to use the device files of the GPU.'
  if (WORKS.test(text))
    return 'NVML could not talk to the driver here, and nvidia-smi answers elsewhere in the same text: the driver works, and most likely a container lost its access to the device files while it ran.'
  if (LATER.test(text))
    return "NVML can no longer talk to the driver, which worked here before: most likely the container lost its access to the GPU's device files while it ran."
  return "NVML could not talk to the driver. Likely cause in a container: it lost access to the GPU's device files while it ran. On a host: a GPU or the driver is in a bad state."
}

function recognise(text: LogText, at: number, situation: () => Situation): Recognised | undefined {
  const line = text[at] ?? ''
  if (!UNKNOWN.test(line) || TOLD.test(line)) return undefined
  const near = around(text, at, 8, 3)
  // Drivers before about 340 said so where newer ones say "version mismatch"; only the lines above tell.
  if (MISMATCH.test(near)) return undefined
  const starts = STARTS.test(around(text, at, 24, 1)) && !situation().text.includes('daemon-reload')
  return {
    kind: 'nvml_unknown_error',
    severity: 'critical',
    title: 'NVML cannot start: Unknown Error',
    verdict: verdictOf(situation().text, near, starts),
    facts: known({ exit_code: whole(/\b(?:rc|exit code|exit status)[ =:]{1,2}(\d{1,3})\b/.exec(line)?.[1]) }),
    remedies: remedies(situation(), /nvidia-container-cli|detection error|OCI runtime/.test(near), starts),
    lines: [at],
  }
}

export const nvmlUnknownError: FaultFamily = {
  id: 'nvml-unknown-error',
  kinds: ['nvml_unknown_error'],
  literals: ['Unknown Error', 'nvml error: unknown error', 'NVMLError_Unknown', 'ERROR_UNKNOWN'],
  recognise,
}
