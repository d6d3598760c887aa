// A process ended by SIGSEGV: native code accessed memory that is not its own.
import { isPodState, podLastWords } from '../../faults/remedies/kubernetes.ts'
import { setVariables } from '../../faults/remedies/environment.ts'
import type { Piece } from '../../faults/remedies/plan.ts'
import type { Situation } from '../../situation/situation.ts'
import { frameName } from '../../traceback/user-frame.ts'
import { WEIGHT, place, quote, says, who, type EndKind, type EndContext } from '../end-kind.ts'
import { runsPython, crashSteps } from '../who-runs.ts'

/** The library on top of a backtrace of Open MPI, UCX or glibc, below the handler of the signal. */
function crashedIn({ text }: Situation): string | undefined {
  for (const [, library] of text.matchAll(
    /^\S{0,60} {0,4}(?:\[ {0,2}\d{1,2}\]|#?\d{1,2}:?) {1,3}(?:0x[\da-f]{6,16} )?\/\S{1,200}\/([\w.+-]{3,80}\.so[\d.]{0,12})[(+]/gm,
  ))
    if (library !== undefined && !/^(?:libc|libpthread|libucs|libopen-pal|ld-linux\S*)[.-]/.test(library)) return library
  // The event log of Windows
  return /^Faulting module name: (?!ntdll|ucrtbase|kernelbase)([\w.+-]{3,80}\.(?:dll|pyd))/im.exec(text)?.[1]
}

const INNERMOST = /^Current thread 0x[\da-f]{1,20}[^\n]{0,80}\(most recent call first\):\s{1,4}File "([^"\n]{1,400})", line (\d{1,7}),? in (\w{1,80})/m
/** Python's own handler printed its stack: the innermost call is the one that went into native code. */
const calledIn = ({ text }: Situation): string | undefined => INNERMOST.exec(text)?.[3]
/** Where it crashed: in a library of the system, else in which call of Python, which the line of the user's own may only have led to. */
function where({ situation, facts }: EndContext): string {
  const library = crashedIn(situation)
  const [, file, line, call] = INNERMOST.exec(situation.text) ?? []
  if (library !== undefined || file === undefined) return `${place({ facts })}${library === undefined ? '' : ` in ${library}`}`
  const own = facts.frame === undefined || facts.frame === frameName({ file, line: Number(line), name: undefined })
  return own ? `${place({ facts })} in ${call}()` : ` in ${call}(), below ${facts.frame}`
}

/** Go's, which is no native code. */
const nil = ({ error }: EndContext): boolean => error !== undefined && /nil pointer dereference/.test(error.message)

/** The shell names the program: `[1]  494 segmentation fault  nvidia-smi`. */
const ofSmi = ({ text }: Situation): boolean => /[Ss]egmentation fault[^\n]{0,30}\bnvidia-smi\b|\bnvidia-smi\b[^\n]{0,20}\n\s*[Ss]egmentation fault/.test(text)
/** Windows' numbers of drivers have two parts, those of Linux three. */
const underWsl = ({ system, text }: Situation): boolean => system === 'wsl' || /NVIDIA-SMI \d{3}\.\d{2,3}\.\d{2} {1,20}Driver Version: \d{3}\.\d{2} /.test(text)
const smi = (situation: Situation): readonly Piece[] =>
  underWsl(situation)
    ? [
        // https://github.com/microsoft/WSL/issues/11277
        {
          text: 'Update the NVIDIA driver in Windows to 565.90 or newer, then restart WSL (in PowerShell; its distributions end): many releases from 551 to 560 crash so. CUDA itself often works with them.',
          command: 'wsl --shutdown',
        },
        {
          text: 'Install no Linux NVIDIA driver inside WSL: it hides the one in /usr/lib/wsl/lib.',
          command: 'ls -l /usr/lib/wsl/lib; ldconfig -p | grep -E "libnvidia-ml|libcuda.so"',
        },
      ]
    : [
        {
          text: 'See whether libraries of two driver releases are mixed; reinstall one release.',
          command: 'ldconfig -p | grep -E "libnvidia-ml|libcuda.so"; cat /proc/driver/nvidia/version',
        },
        { text: 'See what the kernel says: of the crash, and of the GPU.', command: "sudo dmesg -T | grep -iE 'segfault|nvrm|xid' | tail -n 30" },
      ]

