// Readers of files that a person or a container brings: configuration, compose files, model files, files of the doctor.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { judgeNotifiers } from '../../../agent/cli/alert-settings.ts'
import { judgeDetectors } from '../../../agent/cli/detector-settings.ts'
import { environmentSettings } from '../../../agent/config/environment.ts'
import { ConfigFileError, loadConfig } from '../../../agent/config/load.ts'
import { ConfigError } from '../../../agent/config/problem.ts'
import { parseAllocConf } from '../../../agent/doctor/parts/alloc-conf.ts'
import { parseCdiSpec } from '../../../agent/doctor/parts/cdi.ts'
import { parseComposeFile } from '../../../agent/doctor/parts/compose-file.ts'
import { keyProblems } from '../../../agent/doctor/parts/compose-keys.ts'
import { mergeFiles, withoutResets } from '../../../agent/doctor/parts/compose-merge.ts'
import { at, entriesOf } from '../../../agent/doctor/parts/compose-part.ts'
import { portsOf } from '../../../agent/doctor/parts/compose-ports.ts'
import { fill, fillPart, parseEnvFile } from '../../../agent/doctor/parts/compose-variables.ts'
import { parseEnviron, parseIdentity, parseLimits } from '../../../agent/doctor/parts/container-process.ts'
import { parseOsRelease } from '../../../agent/doctor/parts/distribution.ts'
import { readElf } from '../../../agent/doctor/parts/elf.ts'
import { createHostFiles } from '../../../agent/doctor/parts/host-files.ts'
import { parseLoaderCache } from '../../../agent/doctor/parts/library-search.ts'
import { installedDriverPackages } from '../../../agent/doctor/parts/linux-driver.ts'
import { parseMounts } from '../../../agent/doctor/parts/mount-table.ts'
import { parseTorchVersion } from '../../../agent/doctor/parts/python-packages.ts'
import { olderThan, parseToolkitConfig } from '../../../agent/doctor/parts/toolkit-files.ts'
import { parseWslSettings, wslBytes } from '../../../agent/doctor/parts/wsl-settings.ts'
import { usualCards, cardsNamed } from '../../../agent/fit/cards.ts'
import { readConfig } from '../../../agent/fit/hf-config.ts'
import { ConfigShapeError } from '../../../agent/fit/hf-fields.ts'
import { modelOf, ModelError, parseParameters } from '../../../agent/fit/model.ts'
import { fitReport } from '../../../agent/fit/report.ts'
import { headerLength, SafetensorsError, shardsOf, storedWeights } from '../../../agent/fit/safetensors.ts'
import { parseSettings } from '../../../agent/fit/settings.ts'
import { json, parserOf, textParser } from './parser.ts'

let made: string | undefined
/** One folder for the whole run of a child; `abuse` removes what lies in its own temporary folder. */
const folder = (): string => (made ??= mkdtempSync(join(tmpdir(), 'warpwatch-abuse-')))

/** The YAML library takes up to 10 µs for a character that is wrong. Such files are the operator's, read once, by a command or at the start. */
const YAML_MS = 1_000

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

