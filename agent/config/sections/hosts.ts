// Other hosts that this agent, and `warpwatch top`, show beside its own.
import * as z from 'zod/mini'
import { HIDDEN, shownUrl } from '../../lib/shown-url.ts'
import { text, type Field, type PartProblem, type ReadParts } from '../field.ts'
import { readGroups } from '../groups.ts'

export type HostConfig = {
  readonly name: string
  /** `http://10.0.0.7:9839`, `https://…`, or `ssh://USER@HOST` with the agent on that host's loopback, at 9839 unless `?agent=PORT` says another port. */
  readonly url: string
  readonly token: string
}

/** A row each on one page. */
const MAX_HOSTS = 50
/** Neither a user nor a host may look like a flag of ssh. */
const SSH = /^ssh:\/\/(?:[A-Za-z0-9_][\w.-]{0,63}@)?[A-Za-z0-9[][\w.:[\]-]{0,252}(?:\?agent=\d{1,5})?$/
export const isHostUrl = (url: string): boolean => (/^https?:\/\//.test(url) ? url.length <= 2_000 && URL.canParse(url) : SSH.test(url) && URL.canParse(url))

const fields = {
  name: text({
    default: '',
    // It is part of the URL of the host's page.
    pattern: /^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/,
    expected: 'a name of at most 63 letters, digits and - _ . between them',
    description: 'Name of the host.',
  }),
  url: text({ default: '', description: 'Where its agent is.', secret: true }),
  token: text({ default: '', pattern: /^[\x21-\x7e]*$/, expected: 'printable ASCII without spaces', secret: true, description: 'Its http.token.' }),
}

const read: ReadParts<readonly HostConfig[]> = (value) => {
  const { groups, problems: found } = readGroups(value, { fields, required: ['name', 'url'], expected: 'a list of hosts', max: MAX_HOSTS })
  const problems: PartProblem[] = [...found]
  const names = new Set<string>()
  const hosts = groups.map(({ at, values: { name, url, token } }): HostConfig => {
    if (names.has(name)) problems.push({ path: [at, 'name'], text: `another host is also called ${JSON.stringify(name)}; choose another name` })
    names.add(name)
    if (!isHostUrl(url))
      problems.push({ path: [at, 'url'], text: `must be a URL such as http://10.0.0.7:9839 or ssh://user@gpu-07, not ${JSON.stringify(shownUrl(url))}` })
    return { name, url, token }
  })
  return problems.length === 0 ? { value: hosts } : { problems }
}

export const hosts: Field<readonly HostConfig[]> = {
  kind: 'parts',
  schema: z.custom<readonly HostConfig[]>((value) => Array.isArray(value)),
  read,
  expected: 'a list of hosts',
  default: [],
  description: 'Other hosts with an agent, shown as rows beside this one and opened through it, read-only. Tokens stay on this host.',
  secret: false,
  shown: (found) =>
    found.map(({ name, url, token }) => ({ name, url: url.startsWith('ssh:') ? url : shownUrl(url), ...(token === '' ? {} : { token: HIDDEN }) })),
  example: [
    "Each has a name and a url, and its agent's token where it asks for one. With ssh:// the system's ssh forwards to the agent on that host's loopback; it must",
    'get in without a password. Where the agent listens on another port: ssh://ops@gpu-08?agent=9840. They are polled only while a page or top shows them,',
    'and asked when a job hangs here that has ranks elsewhere: name the others on each host, and every incident says which rank is missing, wherever it is.',
    '- {name: gpu-07, url: "http://10.0.0.7:9839", token: TOKEN}',
    '- {name: gpu-08, url: "ssh://ops@gpu-08"}',
  ],
}
