// What a message asks to install: the pip command that it names, and the package that it says is missing.

/** `pip install "transformers>=4.56" peft`, as the message writes it. */
const COMMAND = /(?:(?<quote>[`'"])(?:!|\$ ?)?)?\b(?:python3? -m )?(?:uv )?pip3? install(?<given>(?: [^\n`]{0,200})?)/
/** In prose, the command has ended. */
const PROSE = /^(?:and|or|then|to|for|if|with|before|after|in|from|the|it|as|you|which|via|first|again|Or|Then|To|If|For|You|See)$/
const SPEC = /^[A-Za-z][\w.-]{0,60}(?:\[[\w,-]{1,60}\])?(?:[<>=!~]{1,2}[\w.*+]{1,20}(?:,[<>=!~]{1,2}[\w.*+]{1,20})*)?$|^git\+https:\/\/[\w./@+-]{5,160}$/
const OPTION = /^(?:-U|--upgrade|--no-build-isolation|--no-deps|--force-reinstall|--no-cache-dir|--pre)$/

export type AskedInstall = { readonly packages: string; readonly options: string; readonly module: string }

export function askedInstall(message: string): AskedInstall | undefined {
  const { quote, given } = COMMAND.exec(message)?.groups ?? {}
  if (given === undefined) return undefined
  const end = quote === undefined || quote === '`' ? -1 : given.indexOf(quote)
  const specs: string[] = []
  const options: string[] = []
  for (const word of (end < 0 ? given : given.slice(0, end)).trim().split(/\s+/)) {
    const plain = word.replaceAll(/['"]/g, '').replace(/[.,;:!)]+$/, '')
    if (PROSE.test(plain)) break
    if (OPTION.test(plain)) options.push(plain)
    else if (SPEC.test(plain)) specs.push(plain)
    else break
    // A sentence goes on behind it.
    if (/[.,;:!)]$/.test(word)) break
  }
  const first = specs[0]
  if (first === undefined) return undefined
  const module = first.startsWith('git+') ? /([\w.-]{1,60}?)(?:\.git)?(?:@[\w.-]{1,80})?$/.exec(first)?.[1] : /^[\w.-]+/.exec(first)?.[0]
  if (module === undefined) return undefined
  return { packages: specs.map((spec) => (/[<>=!~[]/.test(spec) ? `'${spec}'` : spec)).join(' '), options: options.join(' '), module }
}

const MISSING: readonly RegExp[] = [
  /(?:^|: )[`'"]?([A-Za-z][\w.-]{1,40})[`'"]?(?: (?:package|library|module))? (?:is|was)(?: either)? (?:not (?:installed|available)|missing|required (?:for|to|by|when))\b/,
  /\b(?:requires?|needs?) (?:the )?[`'"]?([A-Za-z][\w.-]{1,40})[`'"]?(?: (?:package|library|module|extra))?(?: ?[<>=]=? ?\d[\w.]{0,12})?(?: to be installed|[.,;]? ?(?:$|\(|[Ii]nstall|[Pp]lease|but))/,
  /\b[Ii]nstall (?:the )?[`']([A-Za-z][\w.-]{1,40})[`']/,
]
const NO_NAME = /^(?:it|this|that|these|an?|the|one|you|package|library|module|dependency|support|version|backend|python|CUDA|GPU|torch)$/i
/** The package that an ImportError says is missing. */
export function missingPackage(message: string): string | undefined {
  for (const pattern of MISSING) {
    const name = pattern.exec(message)?.[1]
    if (name !== undefined && !NO_NAME.test(name)) return name.replace(/[.-]+$/, '')
  }
  return undefined
}
