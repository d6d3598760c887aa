// A process ended itself: an uncaught C++ exception, a failed check, glibc's heap checks, an instruction that the CPU lacks.
import { isPodState, podLastWords } from '../../faults/remedies/kubernetes.ts'
import { WEIGHT, isPanic, openFrame, place, quote, who, type EndKind, type EndTold } from '../end-kind.ts'
import { gpuCall } from '../gpu-call.ts'
import { NATIVE } from '../signs/native.ts'
import { runsPython, crashSteps } from '../who-runs.ts'

/** `0xC0000409`: what Windows gives in place of a signal, and programs print as an unsigned number. Others near them are sizes: 3221225472 is 3 GiB. */
const status = ({ situation, facts: { signal } }: EndTold): string | undefined => {
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
  title: (told) =>
    isPanic(told.error) && told.facts.signal === undefined
      ? `The program panicked${place(told)}`
      : `Process aborted${told.facts.signal === undefined ? '' : ` (${status(told) === undefined ? told.facts.signal : `Windows status ${status(told)}`})`}${place(told)}`,
  verdict: (told) => {
    const words = quote(told)
    const { signal } = told.facts
    if (isPanic(told.error) && signal === undefined)
      return `${who(told)} panicked${place(told)}, and ended${words === '' ? '' : `: "${told.error?.message.slice(0, 200) ?? ''}"`}.`
    const why =
      signal === 'SIGILL'
        ? 'the program uses an instruction that this CPU does not have'
        : signal === 'SIGFPE'
          ? 'native code divided by zero'
          : status(told) === '0xC0000374'
            ? 'native code damaged its heap'
            : 'native code found an error that it cannot go on with'
    const call = gpuCall(told.error?.message ?? '', told.situation)
    if (call !== undefined) return `${who(told, 'A process')} ended itself${place(told)} after an error of the GPU runtime ("${words}"): ${call.says}`
    return `${who(told, 'A process')} ended itself${place(told)}: ${why}${words === '' ? '' : ` ("${words}")`}.`
  },
  remedies: (told) => {
    const {
      facts: { signal },
      error,
      situation,
    } = told
    const windows = status(told) !== undefined
    if (isPanic(error) && signal === undefined)
      return [
        crashSteps(situation),
        openFrame(told),
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
