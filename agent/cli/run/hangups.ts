// SIGHUP asks for the configuration to be read again, from the first moment on: by itself it would end the process.

export type Hangups = {
  /** Called once for all that came before, and then for each; several at once are coalesced by whoever reloads. */
  readonly onHangup: (reload: () => void) => void
}

/** To be called before anything else is loaded or read. A terminal that closes sends SIGHUP too: the agent goes on without it. */
export function watchHangups(): Hangups {
  let came = false
  let tell: (() => void) | undefined
  process.on('SIGHUP', () => {
    if (tell === undefined) came = true
    else tell()
  })
  // With the terminal its descriptors are gone (EIO), and a pipe may have lost its reader (EPIPE): the log is lost, the agent is not.
  for (const stream of [process.stderr, process.stdout]) stream.on('error', () => {})
  return {
    onHangup(reload) {
      tell = reload
      if (came) reload()
      came = false
    },
  }
}
