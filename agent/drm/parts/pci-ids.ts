// The name of a card in the lists that distributions install: libdrm's of AMD cards, which knows revisions, and pciutils'.
import { readFileSync } from 'node:fs'

const AMD = ['/usr/share/libdrm/amdgpu.ids', '/opt/amdgpu/share/libdrm/amdgpu.ids']
const ALL = ['/usr/share/misc/pci.ids', '/usr/share/hwdata/pci.ids']
const MAX_NAME = 100

function firstOf(paths: readonly string[]): string {
  for (const path of paths) {
    try {
      return readFileSync(path, 'utf8')
    } catch {
      // the next place
    }
  }
  return ''
}

/** `id` as `1002:7550`, `revision` as `0xc0`; undefined where no list names it. */
export function nameInPciIds(id: string, revision = ''): string | undefined {
  const [vendor = '', device = ''] = id.toLowerCase().split(':')
  if (!/^[0-9a-f]{4}$/.test(vendor) || !/^[0-9a-f]{4}$/.test(device)) return undefined
  if (vendor === '1002') {
    // `7550,	C0,	AMD Radeon RX 9070 XT`
    const listed = new RegExp(`^${device},\\s*${revision.replace('0x', '')},\\s*(.+)$`, 'im').exec(firstOf(AMD))?.[1]
    if (listed !== undefined) return listed.trim().slice(0, MAX_NAME)
  }
  const list = firstOf(ALL)
  const from = list.indexOf(`\n${vendor}  `)
  if (from < 0) return undefined
  const to = list.slice(from + 1).search(/\n[0-9a-f]{4} {2}/)
  const section = list.slice(from, to < 0 ? undefined : from + 1 + to)
  const maker = /^\n[0-9a-f]{4} {2}(.+)$/m.exec(section)?.[1]?.split(/[ ,]/)[0] ?? ''
  const name = new RegExp(`^\\t${device} {2}(.+)$`, 'm').exec(section)?.[1]
  if (name === undefined) return undefined
  // `Navi 48 [Radeon RX 9070/9070 XT]`: what is sold is in brackets.
  return `${maker === 'Advanced' ? 'AMD' : maker} ${/\[([^\]]+)\]/.exec(name)?.[1] ?? name}`.trim().slice(0, MAX_NAME)
}
