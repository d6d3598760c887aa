// The sentences that nvidia-smi prints instead of, before or after its output, and what each means.
import type { ParseError, ParseGap } from './result.ts'

type Meaning = Pick<ParseError, 'reason' | 'code' | 'message'>

/** Whole outputs that are one complaint. `code` is nvidia-smi's exit code, which is the NVML code for the first fifteen. */
const FAILURES: readonly (readonly [pattern: RegExp, meaning: Meaning])[] = [
  [
    /^NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver/,
    { reason: 'driver_error', code: 9, message: 'the NVIDIA driver is not loaded' },
  ],
  [
    /^Failed to initialize NVML: Driver\/library version mismatch/,
    {
      reason: 'driver_error',
      code: 18,
      message: 'the loaded NVIDIA kernel module and the user libraries are of different versions: reload the module or reboot',
    },
  ],
  [/^Failed to initialize NVML: Insufficient Permissions/, { reason: 'no_permission', code: 4, message: 'NVML may not be used: no access to /dev/nvidiactl' }],
  [
    /^Failed to initialize NVML: GPU access blocked by the operating system/,
    { reason: 'no_permission', code: 17, message: 'the operating system blocks access to the GPU' },
  ],
  [/^Failed to initialize NVML: (.{0,80})/, { reason: 'driver_error', code: 999, message: 'NVML could not be initialised' }],
  [
    /couldn't find (the )?libnvidia-ml\.so|libnvidia-ml\.so.{0,40}not found|NVML library not found/i,
    { reason: 'not_supported', code: 12, message: 'nvidia-smi does not find libnvidia-ml.so.1' },
  ],
  [/^No devices were found/, { reason: 'not_supported', code: 6, message: 'the driver sees no GPU' }],
  [/^No running processes found/, { reason: 'not_supported', code: 21, message: 'nvidia-smi lists no process' }],
  [/^Field ".{0,80}" is not a valid field to query/, { reason: 'not_supported', code: 2, message: 'this nvidia-smi does not know a field that was asked for' }],
  [
    /^(ERROR: )?(Option|Invalid combination|Unknown option)/,
    { reason: 'not_supported', code: 2, message: 'this nvidia-smi does not know an option that was given' },
  ],
  [/^Segmentation fault/, { reason: 'driver_error', code: 139, message: 'nvidia-smi crashed (segmentation fault)' }],
  [/command not found|^bash: .*No such file/, { reason: 'not_supported', code: 127, message: 'nvidia-smi is not installed' }],
]

/** Other outputs of nvidia-smi and what people paste beside them: recognised by name, since none holds readings. */
const OTHERS: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/^NVIDIA System Management Interface/, 'the help text of nvidia-smi'],
  [/^List of valid properties to query/, 'the list of properties that nvidia-smi can query'],
  [/^NVIDIA-SMI version\s*:/, 'the versions that nvidia-smi --version prints'],
  [/^GPU \d+: .*\n\s+Link \d+:|^GPU \d+: .*\n(NVML: |Nvlink |Device does not)/, 'the links of nvidia-smi nvlink'],
  [/^\s*(\x1b\[[0-9;]*m)?GPU0\s.*(CPU|NUMA) Affinity/, 'the matrix of nvidia-smi topo'],
  [/^#{20,}\n# nvidia_gpu_exporter GPU capture/, 'a capture of many outputs of nvidia-smi'],
  [/^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f] .+: /, 'the output of lspci'],
  [/^\[[^\]]{5,40}\] NVRM: |^\[ *\d+\.\d+\] /, 'a kernel log'],
]

export function failureIn(output: string): ParseError | undefined {
  const text = output.slice(0, 4_096) // a complaint is short, and an output that is none shows it at once
  for (const [pattern, meaning] of FAILURES) {
    const match = pattern.exec(text)
    if (match === null) continue
    const said = text.split('\n', 1)[0] ?? ''
    return { kind: 'error', ...meaning, message: `${meaning.message} (nvidia-smi: ${JSON.stringify(said.slice(0, 160))})` }
  }
  for (const [pattern, what] of OTHERS) {
    if (pattern.test(text)) return { kind: 'error', reason: 'parse_error', message: `nvidia-smi printed ${what} instead of readings` }
  }
  return undefined
}

/** `Unable to determine the device handle for GPU1: 0000:34:00.0: Unknown Error`; older drivers say `GPU 0000:34:00.0: GPU is lost. …`. */
const LOST =
  /^Unable to determine the device handle for (?:gpu|GPU)\s*(\d{1,4}(?=:\s))?:?\s*([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])?[:.]?\s*(.*)$/
const WARNING = /^WARNING: /

/** Takes the notices at the beginning and the end off an output: GPUs that could not be opened, warnings. */
export function takeNotices(text: string): { readonly rest: string; readonly gaps: readonly ParseGap[] } {
  const gaps: ParseGap[] = []
  const isNotice = (line: string): boolean => {
    const lost = LOST.exec(line)
    if (lost !== null) {
      // Whatever words follow: a GPU whose handle cannot be had is lost to this host until something is done.
      const reason = /requires reset/i.test(lost[3] ?? '') ? ('reset_required' as const) : ('gpu_lost' as const)
      gaps.push({
        ...(lost[1] === undefined ? {} : { index: Number(lost[1]) }),
        ...(lost[2] === undefined ? {} : { pciBusId: lost[2] }),
        reason,
        code: reason === 'gpu_lost' ? 15 : 16,
        detail: line.slice(0, 200),
      })
      return true
    }
    return line === '' || WARNING.test(line)
  }
  // Only the ends are looked at, line by line: the output between them may be hundreds of kilobytes.
  let rest = text
  for (;;) {
    const end = rest.indexOf('\n')
    if (rest === '' || !isNotice((end < 0 ? rest : rest.slice(0, end)).trim())) break
    rest = end < 0 ? '' : rest.slice(end + 1)
  }
  for (;;) {
    const begin = rest.lastIndexOf('\n') + 1
    if (rest === '' || !isNotice(rest.slice(begin).trim())) break
    rest = begin === 0 ? '' : rest.slice(0, begin - 1)
  }
  return { rest, gaps }
}
