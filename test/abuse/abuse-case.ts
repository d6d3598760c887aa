// What a case of the abuse suite is: one fault done to a running agent (or one of its parts), what is promised, and what was observed.
export type Area = 'storage' | 'process' | 'clock' | 'nvml' | 'engine' | 'logs' | 'http' | 'probe' | 'parsers' | 'secrets'

/** `observed` holds figures ("0 of 200 lost, slowest restart 1.2 s"), for the table in docs/reliability.md. */
export type Outcome = { readonly held: boolean; readonly observed: string }

export type AbuseCase = {
  /** Kebab-case; `npm run abuse -- ID` runs it alone. */
  readonly id: string
  readonly area: Area
  readonly fault: string
  /** What SECURITY.md, ARCHITECTURE.md or the README promise, in one sentence that can fail. */
  readonly promised: string
  /** Why it cannot run on this machine (not root, no engine), or undefined where it can. */
  readonly unavailable?: () => string | undefined
  /**
   * `npm test` runs the short form of a case that has one: the same fault in a few seconds. Cases without one run under `npm run abuse` only.
   * A run that cannot be carried out throws; a promise that is broken is an outcome with `held: false`.
   */
  readonly hasShortForm: boolean
  /** Nothing in its short form depends on how busy the machine is, so that it runs beside other tests. */
  readonly besideOthers?: true
  readonly run: (options: { readonly short: boolean }) => Promise<Outcome>
}