const HF = {
  model_type: 'llama',
  hidden_size: 4_096,
  num_hidden_layers: 32,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  intermediate_size: 14_336,
  vocab_size: 128_256,
  tie_word_embeddings: false,
  torch_dtype: 'bfloat16',
  quantization_config: { quant_method: 'gptq', bits: 4 },
}
const MOE = {
  model_type: 'mixtral',
  hidden_size: 4_096,
  num_hidden_layers: 32,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  intermediate_size: 14_336,
  vocab_size: 32_000,
  num_local_experts: 8,
  num_experts_per_tok: 2,
  sliding_window: 4_096,
}
const VISION = {
  model_type: 'gemma3',
  text_config: { ...HF, model_type: 'gemma3_text', head_dim: 256 },
  vision_config: { hidden_size: 1_152, num_hidden_layers: 27, num_attention_heads: 16, intermediate_size: 4_304, image_size: 896, patch_size: 14 },
}
const notJson = (error: Error): boolean => error instanceof SyntaxError
export const modelConfigs = textParser(
  'model-configs',
  'config.json of a Hugging Face model, and whether it fits',
  [
    json(HF),
    json(MOE),
    json(VISION),
    json({ model_type: 'clip', text_config: HF, vision_config: {} }),
    json({
      model_type: 'whisper',
      d_model: 384,
      encoder_layers: 4,
      decoder_layers: 4,
      encoder_attention_heads: 6,
      decoder_attention_heads: 6,
      encoder_ffn_dim: 1_536,
      decoder_ffn_dim: 1_536,
      vocab_size: 51_865,
    }),
  ],
  (text) => {
    const read = readConfig(JSON.parse(text))
    const parsed = parseSettings({ context: '4096', gpus: '2' }, read.dtype)
    if ('settings' in parsed) fitReport(modelOf({ name: 'm', config: read }), parsed.settings, usualCards())
  },
  { inputs: 50_000, refuses: (error) => notJson(error) || error instanceof ConfigShapeError || error instanceof ModelError },
)
export const fitQuestions = textParser(
  'fit-questions',
  'words of fit: sizes, cards, settings',
  ['8b', '0.5B', 'L40S', 'H100 80GB,A100', 'context=4096&batch=2&dtype=bf16&train=lora&gpus=4&shard=zero3'],
  (text) => {
    cardsNamed(text)
    parseSettings(Object.fromEntries(new URLSearchParams(text)))
    parseParameters(text)
  },
  { mostBytes: 16_384, inputs: 300_000, refuses: (error) => error instanceof ModelError },
)
const HEADER = json({
  __metadata__: { format: 'pt' },
  'model.layers.0.self_attn.q_proj.weight': { dtype: 'BF16', shape: [64, 64], data_offsets: [0, 8_192] },
  'lm_head.weight': { dtype: 'F32', shape: [2, 2], data_offsets: [8_192, 8_208] },
})
export const safetensors = parserOf(
  'safetensors',
  'headers and indexes of model files',
  [HEADER, json({ weight_map: { a: 'model-00001-of-00002.safetensors', b: 'model-00002-of-00002.safetensors' } }), Buffer.from('0800000000000000', 'hex')],
  (input) => {
    const text = input.toString('utf8')
    for (const read of [() => headerLength(input), () => storedWeights([text, text]), () => shardsOf(text)]) {
      try {
        read()
      } catch (error) {
        if (!(error instanceof SafetensorsError)) throw error
      }
    }
  },
  { inputs: 300_000 },
)

const CDI =
  'cdiVersion: "0.6.0"\nkind: nvidia.com/gpu\ndevices:\n- name: "0"\n  containerEdits:\n    deviceNodes:\n    - path: /dev/nvidia0\ncontainerEdits:\n  mounts:\n  - hostPath: /usr/lib/libcuda.so.1\n    containerPath: /usr/lib/libcuda.so.1\n  hooks:\n  - path: /usr/bin/nvidia-ctk\n'
export const cdi = textParser(
  'cdi-specs',
  'CDI descriptions of GPUs',
  [CDI, json({ cdiVersion: '0.5', kind: 'k', devices: [{ name: 0 }] })],
  (text) => void parseCdiSpec('x', text),
  { inputs: 20_000, msPer64KiB: YAML_MS },
)

