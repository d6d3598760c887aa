// An exception that nobody caught and that no other kind explains.
import { WEIGHT, openFrame, place, quote, who, type EndKind } from '../end-kind.ts'

export const pythonException: EndKind = {
  kind: 'python_exception',
  stage: 'cause',
  severity: 'critical',
  // The last resort for whatever has a name.
  claims: ({ name }) => (name === undefined || /^(?:record|message|shell|usage|library|python|r)$/.test(name) ? undefined : { weight: WEIGHT.words / 2 }),
  title: (told) => `Uncaught exception: ${told.error?.name ?? told.facts.exception ?? 'unknown'}${place(told)}`,
  verdict: (told) => `${who(told)} ended with an exception that nothing caught${place(told)}: "${quote(told)}".`,
  remedies: (told) => [
    openFrame(told),
    /^(?:SyntaxError|IndentationError|TabError)$/.test(told.error?.name ?? '') && {
      text: 'Correct the line, or run the program with the version of Python that it was written for.',
      command: 'python --version',
    },
    {
      text: 'Reproduce it with one process, no workers and a small input: the same line then fails at once, and a debugger can stop there.',
    },
    { text: 'Resume from the last checkpoint after the correction; what came after it is lost.' },
  ],
}
