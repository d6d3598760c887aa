// Who publishes Warpwatch: deploy/owner.json, the only place that names a maintainer and the repository's address. Its placeholders are for the owner to fill.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const FORMS = {
  maintainer: { pattern: /^[^<>\n]+ <[^<>@\s]+@[^<>@\s]+\.[^<>@\s]+>$/, form: 'Name <mail address>' },
  homepage: { pattern: /^https:\/\/\S+$/, form: 'an https address' },
}
const isPlaceholder = (value) => typeof value === 'string' && value.startsWith('FILL IN')

/**
 * The owner's fields; one that is still a placeholder is undefined, and its name is in `unfilled`. Throws when a field is filled with something
 * of another form.
 */
export function readOwner(root) {
  const file = join(root, 'deploy/owner.json')
  const fields = JSON.parse(readFileSync(file, 'utf8'))
  for (const [name, { pattern, form }] of Object.entries(FORMS))
    if (!isPlaceholder(fields[name]) && !pattern.test(fields[name] ?? ''))
      throw new Error(`${file}: ${name} must be ${form}, it is ${JSON.stringify(fields[name])}`)
  const unfilled = Object.keys(FORMS).filter((name) => isPlaceholder(fields[name]))
  const of = (name) => (isPlaceholder(fields[name]) ? undefined : fields[name])
  return { maintainer: of('maintainer'), homepage: of('homepage'), unfilled }
}
