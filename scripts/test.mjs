// `npm test`, `npm run test:all` (`--all`), `npm run test:long` (`--long`; what they add: test/setup/rounds.ts): installs what is missing (as root also the Debian packages of the integration tests), builds, runs the tests.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ensureBuild, ensurePackages, nodeBinary, root } from './ensure.mjs'
import { foreground, runToEnd } from './foreground.mjs'

/** Chromium without windows, at half the CPU time. */
const BROWSER = 'chromium-headless-shell'
/** Debian packages by a file that they bring: a C compiler for the fake NVML, a container engine, Prometheus with promtool, Alertmanager with amtool, a browser, Compose, VictoriaMetrics with vmalert, mmdebstrap. */
const PACKAGES = {
  gcc: '/usr/bin/cc',
  'libc6-dev': '/usr/include/stdio.h',
  'docker.io': '/usr/sbin/dockerd',
  'busybox-static': '/bin/busybox',
  prometheus: '/usr/bin/promtool',
  'prometheus-alertmanager': '/usr/bin/prometheus-alertmanager',
  [BROWSER]: '/usr/lib/chromium/chromium-headless-shell',
  procps: '/usr/bin/ps',
  'docker-compose': '/usr/bin/docker-compose',
  'victoria-metrics': '/usr/bin/victoria-metrics',
  // Debian's own root file systems: a bare one for the first start, one in the place of a registry's image.
  mmdebstrap: '/usr/bin/mmdebstrap',
  // One node of Slurm, for how its jobs end.
  munge: '/usr/sbin/munged',
  'slurm-wlm': '/usr/sbin/slurmctld',
}

async function ensureDebianPackages() {
  const missing = Object.keys(PACKAGES).filter((name) => !existsSync(PACKAGES[name]))
  if (missing.length === 0) return
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    process.stderr.write(`warpwatch: not root on Debian, so the tests that need ${missing.join(', ')} are skipped\n`)
    return
  }
  process.stderr.write(`warpwatch: installing ${missing.join(', ')} for the integration tests (once, about 30 s) …\n`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const apt = (...args) => runToEnd('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=120', ...args], { cwd: root, env })
  const install = (packages) => apt('install', '-y', '--no-install-recommends', ...packages)
  await apt('update')
  let run = await install(missing)
  // An older Debian has only the whole browser.
  if (run.status !== 0 && missing.includes(BROWSER)) run = await install(missing.map((name) => (name === BROWSER ? 'chromium' : name)))
  if (run.status !== 0) process.stderr.write('warpwatch: apt-get failed, see its messages above; tests that need these packages are skipped\n')
}

async function ensureBuilt() {
  await ensurePackages()
  await ensureBuild()
}

// Debian's packages and npm's come from different servers and mostly wait for them, so both are fetched at once.
await Promise.all([ensureDebianPackages(), ensureBuilt()])
const given = process.argv.slice(2)
const args = given.filter((arg) => arg !== '--long' && arg !== '--all')
const projects = args.some((arg) => arg.startsWith('--project')) ? [] : ['--project', 'together', '--project', 'alone']
if (given.includes('--all')) process.env.TEST_ALL = '1'
if (given.includes('--long')) process.env.TEST_LONG = '1'
foreground(nodeBinary(), [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...projects, ...args], { cwd: root })
