// The command line of a process as people may see it: one line, bounded, without secrets.
import { isSecretName, REDACTED, redact } from '../lib/redact.ts'

const MAX_CHARACTERS = 300
/** More arguments would not be shown anyway, and each is looked at. */
const MAX_ARGUMENTS = 64
const MAX_ARGUMENT = 2_000
/** `--name=value`, `-name value`, `NAME=value`. */
const OPTION = /^(-{0,2})([A-Za-z][\w.-]{0,80})(?:([=:])([\s\S]*))?$/

/** An argument that names a secret takes its value with it, wherever that stands. */
function masked(argv: readonly string[]): readonly string[] {
  const shown: string[] = []
  let isNextSecret = false
  for (const argument of argv.slice(0, MAX_ARGUMENTS)) {
    const [, dashes = '', name = '', sign, value] = OPTION.exec(argument.slice(0, MAX_ARGUMENT)) ?? []
    const isSecret = name !== '' && isSecretName(name)
    if (isNextSecret && !(dashes !== '' && name !== '')) shown.push(REDACTED)
    else if (isSecret && sign !== undefined && value !== '') shown.push(`${dashes}${name}${sign}${REDACTED}`)
    else shown.push(argument.slice(0, MAX_ARGUMENT))
    isNextSecret = isSecret && dashes !== '' && sign === undefined
  }
  return shown
}

/** `text`: of /proc/PID/cmdline. Empty for kernel threads and processes that have gone. */
export function commandLine(text: string): string {
  const argv = text.split('\0')
  if (argv.at(-1) === '') argv.pop()
  const line = redact(masked(argv).join(' '))
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
  return line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS - 1)}…` : line
}
