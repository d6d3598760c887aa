// Which Linux it is, by the os-release files of real ones, and the commands that its users paste.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readDistribution, type Distribution } from '../../../agent/doctor/parts/distribution.ts'
import { createHostFiles } from '../../../agent/doctor/parts/host-files.ts'

async function on(files: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}): Promise<Distribution> {
  const root = mkdtempSync(join(tmpdir(), 'warpwatch-os-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return await readDistribution(createHostFiles(root), env)
}
const release = async (text: string): Promise<Distribution> => await on({ '/etc/os-release': text })

test.each([
  ['PRETTY_NAME="Ubuntu 24.04.1 LTS"\nID=ubuntu\nID_LIKE=debian\nVERSION_ID="24.04"\n', 'ubuntu', /^sudo apt-get update && sudo apt-get install -y x$/],
  ['ID=rocky\nID_LIKE="rhel centos fedora"\nVERSION_ID="9.4"\n', 'rhel', /^sudo dnf install -y x$/],
  ['ID="opensuse-leap"\nID_LIKE="suse opensuse"\n', 'suse', /^sudo zypper --non-interactive install x$/],
  ['ID=manjaro\nID_LIKE=arch\n', 'arch', /^sudo pacman -S/],
  ["ID='zorin'\nID_LIKE='ubuntu debian'\n", 'ubuntu', /apt-get/],
  ['ID=void\n', 'unknown', /package manager/],
  ['', 'unknown', /package manager/],
])('%j', async (text, family, install) => {
  const found = await release(text)
  expect(found.family).toBe(family)
  expect(found.install('x')).toMatch(install)
})
test('names are told as they are written', async () => {
  expect(await release('PRETTY_NAME="Debian \\"12\\""\nID=debian\nVERSION_ID=12\n')).toMatchObject({
    name: 'Debian "12"',
    version: '12',
    wsl: 0,
    inContainer: false,
  })
  expect(await on({ '/usr/lib/os-release': 'ID=fedora\n' })).toMatchObject({ id: 'fedora' })
})
test('containers are told from hosts, and WSL from containers', async () => {
  expect(await on({ '/.dockerenv': '' })).toMatchObject({ inContainer: true })
  expect(await on({ '/run/systemd/container': 'podman\n' })).toMatchObject({ inContainer: true })
  expect(await on({}, { KUBERNETES_SERVICE_HOST: '10.0.0.1' })).toMatchObject({ inContainer: true })
  const wsl = { '/run/systemd/container': 'wsl\n', '/proc/sys/kernel/osrelease': '6.6.36.3-microsoft-standard-WSL2\n' }
  expect(await on(wsl)).toMatchObject({ inContainer: false, wsl: 2, kernel: '6.6.36.3-microsoft-standard-WSL2' })
})
