// The last look at all remedies of a fault: none asks for tools that the system or the GPU's vendor shown by the text does not have.
import type { Remedy } from '../../../model/fault.ts'
import type { LogKind } from '../../../model/kinds.ts'
import { inContainer } from '../gpu-not-visible/driver-remedies.ts'
import { installerOf } from './pip.ts'
import { inTool } from './tool-environment.ts'
import type { Situation } from '../../situation/situation.ts'

const OF_LINUX =
  /^export |\bLD_(?:LIBRARY_PATH|PRELOAD)\b|\bsudo\b|\bdmesg\b|\bjournalctl\b|\bsystemctl\b|\bldconfig\b|\bls(?:mod|pci| -l)\b|\bid;|\/(?:dev|proc|sys|etc|usr|var|lib|tmp)\/|\bfree -|\bulimit\b|\bsysctl\b|\bprintenv\b|\benv \||\bps -|\bd[fu] -|(?<!-)\brm -|\bgrep\b|\bss -|\bchmod\b|\bapt(?:-get)?\b|\bnvidia-bug-report|\bdcgmi\b|\brocm-smi\b|\brocminfo\b|\bamd-smi\b|\bxpu-smi\b/m
/** WSL 2 has Linux's tools; driver, reset and bus belong to Windows. */
const OF_LINUX_DRIVER = /\bmodprobe\b|\bdkms\b|--gpu-reset|\bnvidia-bug-report|\blspci\b|\bdcgmi\b|update-initramfs|linux-headers|\bmokutil\b/
const OF_NVIDIA = /\bnvidia-(?:smi|ctk|bug-report|modprobe)\b|\bdcgmi\b|\bcompute-sanitizer\b|whl\/cu\d|CUDA_LAUNCH_BLOCKING/

/** Faults of NVIDIA's own driver and software, on a host that may have another card too. */
const NVIDIA_KINDS: ReadonlySet<LogKind> = new Set<LogKind>([
  'xid',
  'gpu_lost',
  'ecc_error',
  'nvlink_errors',
  'fabric_manager',
  'vgpu_license',
  'driver_not_loaded',
  'nvml_driver_mismatch',
  'nvml_unknown_error',
  'nvml_allocator_assert',
])

/** NVIDIA's boards with the GPU beside the CPU: JetPack brings the driver, DCGM and resets are for cards. */
const OF_CARDS = /\bdcgmi\b|\bdkms\b|--gpu-reset|\blspci\b|\bnvidia-bug-report/

/** Colab and Kaggle: the machine, its driver and its kernel's log belong to the service. */
const OF_OWN_HOST = /\bsudo\b|\bdmesg\b|\bsystemctl\b|\bjournalctl\b|\breboot\b|\bdocker \w|\blsmod\b|\/dev\/nvidia/

/** Patterns of what cannot be followed here. */
function unfit({ system, vendor, jetson, hosted }: Situation, kind: LogKind): readonly RegExp[] {
  const foreign = (vendor === 'amd' || vendor === 'intel' || vendor === 'apple') && !NVIDIA_KINDS.has(kind) ? [OF_NVIDIA] : []
  if (system === 'windows') return [OF_LINUX, ...foreign]
  if (system === 'wsl') return [OF_LINUX_DRIVER, ...foreign]
  if (hosted) return [OF_OWN_HOST, OF_LINUX_DRIVER, ...foreign]
  return jetson ? [OF_CARDS, ...foreign] : foreign
}

