// Questions typed at a prompt, and the bare values that came back: their names are only in the question above. `docker inspect --format`, `echo $?`, expressions of Python.
// An answer is read with its names: `137 false` as what inspect prints without a format, `False` as `torch.cuda.is_available() = False`.

/** What the line below must look like, and how it reads with its names. */
type Question = {
  readonly answer: RegExp
  readonly named: (values: readonly string[]) => string
  /** Several containers give a line each; the other questions one. */
  readonly lines?: number
  /** What the command itself prints first may be between. */
  readonly within?: number
}

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

/** `podman` and `nerdctl` take the same. */
const INSPECT = /\b(?:docker|podman|nerdctl)(?: container)? inspect\b.{0,200}?(?:--format|-f)[= ]{0,2}(["'])(.{1,300}?)\1/
const FIELD = /\{\{ ?(?:json )?\.([\w.]{1,80}) ?\}\}/g
const MOST_CONTAINERS = 20
/** A value as JSON writes it. */
const quoted = (value: string): string => (/^(?:true|false|null|-?\d{1,20}|[{["].*)$/.test(value) ? value : `"${value}"`)

function inspected(line: string): Question | undefined {
  const template = line.includes('{{') ? INSPECT.exec(line)?.[2] : undefined
  if (template === undefined) return undefined
  const names = [...template.matchAll(FIELD)].map(([, path = '']) => path.slice(path.lastIndexOf('.') + 1))
  // What is left of other braces (`range`, `if`) decides what is printed, so the answer cannot be matched.
  const around = template.split(FIELD).filter((_, at) => at % 2 === 0)
  if (names.length === 0 || around.some((text) => text.includes('{{'))) return undefined
  return {
    answer: new RegExp(`^\\s*${around.map(literal).join('(.{0,200}?)')}\\s*$`),
    named: (values) => names.map((name, at) => `"${name}": ${quoted(values[at] ?? '')}`).join(', '),
    lines: MOST_CONTAINERS,
  }
}

const ECHO = /(?:^|[#$%>;&] ?)echo (["']?)([^"'$]{0,40})\$\?([^"'$]{0,40})\1\s*$/
/** Lines of a program that prints before its code is asked for in the same command. */
const PRINTED = 400

function exitAsked(line: string): Question | undefined {
  const [whole, , before = '', after = ''] = line.includes('$?') ? (ECHO.exec(line) ?? []) : []
  if (whole === undefined) return undefined
  const worded = /\w/.test(before + after)
  return {
    answer: new RegExp(`^\\s*${literal(before)}(\\d{1,3})${literal(after)}\\s*$`),
    named: ([code = '']) => `exit code: ${code}`,
    ...(worded && { within: PRINTED }),
  }
}

/** A call or a name, as people type them to see what a library finds. */
const EXPRESSION = String.raw`(?:[A-Za-z_]\w{0,40}\.){1,5}[A-Za-z_]\w{0,40}(?:\((?:["'][\w.-]{0,40}["'])?\))?`
const TYPED = new RegExp(String.raw`^\s*(?:>>>|In \[\d{1,4}\]:) ?(?:print\()?(${EXPRESSION})\)?\s*$`)
/** Within the quotes of `docker exec NAME bash -c "…"` its own have backslashes. */
const ONE_LINER = new RegExp(String.raw`\bpython[\d.]{0,5} -c \\?["'].{0,200}?\bprint\(((?:${EXPRESSION}(?:, ?)?){1,5})\)\\?["']{1,2}\s*$`)

function pythonAsked(line: string): Question | undefined {
  const asked = TYPED.exec(line)?.[1] ?? (line.includes(' -c ') ? ONE_LINER.exec(line)?.[1] : undefined)
  if (asked === undefined) return undefined
  const names = asked.split(/, ?/)
  return {
    answer: new RegExp(String.raw`^(?:Out\[\d{1,4}\]: )?${names.map(() => String.raw`((?!>>>|In \[|File |Traceback)\S.{0,200}?)`).join(' ')}\s*$`),
    named: (values) => names.map((name, at) => `${name} = ${values[at] ?? ''}`).join(', '),
  }
}

const QUESTIONS = [inspected, exitAsked, pythonAsked] as const
const questionOf = (line: string): Question | undefined => {
  for (const ask of QUESTIONS) {
    const question = ask(line)
    if (question !== undefined) return question
  }
  return undefined
}

/** The lines, each answer with the names of its question. */
export function withNamedAnswers(lines: readonly string[]): readonly string[] {
  const named = [...lines]
  for (let at = 0; at < lines.length; at += 1) {
    const question = questionOf(lines[at] ?? '')
    if (question === undefined) continue
    const { answer, lines: most = 1, within = most } = question
    let found = 0
    for (let below = at + 1; below <= at + within && below < lines.length && found < most; below += 1) {
      const line = lines[below] ?? ''
      if (questionOf(line) !== undefined) break
      const values = line.trim() === '' ? undefined : answer.exec(line)?.slice(1)
      if (values !== undefined) {
        named[below] = question.named(values)
        found += 1
      } else if (within === most) break
    }
  }
  return named
}
