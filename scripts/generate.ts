// `npm run generate`: writes everything that is made from declarations: pages, the example configuration, rules, dashboards, manifests. Tests hold each of them.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** The rules before the manifests, which hold them. */
const SCRIPTS = [
  'dashboard-kinds',
  'dashboard-metrics',
  'example-config',
  'metrics-doc',
  'dcgm-doc',
  'otlp-doc',
  'detectors-doc',
  'doctor-doc',
  'fit-doc',
  'rules-doc',
  'grafana',
  'kubernetes',
]

const failed = SCRIPTS.filter((name) => {
  process.stderr.write(`generate: ${name}\n`)
  return spawnSync(process.execPath, [join(import.meta.dirname, `${name}.ts`)], { stdio: 'inherit' }).status !== 0
})
if (failed.length > 0) process.stderr.write(`generate: failed: ${failed.join(', ')}\n`)
process.exitCode = failed.length === 0 ? 0 : 1
