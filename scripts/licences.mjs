// The licences of everything that a bundle holds of others, Node among them.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Packages of the dashboard: they are bundled into its files, so npm knows them as development packages. */
const IN_THE_PAGE = ['preact', '@preact/signals', '@preact/signals-core', 'uplot', 'marked']

/** What a bundle holds, by its path in the lock file. */
export function shippedPackages(root) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return Object.entries(packages).filter(
    ([path, { dev, os, cpu }]) =>
      path !== '' &&
      (dev !== true || IN_THE_PAGE.some((name) => path === `node_modules/${name}`)) &&
      (os === undefined || (os.includes('linux') && cpu.includes('x64'))),
  )
}

/** One text: each package's name, version and licence as it came. */
export function licences(root) {
  const texts = shippedPackages(root).map(([path, { version, license }]) => {
    const folder = join(root, path)
    const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name))
    const text = file === undefined ? `Licence: ${license}; the package brings no text of its own.` : readFileSync(join(folder, file), 'utf8').trim()
    return `${'='.repeat(100)}\n${path.replace(/^.*node_modules\//, '')} ${version} (${license ?? 'see below'})\n${'='.repeat(100)}\n\n${text}\n`
  })
  return texts.join('\n')
}
