// Everything that the palette leads to: pages, GPUs, incidents, jobs, processes, servers, and what one can do on the page.
import { indexRanges } from '../../../../agent/text/grammar.ts'
import { VIEWS } from '../../features/index.ts'
import { incidents } from '../../parts/incident/known.ts'
import { ordered, whom } from '../../parts/incident/subject.ts'
import { jobOf } from '../../parts/job/identity.ts'
import { gpuHref, jobHref } from '../../parts/job/links.ts'
import { containers, processes } from '../../parts/live/listed.ts'
import { placedTitle } from '../../parts/live/summary.ts'
import { frame, views } from '../../parts/live/state.ts'
import { hrefOf } from '../../parts/route.ts'
import { change, LAYOUTS } from '../../parts/settings.ts'
import { chooseTheme } from '../../parts/theme.ts'
import { memory } from '../../text/format.ts'
import { containerKey, shortGpuName } from '../../text/names.ts'
import type { Entry } from './match.ts'
import { openDialog } from './opened.ts'

const pages = (): readonly Entry[] =>
  VIEWS.filter(({ under }) => under !== '').map(({ id, label, key }) => ({
    id: `page ${id}`,
    group: 'Page',
    label,
    hint: key === undefined ? '' : `g ${key}`,
    act: { href: hrefOf(id) },
  }))

const gpus = (): readonly Entry[] =>
  (views.peek() ?? []).map(({ uuid, index, name, row, trouble }) => ({
    id: uuid,
    group: 'GPU',
    label: `GPU ${index}`,
    hint: [trouble?.state ?? `${memory(row.memory_used_bytes)} used`, shortGpuName(name)].join(' · '),
    words: [uuid, row['pci_bus_id'], row['serial']].filter((text) => typeof text === 'string').join(' '),
    act: { href: gpuHref(index) },
  }))

const reported = (): readonly Entry[] =>
  ordered(incidents.peek().values()).map((incident) => ({
    id: incident.id,
    group: 'Incident',
    label: placedTitle(incident),
    hint: `${incident.status === 'firing' ? incident.severity : incident.status} · ${whom(incident)}`,
    words: `${incident.id} ${incident.kind}`,
    act: { href: hrefOf('incidents', [incident.id]) },
  }))

const jobs = (): readonly Entry[] =>
  containers.peek().map(({ key, row, holdings, gpuBytes }) => {
    const on = indexRanges([...new Set(holdings.map(({ index }) => index))])
    return {
      id: `container ${key}`,
      group: 'Job',
      label: containerKey(row),
      hint: holdings.length === 0 ? row.image : `${memory(gpuBytes)} on GPU ${on}`,
      words: `${row.container_id} ${row.image ?? ''} ${row.compose_project ?? ''} container`,
      act: { href: jobHref(jobOf(row).key) },
    }
  })

const running = (): readonly Entry[] =>
  processes.peek().map(({ key, process, pid, owner, user, command, job, gpuBytes }) => ({
    id: `process ${key}`,
    group: 'Process',
    label: `${process} (${pid})`,
    hint: [owner ?? 'host', user, memory(gpuBytes)].filter((text) => text !== undefined).join(' · '),
    words: command,
    act: { href: jobHref(job) },
  }))

const servers = (): readonly Entry[] =>
  (frame.peek()?.servers ?? []).map(({ name, server, model }) => ({
    id: `server ${name}`,
    group: 'Server',
    label: name,
    hint: [server, model].filter((text) => text !== undefined).join(' · '),
    act: { href: hrefOf('servers') },
  }))

const command = (label: string, act: Entry['act'], hint?: string): Entry => ({ id: `command ${label}`, group: 'Command', label, hint, act })
const copyLink = (): void => void navigator.clipboard?.writeText(location.href).catch((error: unknown) => console.warn(error))

const commands = (): readonly Entry[] => [
  command('What fires', { href: hrefOf('incidents', [], { state: 'firing' }) }),
  command('Settings', () => (openDialog.value = 'settings'), ','),
  command('Keyboard shortcuts', () => (openDialog.value = 'shortcuts'), '?'),
  ...(['dark', 'light'] as const).map((theme) => command(`Theme: ${theme}`, () => chooseTheme(theme))),
  command('Theme: as the system', () => chooseTheme(undefined)),
  ...LAYOUTS.map((layout) => command(`GPUs as ${layout === 'auto' ? 'fits the screen' : layout}`, () => change({ layout }))),
  command('Copy link to this page', copyLink),
  command('Print this page', () => print()),
]

/** What is sick first, then pages; the long lists last. */
export const entries = (): readonly Entry[] => [...pages(), ...gpus(), ...reported(), ...jobs(), ...servers(), ...commands(), ...running()]