const EXPORTS = /^export ((?:[A-Za-z]\w*=[^\s"$]+ ?)+)$/gm
const eachPair = (command: string, say: (pair: string) => string): string =>
  command.replace(EXPORTS, (_, pairs: string) => pairs.trim().split(' ').map(say).join('\n'))
/** In a cell: a variable that a shell exports does not reach the kernel, and pip installs beside what is imported already. */
function inCell(remedy: Remedy): Remedy {
  const { text, command = '' } = remedy
  if (/^export [A-Z]\w*=[^\s"$]+(?: [A-Z]\w*=[^\s"$]+)*$/.test(command) || /^set \w+=\S+(?:\nset \w+=\S+)*$/.test(command))
    return {
      text: `${text} In a notebook: in its first cell, after a restart of the kernel.`,
      command: eachPair(command, (pair) => `%env ${pair}`).replace(/^set /gm, '%env '),
    }
  // The loader reads it when a process starts.
  if (/^export LD_LIBRARY_PATH=\S[^\n]*$/.test(command))
    return { text: `${text} The kernel of a notebook has started already: run a script from a cell.`, command: `%%bash\n${command}\npython <SCRIPT>` }
  return /^(?:python -m )?pip install [^\n]*$/.test(command)
    ? { text: `${text} Then restart the kernel of the notebook: it keeps what it has imported.`, command: command.replace(/^(?:python -m )?pip/, '%pip') }
    : remedy
}

/** `export A=1 B=2` in the words of cmd. */
const ofCmd = (command: string, situation: Situation): string =>
  eachPair(installerOf(situation) === 'embedded' ? command.replace(/^python /, '.\\python_embeded\\python.exe ') : command, (pair) => `set ${pair}`)

/** Distributions without apt: what installs packages there, what rebuilds the initramfs, and the headers of the running kernel. */
const DISTRIBUTIONS: readonly (readonly [sign: RegExp, install: string, initramfs: string, headers: string])[] = [
  [
    /\b(?:Rocky|Alma|Amazon|Oracle) ?Linux|CentOS|Red ?Hat(?! Linux systems, for example)|\bRHEL\b|Fedora|\.(?:el[789]|el10|fc\d\d|amzn2\w{0,6})\.|\b(?:dnf|yum) (?:install|list|update)/i,
    'dnf install -y',
    'dracut --force',
    'kernel-devel-$(uname -r)',
  ],
  [/SUSE\b|\bzypper\b/i, 'zypper install -y', 'dracut --force', 'kernel-default-devel'],
  [/\b(?:Arch ?Linux|EndeavourOS|Manjaro|CachyOS)\b|\bpacman -|linux-cachyos/i, 'pacman -S --noconfirm', 'mkinitcpio -P', 'linux-headers'],
]
/** dnf came with release 8, and with Amazon Linux 2023. */
const WITHOUT_DNF = /CentOS(?: Linux)?(?: release)? ?7|\bRHEL ?7|Red Hat Enterprise Linux[^\n]{0,20} 7\.|\.el7\.|Amazon Linux 2\b|\.amzn2\.|\byum install/i
const OF_DEBIAN = /\bapt(?:-get|-cache)?\b|\bdpkg\b|update-initramfs|linux-headers-|shim-signed/
/** The same with the tools of the distribution that the text names. Where a command cannot be said so, its sentence stays. */
function ofDistribution(command: string, { text }: Situation): string | undefined {
  const [, install = '', initramfs = '', headers = ''] = (OF_DEBIAN.test(command) ? DISTRIBUTIONS.find(([sign]) => sign.test(text)) : undefined) ?? []
  if (install === '') return command
  const own = command
    .replace('apt-get install -y', install === 'dnf install -y' && WITHOUT_DNF.test(text) ? 'yum install -y' : install)
    .replace(/update-initramfs -u.*/, initramfs)
    .replace('linux-headers-$(uname -r)', headers)
    .replace('/var/lib/shim-signed/mok/MOK.der', /akmod|Fedora/i.test(text) ? '/etc/pki/akmods/certs/public_key.der' : '/var/lib/dkms/mok.pub')
  return OF_DEBIAN.test(own) ? undefined : own
}

/** In a container a variable comes from who starts it, and what pip installs is gone with it. */
function whereSet({ text, command = '' }: Remedy, { programs }: Situation): string {
  const container = programs.has('docker') || programs.has('compose') || programs.has('podman')
  const [pod, compose] = [programs.has('kubernetes'), programs.has('compose')]
  if ((!container && !pod) || /container|pod\b|image|compose/i.test(text)) return text
  if (/^export (?!LD_)[A-Z]/m.test(command))
    return `${text} ${pod ? "In a pod: in the container's env." : compose ? "In compose: under the service's environment." : 'In a container: pass it with -e.'}`
  return /\bpip install\b/.test(command) ? `${text} In a container it lasts as long as the container: do it in the image, or take a newer image.` : text
}

/** Kinds whose programs need a package where they run, and not on the host. */
const OF_PROGRAM: ReadonlySet<LogKind> = new Set<LogKind>(['compile_error', 'missing_dependency', 'python_exception'])
const APT = /^sudo apt-get install (?:-y )?(?=[\w. +-]{1,80}$)/
/** In a container root has no sudo, and images come without the lists of packages; a cell of Colab is root too. */
function aptInside({ text, command = '' }: Remedy, kind: LogKind, situation: Situation): Remedy | undefined {
  if (!OF_PROGRAM.has(kind) || !APT.test(command)) return undefined
  if (situation.hosted) return { text, command: command.replace(APT, '!apt-get install -y ') }
  return inContainer(situation)
    ? { text: /image/.test(text) ? text : `${text} In a container: in its image.`, command: command.replace(APT, 'apt-get update && apt-get install -y ') }
    : undefined
}

const DOCKER = /\bdocker (run|update|inspect|logs|exec)\b/g
/** The same for who really starts containers here: podman takes Docker's options; where only Slurm or Kubernetes speaks, nobody types them. */
function ofEngine(command: string, { programs, text }: Situation): string | undefined {
  // What `podman inspect` prints has Docker's words.
  const docker = programs.has('compose') || (programs.has('docker') && !(programs.has('podman') && !/\bdocker\b/i.test(text)))
  if (docker || !command.includes('docker ')) return command
  if (programs.has('podman')) return command.replace(DOCKER, 'podman $1').replace('--gpus all', '--device nvidia.com/gpu=all')
  return (programs.has('slurm') || programs.has('kubernetes')) && /\bdocker (?:run|update)\b/.test(command) ? undefined : command
}

/** What the text names once fills the place that every family left open for it. A job's number goes to Slurm's commands alone. */
function named(command: string, { subject }: Situation): string {
  const noded = command.includes('<NODE>') ? command.replaceAll('<NODE>', subject.node ?? '<NODE>') : command
  return /\b(?:scontrol|sacct|squeue|seff|scancel|sstat)\b[^\n]*<JOB_ID>/.test(noded) ? noded.replaceAll('<JOB_ID>', subject.slurmJob ?? '<JOB_ID>') : noded
}

/** A cluster has many: the first sentence that sends to one says to which, where the text names it. */
const THERE = /\bon (?:the|that) (?:node|host)(?=[.:,;]| (?:what|which|whether|why|how)\b)|\b(?:Drain|Reboot) the host(?=[. (])/
const ITS_LOG = /\bthe kernel's log(?= (?:whether|what)\b)|\bthe kernel(?= logged\b)/
/** A vendor asks for it. */
const FOR_VENDOR = /\breport for the vendor\.|\b(?:have it|be) replaced\.|\bthen replace it\./
const firstOf = (remedies: readonly Remedy[], pattern: RegExp, say: (words: string) => string): readonly Remedy[] => {
  const first = remedies.findIndex(({ text }) => pattern.test(text))
  return first < 0 ? remedies : remedies.map((remedy, index) => (index === first ? { ...remedy, text: remedy.text.replace(pattern, say) } : remedy))
}
function withNames(remedies: readonly Remedy[], { subject }: Situation): readonly Remedy[] {
  const says = (pattern: RegExp): boolean => remedies.some(({ text }) => pattern.test(text))
  // The whole text is searched for a name: only where a sentence asks for it.
  const serial = says(FOR_VENDOR) ? subject.serial : undefined
  const numbered = serial === undefined ? remedies : firstOf(remedies, FOR_VENDOR, (words) => `${words} Serial number of its board: ${serial}.`)
  const place = says(THERE) ? THERE : says(ITS_LOG) ? ITS_LOG : undefined
  const host = place === undefined ? undefined : subject.host
  if (place === undefined || host === undefined || remedies.some(({ text }) => text.includes(host))) return numbered
  return firstOf(numbered, place, (words) => (place === THERE ? `${words.replace('that', 'the')} ${host}` : `${words} of ${host}`))
}

/** The text already shows the output of nvidia-smi. */
const ANSWERED = /\| NVIDIA-SMI \d{3}\.[\d.]{2,8} [^\n]{0,40}Driver Version: \d/
/** It only shows something beside what the sentence says to do. */
const CHECK = /^(?:df|free|ls) -[^;|&]{0,40}$/
/** A sentence that is nothing without its command. */
const ONLY_LOOKS = /^(?:Then )?(?:See|Look|Compare|Check|Show|Watch|Find)\b|:$/
/** Those that cannot be followed here are left out, or keep only their sentence where that says what to do by itself. */
export function fitting(remedies: readonly Remedy[], kind: LogKind, situation: Situation): readonly Remedy[] {
  const windows = situation.system === 'windows'
  const all = remedies.map((open) => {
    if (open.command === undefined) return open
    const command = named(open.command, situation)
    const given = inTool(command === open.command ? open : { ...open, command }, situation)
    if (given.command === undefined) return given
    const remedy = aptInside(given, kind, situation) ?? (situation.notebook ? inCell(given) : given)
    if (remedy !== given || remedy.command === undefined) return remedy
    const own = ofEngine(windows ? ofCmd(remedy.command, situation) : remedy.command, situation)
    const fits = own === undefined ? undefined : ofDistribution(own, situation)
    const said = whereSet(remedy, situation)
    const text = windows ? said.replaceAll('LD_LIBRARY_PATH', 'PATH') : said
    return fits === remedy.command && text === remedy.text ? remedy : fits === undefined ? { text } : { text, command: fits }
  })
  const patterns = unfit(situation, kind)
  const kept = all.flatMap((remedy) => {
    const { text, command } = remedy
    const answered = command === 'nvidia-smi' && ANSWERED.test(situation.text)
    if (command === undefined || !(answered || patterns.some((pattern) => pattern.test(command)))) return [remedy]
    return (answered || (windows && CHECK.test(command))) && !ONLY_LOOKS.test(text) ? [{ text }] : []
  })
  return withNames(kept.length > 0 ? kept : all.map(({ text }) => ({ text })), situation)
}
