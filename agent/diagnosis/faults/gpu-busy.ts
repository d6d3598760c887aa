// CUDA refuses a process because the GPU is busy or unavailable (CUDA errors 46 and cudaErrorDevicesUnavailable).
// https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html, https://docs.nvidia.com/vgpu/
import { UPDATE_WSL } from './gpu-not-visible/driver-remedies.ts'
import { ruleFamily, type Matched } from './parts/rules.ts'
import { around, cudaErrorCode, currentDevice, known } from './parts/window.ts'
import { whoHolds } from './remedies/gpu.ts'
import type { Piece } from './remedies/plan.ts'

/** libavcodec/nvenc.c, nvenc_check_capabilities: its reasons, which older releases print at "verbose" only. */
const UNKNOWN_CODEC = 'Codec not supported'
const whyNot = ({ text, at }: Matched): string | undefined =>
  /_nvenc @ [^\]\n]{2,20}\] ([A-Z\d][^\n]{2,60}(?:not supported|exceeds \d{1,6}))/.exec(around(text, at, 6, 0))?.[1]
const codecOf = ({ match }: Matched): string => {
  const codec = match[1]?.toUpperCase()
  return codec === undefined || codec === 'H264' ? 'H.264' : codec
}

const VGPU = /\bGRID\b|vGPU|[A-Z]\d{2,3}[A-Z]?-\d{1,2}[CQ]\b/

/** Compute modes as nvidia-smi prints them in its table and its report. */
const MODES = /\b(E\. Process|Exclusive[_ ]Process|E\. Thread|Prohibited|Default)\s{0,4}(?:\||$|,)/gm
/** After these the driver gives the GPU no work until it is reset (docs.nvidia.com/deploy/xid-errors): memory errors, a lost GPU, and its own word. */
const TO_BE_RESET =
  /\bXid \([^)]{1,40}\): (?:46|48|62|64|79|95|119|120|140)\b|\bGPU Reset Required|Node Reboot Required|Recovery Action {1,30}: (?:GPU )?Re(?:set|boot)/
function verdict({ situation }: Matched): string {
  const { text } = situation()
  if (TO_BE_RESET.test(text)) return 'The GPU takes no work: after what the kernel logged of it, it first needs the reset that the driver asks for.'
  const modes = new Set([...text.matchAll(MODES)].map(([, mode = '']) => mode))
  if ([...modes].some((mode) => mode.startsWith('E')))
    return 'The GPU takes no further process: nvidia-smi shows it in exclusive mode (Exclusive_Process), and another process holds it.'
  if (modes.has('Prohibited')) return 'The GPU takes no process: nvidia-smi shows that its compute mode is Prohibited.'
  if (VGPU.test(text)) return 'The vGPU takes no further process. Most likely it has no licence, or its memory is used up.'
  return modes.has('Default')
    ? 'The GPU takes no further process, though nvidia-smi shows no exclusive mode. Likely an earlier failure left the GPU or the driver in a bad state, or its memory is used up.'
    : 'The GPU takes no further process. Most likely it is in exclusive compute mode and held by another process.'
}

function remedies({ situation }: Matched): readonly Piece[] {
  const now = situation()
  if (TO_BE_RESET.test(now.text))
    return [
      {
        text: 'Do what the Xid of that GPU asks for (a reset, or a reboot); meanwhile run on the other GPUs.',
        command: 'nvidia-smi -q | grep -iE "^GPU|recovery action"',
      },
    ]
  return [
    VGPU.test(now.text) && {
      text: 'This is a vGPU: without a licence it refuses work. See its licence state.',
      command: 'nvidia-smi -q | grep -i license',
    },
    whoHolds(now),
    now.vendor !== 'amd' &&
      now.system !== 'wsl' && {
        text: 'See whether a GPU allows one process only; Exclusive_Process is set back with `nvidia-smi -c DEFAULT`.',
        command: 'nvidia-smi --query-gpu=index,compute_mode,mig.mode.current --format=csv',
      },
    now.system === 'wsl' && UPDATE_WSL,
    now.system !== 'wsl' && {
      text: 'See whether the kernel logged an Xid for the GPU: after some of them it takes no work until it is reset.',
      command: "sudo dmesg -T | grep 'NVRM: Xid' | tail",
    },
  ]
}

