// A process ended by SIGSEGV: native code accessed memory that is not its own.
import type { Situation } from '../../situation/situation.ts'
import { WEIGHT, place, says, who, type EndKind } from '../end-kind.ts'
import { runsPython, serverSteps } from '../who-runs.ts'

/** The library on top of a backtrace of Open MPI, UCX or glibc, below the handler of the signal. */
function crashedIn({ text }: Situation): string | undefined {
  for (const [, library] of text.matchAll(
    /^\S{0,60} {0,4}(?:\[ {0,2}\d{1,2}\]|#?\d{1,2}:?) {1,3}(?:0x[\da-f]{6,16} )?\/\S{1,200}\/([\w.+-]{3,80}\.so[\d.]{0,12})[(+]/gm,
  ))
    if (library !== undefined && !/^(?:libc|libpthread|libucs|libopen-pal|ld-linux\S*)[.-]/.test(library)) return library
  return undefined
}

export const segfault: EndKind = {
  kind: 'segfault',
  stage: 'crash',
  severity: 'critical',
  claims: says(
    /terminated with signal SIGSEGV|killed by signal: Segmentation fault|^`?[Ss]egmentation fault|access violation (?:reading|writing)/,
    WEIGHT.message,
    () => ({ signal: 'SIGSEGV' }),
  ),
  title: (told) => `Segmentation fault${place(told)}`,
  verdict: (told) =>
    `${who(told, 'A process')} crashed with a segmentation fault (SIGSEGV)${place(told)}${crashedIn(told.situation) === undefined ? '' : ` in ${crashedIn(told.situation)}`}: ${
      runsPython(told.situation)
        ? "native code below Python accessed memory that is not its own. Python's own code does not do that; an extension, a driver library or a stack overflow does."
        : 'native code accessed memory that is not its own. A bug of the program, a driver library or a stack overflow does that.'
    }`,
  remedies: ({ situation, facts: { frame } }) => [
    frame !== undefined && { text: `${frame} is the line of your own code that called into native code.` },
    serverSteps(situation),
    frame === undefined && runsPython(situation) && { text: 'Let Python print its stack at the crash.', command: 'PYTHONFAULTHANDLER=1 <COMMAND>' },
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
    situation.programs.has('pytorch') && { text: 'If it comes with DataLoader workers, try num_workers=0: libraries that hold threads do not survive a fork.' },
  ],
}
