// Which readings begin a second that was not evaluated yet.

/** As long as readings hold that come once a second. */
const LATE_SECONDS = 5

/** What comes late (a host without CPU, many processes) belongs to a second that was already evaluated; a clock set back by more starts a new timeline. */
export function createSeconds(): (t: number) => boolean {
  let second = -1
  return (t) => {
    const now = Math.floor(t / 1_000)
    if (now <= second && second - now <= LATE_SECONDS) return false
    second = now
    return true
  }
}
