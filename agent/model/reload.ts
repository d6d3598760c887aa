// What came of reading the configuration again while the agent runs.

/** Keys are spelled as in the file: `log.level`, `notifiers`. */
export type Reloaded = {
  readonly ok: true
  /** In effect now. */
  readonly changed: readonly string[]
  /** Set otherwise than what is in force, and taken only at the next start. */
  readonly needs_restart: readonly string[]
  /** What is allowed, but hardly meant. */
  readonly warnings: readonly string[]
}
/** Nothing changed: the configuration is refused as a whole. Secrets are hidden in the texts. */
export type ReloadRefused = { readonly ok: false; readonly problems: readonly string[] }
export type ReloadResult = Reloaded | ReloadRefused

/** The newest result, as the metrics report it. */
export type ReloadState = {
  readonly successful: boolean
  /** Unix ms of the newest configuration that was taken; the first is that of the start. */
  readonly succeededAt: number
}
