// The screen of all hosts, and the one host among them that is open.
import type { HostConfig } from '../../config/sections/hosts.ts'
import { createHostWatch, type HostWatch } from '../../hosts/watch.ts'
import { drawTables } from './view.ts'
import { footerOf, helpLines, drawOverlay } from './overlays.ts'
import type { Feed } from './feeds/feed.ts'
import { openStream } from './feeds/stream.ts'
import { createHostState, type HostState } from './host-state.ts'
import { hostSection } from './sections/hosts.ts'
import type { Section } from './sections/section.ts'
import type { Screen } from './terminal/screen.ts'
import { arranged, type Ui } from './ui.ts'
import { messageOf } from '../../text/error.ts'

export type Hosts = {
  readonly draw: (screen: Screen, ui: Ui, offsets: Map<string, number>) => readonly Section[]
  /** The open one; undefined: all are shown. */
  readonly opened: () => HostState | undefined
  readonly open: (name: string) => void
  readonly back: () => void
  /** Every host has answered or failed once. */
  readonly complete: () => boolean
  readonly rows: () => number
  readonly close: () => void
}

export function createHosts(configs: readonly HostConfig[], changed: () => void): Hosts {
  const watch: HostWatch = createHostWatch({ hosts: configs, changed })
  let state: HostState | undefined
  let feed: Feed | undefined

  const follow = async (name: string, followed: HostState): Promise<void> => {
    const link = watch.link(name)
    if (link === undefined) return
    try {
      const { url, token } = await link.target()
      if (state !== followed) return
      feed = openStream(
        { url, token, isLocal: false },
        {
          message(message) {
            followed.take(message, Date.now())
            changed()
          },
          lost(problem) {
            followed.lost(problem)
            changed()
          },
        },
      )
    } catch (error) {
      followed.lost(messageOf(error))
      changed()
    }
  }
  const back = (): void => {
    void feed?.close()
    feed = undefined
    state = undefined
    changed()
  }
  return {
    draw(screen, ui, offsets) {
      const entries = watch.entries()
      const silent = entries.filter(({ problem }) => problem !== undefined).length
      const firing = entries.filter(({ summary }) => summary !== undefined && summary.firing.critical + summary.firing.warning > 0).length
      const sections = [arranged(hostSection(entries), ui)]
      screen.clear()
      const x = screen.put(0, 0, `${entries.length} hosts`, { bold: true })
      const then = screen.put(x, 0, `  ${firing === 0 ? 'nothing fires' : `something fires on ${firing}`}`, { colour: firing === 0 ? 'good' : 'warning' })
      if (silent > 0) screen.put(then, 0, `  ${silent} ${silent === 1 ? 'does' : 'do'} not answer`, { colour: 'critical', bold: true })
      drawTables(screen, sections, ui, offsets)
      if (ui.overlay?.kind === 'help') drawOverlay(screen, helpLines(), 0)
      const footer = footerOf(ui, undefined)
      screen.put(0, screen.rows - 1, footer.text, footer.style)
      return sections
    },
    opened: () => state,
    open(name) {
      back()
      state = createHostState(name)
      void follow(name, state)
      changed()
    },
    back,
    complete: () => watch.entries().every(({ summary, problem }) => summary !== undefined || problem !== undefined),
    rows: () => configs.length,
    close() {
      back()
      watch.close()
    },
  }
}
