// What a bundle says of whose machine it was: nothing. Held by properties over texts such as logs, settings and nvidia-smi print.
import * as fc from '../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { createScrubber } from '../../../agent/doctor/bundle/scrub.ts'

const hosts = ['gpu-node-17.lab.example.com', 'gpu-node-17']
const users = ['alice', 'bob.jones', 'Alice Liddell']
const scrub = (text: string): string => createScrubber({ hosts, users })(text)

const word = fc.stringMatching(/^[a-z][a-z0-9]{2,11}$/)
const octet = fc.integer({ min: 1, max: 254 })
const ipv4 = fc.tuple(fc.integer({ min: 11, max: 126 }), octet, octet, octet).map((parts) => parts.join('.'))
const group = fc.integer({ min: 1, max: 0xffff }).map((number) => number.toString(16))
const ipv6 = fc.oneof(
  fc.array(group, { minLength: 8, maxLength: 8 }).map((parts) => parts.join(':')),
  fc.tuple(group, group, group).map(([a, b, c]) => `fd${a.padStart(2, '0').slice(0, 2)}:${b}::${c}`),
)
const pair = fc.integer({ min: 0, max: 255 }).map((number) => number.toString(16).padStart(2, '0'))
const mac = fc.tuple(fc.array(pair, { minLength: 6, maxLength: 6 }), fc.constantFrom(':', '-')).map(([pairs, mark]) => pairs.join(mark))
const mail = fc.tuple(word, word).map(([name, site]) => `${name}@${site}.example.org`)
const home = word.chain((name) =>
  fc.constantFrom({ whole: `/home/${name}/venv`, name }, { whole: `/mnt/c/Users/${name}/model.bin`, name }, { whole: `C:\\Users\\${name}\\x`, name }),
)
const secret = fc.stringMatching(/^[A-Za-z0-9]{24}$/)

/** How such things are in a log, in YAML, in JSON, in a URL. */
const around = fc.constantFrom<(text: string) => string>(
  (text) => text,
  (text) => `connect to ${text} failed`,
  (text) => `{"peer":"${text}","ok":false}`,
  (text) => `listen: ${text}\nnext: 1`,
  (text) => `(${text})`,
  (text) => `src=${text},dst=x`,
)
/** What of it still is in the text, and what changes when it is scrubbed again: nothing. */
function left(text: string, what: string): readonly string[] {
  const clean = scrub(text)
  return [...(clean.toLowerCase().includes(what.toLowerCase()) ? [clean] : []), ...(scrub(clean) === clean ? [] : [scrub(clean)])]
}

describe('what is taken out', () => {
  test.each([
    ['IPv4', ipv4],
    ['IPv6', ipv6],
    ['MAC addresses', mac],
    ['e-mail addresses', mail],
  ])('%s', (_name, what) => {
    fc.assert(
      fc.property(what, around, (text, put) => {
        expect(left(put(text), text)).toEqual([])
      }),
      { numRuns: 500 },
    )
  })
  test('names of homes', () => {
    fc.assert(
      fc.property(home, around, ({ whole, name }, put) => {
        fc.pre(!/^(venv|model|bin|users|home|mnt)/.test(name))
        expect(left(put(whole), `${whole.includes('\\') ? '\\' : '/'}${name}`)).toEqual([])
      }),
    )
  })
  test('users and hosts of this machine, however they are written', () => {
    fc.assert(
      fc.property(fc.constantFrom(...hosts, ...users, 'ALICE', 'Gpu-Node-17'), around, (name, put) => {
        expect(left(put(name), name)).toEqual([])
      }),
    )
    expect(left('Nov 20 08:00:00 gpu-node-17 kernel: x', 'gpu-node-17')).toEqual([])
    expect(left('container alice-trainer, project bob.jones_llm', 'alice')).toEqual([])
  })
  test('hosts in URLs and by name', () => {
    fc.assert(
      fc.property(word, fc.constantFrom('com', 'internal', 'lan', 'de'), fc.constantFrom('', ':4318', '/v1/traces'), (name, end, rest) => {
        const site = `${name}.corp.${end}`
        expect(left(`endpoint: https://${site}${rest}`, site)).toEqual([])
        expect(left(`image ${site}/team/img:tag`, site)).toEqual([])
        expect(left(`url: http://${name}-only:8080/health`, `//${name}-only`)).toEqual([])
      }),
    )
  })
  test('secrets', () => {
    fc.assert(
      fc.property(secret, (text) => {
        for (const line of [
          `token: ${text}`,
          `"api_key":"${text}"`,
          `https://bob:${text}@h.example.com/x`,
          `HF_TOKEN=hf_${text}`,
          `Authorization: Bearer ${text}`,
        ])
          expect(left(line, text)).toEqual([])
      }),
    )
  })
  test('serial numbers', () => {
    expect(left('    Serial Number                         : 1324021045678', '1324021045678')).toEqual([])
    expect(scrub('    Serial Number                         : N/A')).toContain('N/A')
  })
})

describe('what stays', () => {
  test.each([
    'driver 550.90.07, CUDA 12.4, kernel 6.1.0-28-amd64, 5.15.153.1-microsoft-standard-WSL2',
    '[12345.678901] NVRM: Xid (PCI:0000:01:00): 79, pid=1234, name=python, GPU has fallen off the bus.',
    '2026-11-20T08:00:00.123Z 11:10:16 at c10::cuda::CUDACachingAllocator::malloc(int)',
    'GPU-5e1b1c2d-1111-2222-3333-444444444444 00000000:01:00.0 libcublas.so.12 libnvidia-ml.so.550.90.07 warpwatch.yaml',
    'http.listen: 127.0.0.1:9839, [::1]:9839, 0.0.0.0:9839 http://localhost:9839/metrics',
    'sudo nvidia-smi --gpu-reset -i 0; see https://docs.nvidia.com/deploy/ and https://download.pytorch.org/whl/cu128',
    '/usr/lib/x86_64-linux-gnu /var/lib/docker /dev/nvidia0 /proc/driver/nvidia/version',
  ])('%s', (text) => {
    expect(scrub(text)).toBe(text)
  })
  test('equal things stay equal, others differ', () => {
    expect(scrub('10.1.2.3 asks 10.1.2.4, 10.1.2.3 answers')).toBe('[address 1] asks [address 2], [address 1] answers')
  })
  test('JSON stays JSON', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          word,
          fc.oneof(
            ipv4,
            ipv6,
            mail,
            home.map(({ whole }) => whole),
            fc.string(),
            fc.integer(),
          ),
        ),
        (value) => {
          expect(() => JSON.parse(scrub(JSON.stringify(value, null, 2)))).not.toThrow()
        },
      ),
    )
  })
  test('no text makes it slow', () => {
    // Bounded by the runner's time-out: quadratic matching of these would take hours.
    for (const piece of ['a.', 'a:', '0:', '1.', '@', '/home/', 'a@', 'http://', 'aa:', '\\']) expect(scrub(piece.repeat(50_000)).length).toBeGreaterThan(0)
  })
})
