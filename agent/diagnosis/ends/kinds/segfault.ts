// A process ended by SIGSEGV: native code accessed memory that is not its own.
import { WEIGHT, place, says, who, type EndKind } from '../end-kind.ts'
import { runsPython, serverSteps } from '../who-runs.ts'

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
    `${who(told, 'A process')} crashed with a segmentation fault (SIGSEGV)${place(told)}: ${
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