export const segfault: EndKind = {
  kind: 'segfault',
  stage: 'crash',
  severity: 'critical',
  claims: says(
    /terminated with signal SIGSEGV|killed by signal: Segmentation fault|^`?[Ss]egmentation fault|access violation (?:reading|writing)|^runtime error: invalid memory address or nil pointer dereference|^unexpected signal during runtime execution$/,
    WEIGHT.message,
    () => ({ signal: 'SIGSEGV' }),
  ),
  title: (context) => `Segmentation fault${place(context)}`,
  verdict: (context) =>
    ofSmi(context.situation)
      ? `nvidia-smi crashed (SIGSEGV) in the libraries of the driver that it uses${underWsl(context.situation) ? ', which under WSL come from Windows' : ''}.`
      : nil(context)
        ? `${who(context)} followed a pointer that is nil (SIGSEGV)${place(context)}: "${quote(context)}". Go ends the program for it: it is a bug of the program.`
        : `${who(context, 'A process')} crashed with a segmentation fault (SIGSEGV)${where(context)}: ${
            runsPython(context.situation)
              ? "native code below Python accessed memory that is not its own. Python's own code does not do that; an extension, a driver library or a stack overflow does."
              : 'native code accessed memory that is not its own. A bug of the program, a driver library or a stack overflow does that.'
          }`,
  remedies: (context) =>
    ofSmi(context.situation)
      ? smi(context.situation)
      : nil(context)
        ? [
            {
              text: `Update the program${context.facts.frame === undefined ? '' : `, or correct ${context.facts.frame}`}: something that was not found or not set up is used there unchecked.`,
            },
            { text: 'Read its lines just before the panic: they often say what it did not find (a GPU, a file, an answer of a server).' },
          ]
        : crashed(context),
}

function crashed({ situation, facts: { frame } }: EndContext): readonly Piece[] {
  return [
    frame !== undefined && { text: runsPython(situation) ? `${frame} is the line of your own code that called into native code.` : `It was at ${frame}.` },
    /nccl/i.test(calledIn(situation) ?? '') && {
      text: 'It crashed while NCCL joined the GPUs. Let NCCL say how far it came; on a vGPU, where GPUs cannot reach each other, also switch that off (NCCL_P2P_DISABLE=1), or use one GPU.',
      command: 'export NCCL_DEBUG=INFO',
    },
    isPodState(situation) && podLastWords(situation),
    crashSteps(situation),
    frame === undefined &&
      calledIn(situation) === undefined &&
      runsPython(situation) && { text: 'Let Python print its stack at the crash.', command: setVariables(situation, { PYTHONFAULTHANDLER: '1' }) },
    situation.system === 'windows'
      ? { text: "See in Windows' Event Viewer (Windows Logs, Application) which DLL crashed." }
      : {
          text: 'See what the kernel and the core dump say of it: the library is named there.',
          command: 'sudo dmesg -T | grep -i segfault | tail; coredumpctl info | head -n 40',
        },
    runsPython(situation) && {
      text: 'Extensions must be built for the installed versions: reinstall those that were updated last.',
      command: 'python -m pip check',
    },
    situation.system === 'windows' &&
      situation.programs.has('comfyui') && {
        text: 'If it comes while a large model is loaded: let Windows manage the size of the page file (System, Advanced, Performance), on a disk with space for the whole model.',
      },
    situation.system !== 'windows' &&
      !situation.programs.has('comfyui') &&
      situation.programs.has('pytorch') && {
        text: 'If it comes with DataLoader workers, try num_workers=0: libraries that hold threads do not survive a fork.',
      },
  ]
}
