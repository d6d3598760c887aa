// What `docker inspect --format` answers: bare values, whose names stand only in the question above them. `137 false` is read as what inspect prints without a format.

/** A question at a prompt, or alone on its line; `podman` and `nerdctl` take the same. */
const QUESTION = /\b(?:docker|podman|nerdctl)(?: container)? inspect\b.{0,200}?(?:--format|-f)[= ]{0,2}(["'])(.{1,300}?)\1/
const FIELD = /\{\{ ?(?:json )?\.([\w.]{1,80}) ?\}\}/g
const MOST_CONTAINERS = 20

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

type Question = { readonly names: readonly string[]; readonly answer: RegExp }

function questionOf(line: string): Question | undefined {
  const template = line.includes('{{') ? QUESTION.exec(line)?.[2] : undefined
  if (template === undefined) return undefined
  const names = [...template.matchAll(FIELD)].map(([, path = '']) => path.slice(path.lastIndexOf('.') + 1))
  // What is left of other braces (`range`, `if`) decides what is printed: no answer can be told by it.
  const around = template.split(FIELD).filter((_, at) => at % 2 === 0)
  if (names.length === 0 || around.some((text) => text.includes('{{'))) return undefined
  return { names, answer: new RegExp(`^\\s*${around.map(literal).join('(.{0,200}?)')}\\s*$`) }
}

/** A value as JSON writes it. */
const quoted = (value: string): string => (/^(?:true|false|null|-?\d{1,20}|[{["].*)$/.test(value) ? value : `"${value}"`)

/** The lines with each answer's values by their names. */
export function withNamedAnswers(lines: readonly string[]): readonly string[] {
  const named = [...lines]
  for (let at = 0; at < lines.length; at += 1) {
    const question = questionOf(lines[at] ?? '')
    if (question === undefined) continue
    for (const [i, line] of lines.slice(at + 1, at + 1 + MOST_CONTAINERS).entries()) {
      const values = question.answer.exec(line)?.slice(1)
      if (values === undefined || line.trim() === '' || questionOf(line) !== undefined) break
      named[at + 1 + i] = question.names.map((name, n) => `"${name}": ${quoted(values[n] ?? '')}`).join(', ')
    }
  }
  return named
}
