// The scrape configurations that are there to be copied: their own tools read them, and they do to targets and series what they say.
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import { selfSigned } from '../setup/certificate.ts'

const root = join(import.meta.dirname, '../..')
const FOLDER = join(root, 'deploy/prometheus')
const [PROMTOOL, VMAGENT] = ['/usr/bin/promtool', '/usr/bin/vmagent']
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith('.yml'))
const FOR_VM = 'vmagent.yml'
/** Debian builds Prometheus without Kubernetes; VictoriaMetrics reads the same discovery and relabelling. */
const KUBERNETES = 'kubernetes.yml'

/** As a user lays them out: everything in one folder, with the files that they name. */
const folder = mkdtempSync(join(tmpdir(), 'warpwatch-configs-'))
beforeAll(() => {
  cpSync(FOLDER, folder, { recursive: true })
  copyFileSync(join(root, 'alerts/prometheus/warpwatch.rules.yml'), join(folder, 'warpwatch.rules.yml'))
  writeFileSync(join(folder, 'warpwatch.token'), 'scrape-me')
  writeFileSync(join(folder, 'mimir.password'), 'secret')
  const certificate = selfSigned('DNS:localhost')
  writeFileSync(join(folder, 'ca.crt'), certificate?.cert ?? '')
  certificate?.remove()
})
afterAll(() => rmSync(folder, { recursive: true }))

function ask(program: string, args: readonly string[]): { readonly status: number | null; readonly stdout: string; readonly text: string } {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' })
  return { status, stdout, text: stdout + stderr }
}

const relabel = z.object({ source_labels: z.array(z.string()).optional(), regex: z.string().optional(), action: z.string().optional() })
const config = z.object({
  scrape_configs: z.array(z.object({ job_name: z.string(), sample_limit: z.number().optional(), metric_relabel_configs: z.array(relabel).optional() })),
})
const configOf = (name: string) => config.parse(parse(readFileSync(join(FOLDER, name), 'utf8')))

describe.skipIf(!existsSync(PROMTOOL))('promtool check config (needs prometheus)', () => {
  test.each(FILES.filter((name) => name !== FOR_VM && name !== KUBERNETES))('%s', (name) => {
    const { status, text } = ask(PROMTOOL, ['check', 'config', name])
    expect(text).not.toMatch(/FAILED|level=warn/)
    expect(status).toBe(0)
  })

  test('reads the rules and the targets with them', () => {
    expect(ask(PROMTOOL, ['check', 'config', 'file-sd.yml']).text).toMatch(/SUCCESS: \d\d+ rules found/)
    rmSync(join(folder, 'warpwatch.token'))
    const without = ask(PROMTOOL, ['check', 'config', 'static.yml'])
    writeFileSync(join(folder, 'warpwatch.token'), 'scrape-me')
    expect(without.status).toBe(1)
  })

  test('file_sd: of two shards, each target belongs to one, and its labels stay', () => {
    const found = z.array(z.object({ discoveredLabels: z.record(z.string(), z.string()), labels: z.record(z.string(), z.string()).nullable() }))
    const shard = (number: string) => {
      const text = readFileSync(join(FOLDER, 'file-sd.yml'), 'utf8').replace("regex: '0'", `regex: '${number}'`)
      writeFileSync(join(folder, 'shard.yml'), text)
      const { stdout } = ask(PROMTOOL, ['check', 'service-discovery', '--timeout=1s', 'shard.yml', 'warpwatch'])
      return found.parse(JSON.parse(stdout)).flatMap(({ labels }) => (labels?.['instance'] === undefined ? [] : [labels]))
    }
    const shards = [shard('0'), shard('1')]
    expect(
      shards
        .flat()
        .map(({ instance, cluster, __address__ }) => [instance, cluster, __address__].join(' '))
        .toSorted(),
    ).toEqual([
      'gpu-01:9839 lab-1 gpu-01.lab.example.org:9839',
      'gpu-02:9839 lab-1 gpu-02.lab.example.org:9839',
      'gpu-11:9839 lab-2 gpu-11.lab.example.org:9839',
    ])
  })
})

test.skipIf(!existsSync(VMAGENT))('vmagent takes its configuration to the letter (needs victoria-metrics)', () => {
  const dry = (name: string) =>
    ask(VMAGENT, ['-dryRun', '-promscrape.config.strictParse', `-promscrape.config=${name}`, '-remoteWrite.url=http://127.0.0.1:1/'])
  expect(dry(FOR_VM)).toMatchObject({ status: 0 })
  writeFileSync(join(folder, 'misspelt.yml'), readFileSync(join(FOLDER, FOR_VM), 'utf8').replace('series_limit', 'serie_limit'))
  expect(dry('misspelt.yml').status).not.toBe(0)
})

describe('every configuration', () => {
  test('has the job for which the rules are made, but that of dcgm-exporter and the one above others', () => {
    expect(FILES.map((name) => [name, configOf(name).scrape_configs[0]?.job_name]).filter(([, job]) => job !== 'warpwatch')).toEqual([
      ['dcgm-port.yml', 'dcgm-exporter'],
      ['federation.yml', 'warpwatch-federation'],
    ])
  })
  test('bounds what one host may send, where it scrapes hosts', () => {
    const unbounded = FILES.filter((name) => configOf(name).scrape_configs.some(({ sample_limit }) => sample_limit === undefined))
    expect(unbounded).toEqual(['dcgm-port.yml', 'federation.yml'])
  })
  test('names no secret', () => {
    const secrets = FILES.filter((name) => /^\s*(?:[a-z_]*credentials|password|bearer_token):/m.test(readFileSync(join(FOLDER, name), 'utf8')))
    expect(secrets).toEqual([])
  })
})
