// The licences of everything that a bundle holds of others, Node among them.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { modulesFor } from './architecture.mjs'

/** Packages of the dashboard: they are bundled into its files, so npm knows them as development packages. */
const IN_THE_PAGE = ['preact', '@preact/signals', '@preact/signals-core', 'uplot', 'marked']

/** What a bundle of a processor holds, by its path in the lock file. */
export function shippedPackages(root, arch) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return Object.entries(packages).filter(
    ([path, { dev, os, cpu }]) =>
      path !== '' &&
      (dev !== true || IN_THE_PAGE.some((name) => path === `node_modules/${name}`)) &&
      (os === undefined || (os.includes('linux') && cpu.includes(arch))),
  )
}

/** One text: each package's name, version and licence as it came. */
export function licences(root, arch) {
  const modules = modulesFor(root, arch)
  const texts = shippedPackages(root, arch).map(([path, { version, license, cpu }]) => {
    const folder = cpu === undefined ? join(root, path) : join(modules, path.replace('node_modules/', ''))
    const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name))
    const text = file === undefined ? `Licence: ${license}; the package brings no text of its own.` : readFileSync(join(folder, file), 'utf8').trim()
    return `${'='.repeat(100)}\n${path.replace(/^.*node_modules\//, '')} ${version} (${license ?? 'see below'})\n${'='.repeat(100)}\n\n${text}\n`
  })
  return texts.join('\n')
}
