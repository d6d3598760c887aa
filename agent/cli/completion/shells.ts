// The completion scripts of bash, zsh and fish: the same commands and flags, each in its shell's own language.
import { COMMON_FLAGS } from '../arguments.ts'
import type { Command, FlagSpec } from '../command.ts'

export type Shell = (commands: readonly Command[]) => string

const flagsOf = (command: Command): readonly (readonly [name: string, spec: FlagSpec])[] => Object.entries({ ...command.flags, ...COMMON_FLAGS })
const takesValue = ({ kind }: FlagSpec): boolean => kind === 'value' || kind === 'values'
const isFile = ({ value = '' }: FlagSpec): boolean => /FILE|DIR/.test(value)
/** Whether an argument of the command is a file or a folder. */
const takesFile = ({ positionals, optionalPositionals = [], takesCommand }: Command): boolean =>
  takesCommand === true || [...positionals, ...optionalPositionals].some((name) => /FILE|DIR/.test(name))
/** Words that a flag or an argument takes, where its name lists them: `agent|prometheus`. */
const choicesIn = (name: string): readonly string[] => (/^[a-z][\w-]*(?:\|[\w-]+)+$/.test(name) ? name.split('|') : [])
const argumentsOf = (command: Command, commands: readonly Command[]): readonly string[] => {
  if (command.name === 'help') return commands.map(({ name }) => name)
  if (command.name === 'completion') return ['bash', 'zsh', 'fish']
  return [...command.positionals, ...(command.optionalPositionals ?? [])].flatMap(choicesIn)
}
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const namesOf = (command: Command): string =>
  flagsOf(command)
    .map(([name, spec]) => `--${name}${spec.kind === 'optional-value' ? '=' : ''}`)
    .join(' ')

export const bash: Shell = (commands) => {
  const words = (command: Command): string => [namesOf(command), ...argumentsOf(command, commands)].join(' ')
  const values = commands.flatMap((command) =>
    flagsOf(command)
      .filter(([, spec]) => takesValue(spec))
      .map(([name, spec]) => {
        const choices = choicesIn(spec.value ?? '')
        const answer = isFile(spec)
          ? 'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur"))'
          : `COMPREPLY=($(compgen -W ${quoted(choices.join(' '))} -- "$cur"))`
        return `    ${command.name}:--${name}) ${answer}; return ;;`
      }),
  )
  return `# bash completion for warpwatch. Load it: source <(warpwatch completion bash)
_warpwatch() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command=run word words
  COMPREPLY=()
  [[ $COMP_CWORD -gt 1 && \${COMP_WORDS[1]} != -* ]] && command=\${COMP_WORDS[1]}
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do [[ $word == -- ]] && { COMPREPLY=($(compgen -c -f -- "$cur")); return; }; done
  case $command:$prev in
${values.join('\n')}
  esac
  case $command in
${commands.map((command) => `    ${command.name}) words=${quoted(words(command))} ;;`).join('\n')}
  esac
  [[ $COMP_CWORD -eq 1 && $cur != -* ]] && words=${quoted(commands.map(({ name }) => name).join(' '))}
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  [[ \${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
  if [[ \${#COMPREPLY[@]} -eq 0 && $cur != -* ]]; then
    case $command in ${commands
      .filter(takesFile)
      .map(({ name }) => name)
      .join('|')}) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;; esac
  fi
}
complete -F _warpwatch warpwatch
`
}

/** In a specification of _arguments a colon and a bracket have a meaning. */
const zshText = (text: string): string => text.replace(/[\\:[\]]/g, (found) => `\\${found}`)
const zshFlag = ([name, spec]: readonly [string, FlagSpec]): string => {
  const value = spec.value ?? 'VALUE'
  const choices = choicesIn(value)
  const action = isFile(spec) ? '_files' : choices.length === 0 ? ' ' : `(${choices.join(' ')})`
  const taken = spec.kind === 'switch' ? '' : `${spec.kind === 'optional-value' ? '::' : ':'}${zshText(value)}:${action}`
  const repeated = spec.kind === 'values' ? '*' : ''
  return quoted(`${repeated}--${name}${spec.kind === 'optional-value' ? '=-' : ''}[${zshText(spec.help)}]${taken}`)
}

export const zsh: Shell = (commands) => {
  const rest = (command: Command): string => {
    const words = argumentsOf(command, commands)
    if (words.length > 0) return quoted(`*:argument:(${words.join(' ')})`)
    return command.takesCommand === true ? quoted('*:::command:_normal') : takesFile(command) ? quoted('*:file:_files') : quoted('*: : ')
  }
  return `#compdef warpwatch
# zsh completion for warpwatch. Load it: source <(warpwatch completion zsh)
_warpwatch() {
  local command=run
  if (( CURRENT > 2 )) && [[ $words[2] != -* ]]; then
    command=$words[2]
    shift words
    (( CURRENT-- ))
  elif [[ $PREFIX != -* ]] && (( CURRENT == 2 )); then
    local -a commands=(
${commands.map(({ name, summary }) => `      ${quoted(`${name}:${zshText(summary)}`)}`).join('\n')}
    )
    _describe command commands
    return
  fi
  case $command in
${commands.map((command) => `    ${command.name}) _arguments ${[...flagsOf(command).map(zshFlag), rest(command)].join(' ')} ;;`).join('\n')}
  esac
}
if [[ $funcstack[1] = _warpwatch ]]; then _warpwatch "$@"; else compdef _warpwatch warpwatch; fi
`
}

export const fish: Shell = (commands) => {
  const names = commands.map(({ name }) => name).join(' ')
  const lines = commands.flatMap((command) => {
    const inside = `-n '__fish_seen_subcommand_from ${command.name}'`
    const words = argumentsOf(command, commands)
    return [
      `complete -c warpwatch -n "not __fish_seen_subcommand_from $commands" -a ${command.name} -d ${quoted(command.summary)}`,
      ...(takesFile(command) ? [`complete -c warpwatch ${inside} -F`] : []),
      ...(words.length > 0 ? [`complete -c warpwatch ${inside} -a ${quoted(words.join(' '))}`] : []),
      ...flagsOf(command).map(([name, spec]) => {
        const choices = choicesIn(spec.value ?? '')
        const value = !takesValue(spec) ? '' : isFile(spec) ? ' -r -F' : choices.length === 0 ? ' -x' : ` -x -a ${quoted(choices.join(' '))}`
        const short = spec.short === undefined ? '' : ` -s ${spec.short}`
        return `complete -c warpwatch ${inside} -l ${name}${short}${value} -d ${quoted(spec.help)}`
      }),
    ]
  })
  return `# fish completion for warpwatch. Load it: warpwatch completion fish | source
set -l commands ${names}
complete -c warpwatch -f
${lines.join('\n')}
`
}
