// What the agent counts of itself, out of its page of metrics.

export type Figure = { readonly name: string; readonly labels: Readonly<Record<string, string>>; readonly value: number }
export type Figures = {
  /** undefined where the agent does not have that figure. */
  readonly one: (name: string, labels?: Readonly<Record<string, string>>) => number | undefined
  readonly all: (name: string) => readonly Figure[]
  /** Over all labels, or those that have the given ones; undefined where there is none. */
  readonly sum: (name: string, labels?: Readonly<Record<string, string>>) => number | undefined
}

const OWN = /^(?:warpwatch_agent_|process_)/
const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g
const ESCAPES: Readonly<Record<string, string>> = { n: '\n' }

/** Of the text format of Prometheus only what is on the agent's page: no time stamps, no exemplars. */
export function parseFigures(page: string): Figures {
  const byName = new Map<string, Figure[]>()
  for (const line of page.split('\n')) {
    if (!OWN.test(line)) continue
    const [, name, inBraces = '', number] = LINE.exec(line) ?? []
    if (name === undefined || number === undefined) continue
    const labels = Object.fromEntries(
      Array.from(inBraces.matchAll(LABEL), ([, label = '', text = '']) => [label, text.replace(/\\(.)/g, (_, sign: string) => ESCAPES[sign] ?? sign)]),
    )
    const figure = { name, labels, value: Number(number) }
    const known = byName.get(name)
    if (known === undefined) byName.set(name, [figure])
    else known.push(figure)
  }
  const all = (name: string): readonly Figure[] => byName.get(name) ?? []
  const having = (name: string, labels: Readonly<Record<string, string>> = {}): readonly Figure[] =>
    all(name).filter((figure) => Object.entries(labels).every(([label, text]) => figure.labels[label] === text))
  return {
    all,
    one: (name, labels) => having(name, labels)[0]?.value,
    sum(name, labels) {
      const found = having(name, labels)
      return found.length === 0 ? undefined : found.reduce((total, { value }) => total + value, 0)
    },
  }
}