export const doctorTexts = textParser(
  'doctor-texts',
  'small files of the host and of containers that the doctor reads',
  [
    'expandable_segments:True,max_split_size_mb:512,garbage_collection_threshold:0.8,roundup_power2_divisions:[256:1,512:2,>:8]',
    'PATH=/bin\0NVIDIA_VISIBLE_DEVICES=all\0X=\0',
    'Limit                     Soft Limit           Hard Limit           Units\nMax locked memory         65536                unlimited            bytes\n',
    'Uid:\t1000\t1000\t1000\t1000\nGid:\t0\t0\t0\t0\nGroups:\t4 27\nCapEff:\t00000000a80425fb\n',
    '         0     100000      65536\n',
    'NAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\nVERSION_ID="24.04"\n',
    'Package: nvidia-driver-550\nStatus: install ok installed\nVersion: 550.90\n\n',
    "__version__ = '2.9.0+cu128'\ncuda: Optional[str] = '12.8'\nhip: Optional[str] = None\n",
    'disable-require = false\n[nvidia-container-cli]\nenvironment = []\nldconfig = "@/sbin/ldconfig"\n[nvidia-container-runtime]\nmode = "auto"\n',
    '[wsl2]\r\nmemory=50%\r\nswap = 8GB # x\r\n',
    '31 23 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n',
  ],
  (text) => {
    parseAllocConf(text)
    parseEnviron(text)
    parseLimits(text)
    parseOsRelease(text)
    installedDriverPackages(text)
    parseTorchVersion(text)
    parseToolkitConfig(text)
    olderThan(text, [1, 14])
    parseWslSettings(text)
    wslBytes(text)
    parseMounts(text)
  },
  { inputs: 200_000 },
)
export const identities = textParser(
  'container-identities',
  '/proc/PID/status and uid_map of a process in a container',
  ['Uid:\t1000\t1000\t1000\t1000\nGid:\t0\t0\t0\t0\nGroups:\t4 27\nCapEff:\t00000000a80425fb\n', '         0     100000      65536\n'],
  (text) => void parseIdentity(text, text),
  // The check that reads it is skipped, with these words.
  { inputs: 300_000, refuses: (error) => error.message.startsWith('expected Uid, Gid and CapEff') },
)

function elf(): Buffer {
  const bytes = Buffer.alloc(512)
  bytes.write('\u007fELF\u0002\u0001\u0001', 'latin1')
  bytes.writeBigUInt64LE(64n, 32)
  bytes.writeUInt16LE(56, 54)
  bytes.writeUInt16LE(2, 56)
  bytes.writeUInt32LE(2, 64) // PT_DYNAMIC
  bytes.writeBigUInt64LE(200n, 72)
  bytes.writeBigUInt64LE(200n, 80)
  bytes.writeBigUInt64LE(96n, 96)
  bytes.writeUInt32LE(1, 120) // PT_LOAD of all
  bytes.writeBigUInt64LE(512n, 152)
  for (const [i, [tag, value]] of (
    [
      [5, 400],
      [10, 64],
      [1, 1],
      [29, 9],
      [0, 0],
    ] as const
  ).entries()) {
    bytes.writeBigUInt64LE(BigInt(tag), 200 + 16 * i)
    bytes.writeBigUInt64LE(BigInt(value), 208 + 16 * i)
  }
  bytes.write('\0libx.so\0$ORIGIN/lib\0', 400)
  return bytes
}
/** Its refusals are plain errors with these words; a check turns them into a finding. */
const isElfRefusal = (error: Error): boolean => error.message.startsWith('/library.so: expected ')
export const elfFiles = parserOf(
  'elf-files',
  'libraries inside a container',
  [elf()],
  async (input) => {
    const name = 'library.so'
    writeFileSync(join(folder(), name), input)
    await readElf(createHostFiles(folder()), `/${name}`)
  },
  { inputs: 20_000, refuses: isElfRefusal },
)
function loaderCache(): Buffer {
  const head = Buffer.alloc(48)
  head.write('glibc-ld.so.cache1.1')
  head.writeUInt32LE(1, 20)
  head.writeUInt32LE(40, 24)
  const entry = Buffer.alloc(24)
  entry.writeInt32LE(0x0303, 0)
  entry.writeUInt32LE(72, 4)
  entry.writeUInt32LE(82, 8)
  return Buffer.concat([head, entry, Buffer.from('libx.so.1\0/lib/libx.so.1\0')])
}
export const loaderCaches = parserOf('loader-cache', '/etc/ld.so.cache', [loaderCache()], (input) => void parseLoaderCache(input))
