// Takes out of a text what identifies the machine and its owner: users, hosts, addresses, homes, serial numbers; and secrets. What is equal stays equal: [host 1], [address 2].
import { isIPv6 } from 'node:net'
import { redact } from '../../lib/redact.ts'
import { literalPattern } from '../../text/pattern.ts'

export type Known = {
  /** Of this machine, whole and short. */
  readonly hosts: readonly string[]
  readonly users: readonly string[]
}
export type Scrub = (text: string) => string

/** Names that identify nothing and are common words in such a report. */
const DULL =
  /^(?:root|user|users|admin|administrator|ubuntu|debian|fedora|centos|rocky|arch|ec2-user|cloud-user|docker|podman|nvidia|gpu|cuda|linux|host|localhost|node|server|warpwatch|jovyan|nobody|vm|test|app|data|home|mail|video|render|python|torch|default|system)$/i
/** Sites that the remedies point to. */
const PUBLIC =
  /(?:^|\.)(?:nvidia\.com|pytorch\.org|github\.com|docker\.com|docker\.io|huggingface\.co|rpmfusion\.org|kernel\.org|microsoft\.com|python\.org|nvcr\.io|ghcr\.io|quay\.io)$/i
/** Ends of names that are hosts and hardly ever files or modules. */
const HOST_END =
  'com|net|org|edu|gov|mil|int|info|io|ai|dev|cloud|app|tech|systems|network|local|localdomain|internal|intranet|lan|home|corp|private|example|arpa|eu|de|fr|uk|ch|at|nl|it|es|pt|pl|se|no|fi|dk|be|cz|us|ca|mx|br|jp|cn|tw|kr|in|sg|au|nz|ru|ua|tr|il|za'
const HOST_NAME = new RegExp(String.raw`(?<![\w.@-])(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,8}(?:${HOST_END})(?![\w-]|\.\w)`, 'gi')
const IN_URL = /(?<=\b[a-z][a-z0-9+.-]{1,20}:\/\/(?:[^\s/@]{1,200}@)?)(?:\[[0-9a-f:.%]+\]|[^\s/:?#"'\\\]@[]{1,253})/gi
const MAIL = /[a-z0-9._%+-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,8}/gi
/** MAC addresses, and the longer GUIDs of InfiniBand. */
const MAC = /(?<![0-9a-f:-])(?:[0-9a-f]{2}([:-]))(?:[0-9a-f]{2}\1){4,18}[0-9a-f]{2}(?![0-9a-f:-])/gi
/** Not WSL's kernel, whose version has four parts as well. */
const IPV4 = /(?<![\d.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?!\.?\d)(?!-microsoft)/g
const IPV6 = /(?<![\w:.])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,8}(?:\.\d{1,3}){0,3}(?:%\w+)?(?![\w:])/gi
const HOME = /(\/home\/|\/Users\/|[A-Za-z]:\\+Users\\+|\/run\/user\/|\/mnt\/[a-z]\/Users\/)([^\s/\\:"',;<>()[\]]{1,64})/g
const SERIAL = /((?:serial(?:[ _-]?number)?|chassis serial number|board part number|gpu pdi)["']?\s*[:=]\s*["']?)([A-Za-z0-9_-]{4,40})/gi
/** Everybody's. */
const ANYWHERE = /^(?:127\.\d+\.\d+\.\d+|0\.0\.0\.0|255\.255\.255\.255|::1?|localhost)$/

export function createScrubber({ hosts, users }: Known): Scrub {
  const numbers = new Map<string, string>()
  const counts = new Map<string, number>()
  const named = (kind: string, name: string): string => {
    const key = `${kind} ${name.toLowerCase()}`
    const known = numbers.get(key)
    if (known !== undefined) return known
    const next = (counts.get(kind) ?? 0) + 1
    counts.set(kind, next)
    numbers.set(key, `[${kind} ${next}]`)
    return `[${kind} ${next}]`
  }
  const host = (name: string): string => (ANYWHERE.test(name) || PUBLIC.test(name) || name.startsWith('[host') ? name : named('host', name))
  const address = (text: string): string => (ANYWHERE.test(text) ? text : named('address', text))
  const words = (names: readonly string[]): RegExp | undefined => {
    // The longest first: gpu-01.lab before gpu-01.
    const wanted = [...new Set(names.filter((name) => name.length >= 2 && !DULL.test(name)))].sort((a, b) => b.length - a.length)
    return wanted.length === 0 ? undefined : new RegExp(`(?<![A-Za-z0-9])(?:${wanted.map(literalPattern).join('|')})(?![A-Za-z0-9])`, 'gi')
  }
  const [ownHosts, ownUsers] = [words(hosts), words(users)]
  return (text) => {
    let clean = redact(text)
      .replace(MAIL, () => '[e-mail]')
      .replace(HOME, (_whole, folder: string, name: string) => folder + named('user', name))
      .replace(SERIAL, (_whole, before: string, serial: string) => (/^n\/?a$/i.test(serial) ? before + serial : `${before}[serial]`))
      .replace(MAC, (mac) => named('address', mac))
      .replace(IN_URL, (name) => (/^[\d.]+$|^\[/.test(name) ? name : host(name)))
      .replace(IPV4, address)
      .replace(IPV6, (found) => (isIPv6(found.replace(/%.*/, '')) ? address(found) : found))
      .replace(HOST_NAME, host)
    if (ownHosts !== undefined) clean = clean.replace(ownHosts, (name) => named('host', name))
    if (ownUsers !== undefined) clean = clean.replace(ownUsers, (name) => named('user', name))
    return clean
  }
}
