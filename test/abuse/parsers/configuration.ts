// Readers of files that the operator writes: configuration, its environment, compose files.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { judgeNotifiers } from '../../../agent/cli/config/alert-settings.ts'
import { judgeDetectors } from '../../../agent/cli/config/detector-settings.ts'
import { environmentSettings } from '../../../agent/config/environment.ts'
import { ConfigFileError, loadConfig } from '../../../agent/config/load.ts'
import { ConfigError } from '../../../agent/config/problem.ts'
import { parseComposeFile } from '../../../agent/doctor/compose/file.ts'
import { keyProblems } from '../../../agent/doctor/compose/keys.ts'
import { mergeFiles, withoutResets } from '../../../agent/doctor/compose/merge.ts'
import { at, entriesOf } from '../../../agent/doctor/compose/part.ts'
import { portsOf } from '../../../agent/doctor/compose/ports.ts'
import { fill, fillPart, parseEnvFile } from '../../../agent/doctor/compose/variables.ts'
import { folder, parserOf, textParser, YAML_MS } from './parser.ts'

const CONFIG = `http:
  listen: 127.0.0.1:9839
  allowed_hosts: [gpu-1, "gpu-2"]
history: &h
  raw: 2d
  minutes: 30d
notifiers:
  - name: ops
    type: webhook
    url: https://ops.example/hook
    secret: { env: OPS_SECRET }
  - { name: chat, type: slack, url: "https://hooks.slack.com/services/T0/B0/xyz" }
alerts:
  routes:
    - match: { kind: "cuda_*", severity: critical }
      notify: [ops]
      quiet: [{ from: "22:00", to: "06:00", zone: Europe/Berlin }]
detectors:
  memory-leak: { enabled: true }
  custom:
    - { name: hot, metric: warpwatch_gpu_temperature_celsius, above: 90, for: 5m }
targets:
  - { name: llm, url: "http://127.0.0.1:8000/health", headers: { a: b } }
`
const isRefusal = (error: Error): boolean => error instanceof ConfigError || error instanceof ConfigFileError
export const config = parserOf(
  'config-file',
  'warpwatch.yaml with notifiers, routes, detectors and targets',
  [CONFIG, 'http: {listen: "[::]:1"}\n', 'a: &a [*a]\n'],
  async (input) => {
    const file = join(folder(), 'warpwatch.yaml')
    writeFileSync(file, input)
    await loadConfig({ file, env: { OPS_SECRET: 'x' }, cwd: folder(), judges: { detectors: judgeDetectors, notifiers: judgeNotifiers } })
  },
  { inputs: 20_000, refuses: isRefusal, msPer64KiB: YAML_MS },
)
export const configEnvironment = textParser(
  'config-environment',
  'values of environment variables',
  ['127.0.0.1:1', '[a, b]', 'a,b,c', '{env: X}', '2d', '&a [*a, 1]', '"x'],
  async (text) =>
    void (await environmentSettings({
      WARPWATCH_HTTP__ALLOWED_HOSTS: text,
      WARPWATCH_DETECTORS__MEMORY_LEAK__ENABLED: text.slice(0, 100),
    })),
  { inputs: 50_000, msPer64KiB: YAML_MS },
)

const COMPOSE = `x-gpu: &gpu
  deploy: { resources: { reservations: { devices: [{ driver: nvidia, count: all, capabilities: [gpu] }] } } }
services:
  trainer:
    <<: *gpu
    image: "pytorch/pytorch:\${TAG:-2.9}"
    ports: ["8000:8000/tcp", "127.0.0.1:9000-9001:9000-9001", { target: 80, published: "8080" }]
    environment: [NVIDIA_VISIBLE_DEVICES=all, "TOKEN=\${TOKEN:?set it}"]
    shm_size: 8gb
  web: { image: !reset nginx, ports: !override ["80"] }
`
export const compose = textParser(
  'compose-files',
  'compose files, with anchors, merges and variables',
  [COMPOSE, 'a: &a [1]\nb: &b [*a, *a]\nc: [*b, *b]\n', 'services: {a: {environment: {X: "${A:-${B:-$${C}}}"}}}\n'],
  (text) => {
    const { root } = parseComposeFile('compose.yaml', text)
    fill(text, { TAG: '1', TOKEN: 't' })
    parseEnvFile(text)
    if (root === undefined) return
    const whole = fillPart(withoutResets(mergeFiles(root, root)), { TAG: '1' }, () => {})
    keyProblems(whole)
    for (const service of entriesOf(at(whole, 'services')).values()) portsOf(service)
  },
  { inputs: 20_000, msPer64KiB: YAML_MS },
)
