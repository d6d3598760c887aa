// A process ended itself: an uncaught C++ exception, a failed check, glibc's heap checks, an instruction that the CPU lacks.
import { isPodState, podLastWords } from '../../faults/remedies/kubernetes.ts'
import { WEIGHT, isPanic, openFrame, place, quote, who, type EndKind, type EndContext } from '../end-kind.ts'
import { gpuCall } from '../gpu-call.ts'
import { NATIVE } from '../signs/native.ts'
import { runsPython, crashSteps } from '../who-runs.ts'

/** `0xC0000409`: what Windows gives in place of a signal, and programs print as an unsigned number. Others near them are sizes: 3221225472 is 3 GiB. */
const status = ({ situation, facts: { signal } }: EndContext): string | undefined => {
  const code = signal === undefined ? undefined : /\b(3221226505|3221226356|3221225620|3221225501)\b/.exec(situation.text)?.[1]
  return code === undefined ? undefined : `0x${Number(code).toString(16).toUpperCase()}`
}

export const aborted: EndKind = {
  kind: 'aborted',
  stage: 'crash',
  severity: 'critical',
  claims: ({ name, module, full }) => {
    if (/terminated with signal SIGABRT|killed by signal: Aborted/.test(full)) return { weight: WEIGHT.message }
    return module === NATIVE || name === 'Fatal Python error' ? { weight: WEIGHT.exception } : undefined
  },
  title: (context) =>
    isPanic(context.error) && context.facts.signal === undefined
      ? `The program panicked${place(context)}`
      : `Process aborted${context.facts.signal === undefined ? '' : ` (${status(context) === undefined ? context.facts.signal : `Windows status ${status(context)}`})`}${place(context)}`,
  verdict: (context) => {
    const words = quote(context)
    const { signal } = context.facts
    if (isPanic(context.error) && signal === undefined)
      return `${who(context)} panicked${place(context)}, and ended${words === '' ? '' : `: "${context.error?.message.slice(0, 200) ?? ''}"`}.`
    const why =
      signal === 'SIGILL'
        ? 'the program uses an instruction that this CPU does not have'
        : signal === 'SIGFPE'
          ? 'native code divided by zero'
          : status(context) === '0xC0000374'
            ? 'native code damaged its heap'
            : 'native code found an error that it cannot go on with'
    const call = gpuCall(context.error?.message ?? '', context.situation)
    if (call !== undefined) return `${who(context, 'A process')} ended itself${place(context)} after an error of the GPU runtime ("${words}"): ${call.says}`
    return `${who(context, 'A process')} ended itself${place(context)}: ${why}${words === '' ? '' : ` ("${words}")`}.`
  },
  remedies: (context) => {
    const {
      facts: { signal },
      error,
      situation,
    } = context
    const windows = status(context) !== undefined
    if (isPanic(error) && signal === undefined)
      return [
        crashSteps(situation),
        openFrame(context),
        /panicked at/.test(situation.text)
          ? { text: 'Run it again with the whole backtrace.', command: 'RUST_BACKTRACE=full <COMMAND>' }
          : { text: 'Run it again with the stacks of all goroutines.', command: 'GOTRACEBACK=all <COMMAND>' },
      ]
    return [
      gpuCall(error?.message ?? '', situation)?.remedies,
      signal === 'SIGILL' && {
        text: 'See what this CPU has: the package was built for a newer one (AVX, AVX-512).',
        command: 'lscpu | grep -iE "model name|avx"',
      },
      error?.name === 'glibc' && {
        text: 'The heap was damaged before: by a bug in an extension, or two allocators in one process. Update the extensions, and try without jemalloc or tcmalloc.',
      },
      crashSteps(situation),
      error === undefined &&
        signal !== 'SIGILL' &&
        signal !== 'SIGFPE' &&
        (isPodState(situation) ? podLastWords(situation) : { text: 'Read the lines just above: the library that aborts says there why.' }),
      situation.system !== 'windows' && !windows && { text: 'Look at the core dump for the library.', command: 'coredumpctl info | head -n 40' },
      windows && {
        text: "See in Windows' Event Viewer (Windows Logs, Application) which DLL crashed: its package was built for another release, or for another GPU.",
      },
      // https://github.com/RVC-Boss/GPT-SoVITS/issues/2282
      windows &&
        signal === 'SIGFPE' && {
          text: 'With a GPU of the RTX 50 series: PyTorch and what was built for it must be for CUDA 12.8 or newer; the one that came with the program may be older.',
          command: 'python -c "import torch; print(torch.__version__, torch.cuda.get_arch_list())"',
        },
      runsPython(situation) && { text: 'See whether the installed packages fit together.', command: 'python -m pip check' },
    ]
  },
}