export const gpuBusy = ruleFamily({
  id: 'gpu-busy',
  kind: 'gpu_busy',
  literals: [
    'busy or unavailable',
    'CUDA_ERROR_DEVICE_UNAVAILABLE',
    'cudaErrorDevicesUnavailable',
    'MIG Mode for GPU',
    'OpenEncodeSessionEx',
    'No capable devices found',
  ],
  rules: [
    {
      // libavcodec/nvenc.c and NVEncC: NV_ENC_ERR_OUT_OF_MEMORY.
      pattern: /OpenEncodeSessionEx(?: failed: out of memory \(10\)|\(?[^\n:]{0,60}: 10 \(NVENC)/,
      severity: 'critical',
      title: 'The video encoder takes no further session',
      verdict:
        "NVENC opened no session (its error 10): the GPU's memory is full, or as many streams are encoded already as the driver allows at once; on consumer cards that is a few.",
      remedies: ({ situation }) => [
        {
          text: 'See how many sessions are open, and how full the memory is.',
          command: 'nvidia-smi --query-gpu=index,encoder.stats.sessionCount,memory.used,memory.total --format=csv',
        },
        { text: 'Encode fewer streams at once, and end processes that were left behind; newer drivers allow more sessions.' },
        whoHolds(situation()),
      ],
    },
    {
      pattern: /(av1|hevc|h264)_nvenc @ [^\]\n]{2,20}\] No capable devices found/,
      kind: 'gpu_not_visible',
      severity: 'critical',
      title: 'No GPU here can encode this',
      verdict: (matched) => {
        const reason = whyNot(matched)
        return reason === undefined
          ? 'FFmpeg found no GPU whose encoder takes what it was asked for: another codec or pixel format than the card encodes, a driver that is older than this FFmpeg needs, or the wrong GPU.'
          : reason === UNKNOWN_CODEC
            ? `The GPU does not encode ${codecOf(matched)}.`
            : `The GPU cannot encode what was asked for. FFmpeg's reason: ${reason}.`
      },
      remedies: (matched) => [
        whyNot(matched) === undefined && {
          text: 'Ask FFmpeg for the reason: it is in the lines of the encoder.',
          command: 'ffmpeg -v verbose -f lavfi -i testsrc -frames 1 -c:v <CODEC>_nvenc -f null -',
        },
        whyNot(matched) === UNKNOWN_CODEC && {
          text: 'Use a codec that this GPU encodes, or encode on the CPU.',
          command:
            codecOf(matched) === 'AV1' ? '-c:v hevc_nvenc\n-c:v libsvtav1' : codecOf(matched) === 'HEVC' ? '-c:v h264_nvenc\n-c:v libx265' : '-c:v libx264',
        },
        {
          text: "See the card and its driver, and compare both with NVIDIA's table of what each card encodes (AV1: from the RTX 40 series on).",
          command: 'nvidia-smi',
        },
        whyNot(matched) === UNKNOWN_CODEC
          ? { text: 'With several GPUs name the one that encodes it (-gpu 0).' }
          : { text: 'Ask for a pixel format that this GPU encodes (-pix_fmt yuv420p), and with several GPUs name one (-gpu 0).' },
      ],
      unless: ({ text, at }) => /OpenEncodeSessionEx|context for NVENC/.test(around(text, at, 6, 0)),
    },
    {
      pattern: /Unable to (?:enable|disable) MIG Mode for GPU ([0-9A-Fa-f:.]{7,16}): In use by another client/,
      severity: 'critical',
      title: 'MIG mode cannot be changed while the GPU is in use',
      verdict: ({ match }) =>
        `The driver did not change the MIG mode of the GPU at ${match[1]?.toLowerCase()}, because a program uses it: monitoring counts too.`,
      remedies: ({ match }) => [
        { text: 'See what uses it.', command: 'sudo lsof /dev/nvidia[0-9]*; sudo fuser -v /dev/nvidia[0-9]*' },
        {
          text: 'Stop what watches the GPUs, such as DCGM and its exporter, and the display; then set the mode again.',
          command: 'sudo systemctl stop nvidia-dcgm dcgm-exporter',
        },
        { text: `Or set the mode at the next reset of the GPU.`, command: `nvidia-smi -q -i ${match[1]} -d MIG_MODE` },
      ],
    },
    {
      pattern: /\b[Dd]evices?(?:\(s\) is\/are| are| is) busy or unavailable|CUDA_ERROR_DEVICE_UNAVAILABLE|cudaErrorDevicesUnavailable/,
      severity: 'critical',
      title: 'GPU is busy or locked to another process',
      verdict,
      remedies,
      facts: ({ message, text, at }) => known({ cuda_error_code: cudaErrorCode(message), gpu_index: currentDevice(around(text, at, 0, 3)) }),
    },
  ],
})
