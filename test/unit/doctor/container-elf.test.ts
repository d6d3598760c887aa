// The reader of ELF files and the search for libraries, held against real libraries made by the compiler and against this machine's own loader.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { archTexts, readElf } from '../../../agent/doctor/container/elf.ts'
import { createHostFiles } from '../../../agent/doctor/parts/host-files.ts'
import { createLibrarySearch, parseLoaderCache } from '../../../agent/doctor/container/library-search.ts'
import { programPath } from '../../setup/engine-client.ts'
import { asciiElf } from '../../fakes/doctor/elf.ts'

const CC = programPath('cc')
let root = ''
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'warpwatch-elf-'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** A library of that name in a folder of the root. */
function compile(folder: string, name: string, own: { readonly source?: string; readonly flags?: readonly string[] } = {}): void {
  mkdirSync(join(root, folder), { recursive: true })
  const source = join(root, `${name}.c`)
  writeFileSync(source, own.source ?? 'int answer(void) { return 42; }\n')
  execFileSync(CC ?? 'cc', ['-shared', '-fPIC', `-Wl,-soname,${name}`, '-Wl,--no-as-needed', '-o', join(root, folder, name), source, ...(own.flags ?? [])])
}

describe.skipIf(CC === undefined)('libraries made by cc', () => {
  test('what one needs, and where it says to look', async () => {
    compile('/usr/lib/cuda', 'libcudart.so.12')
    compile('/usr/lib/cuda', 'libcusparse.so.12')
    for (const [kind, flag] of [
      ['runpath', '-Wl,--enable-new-dtags'],
      ['rpath', '-Wl,--disable-new-dtags'],
    ] as const) {
      compile('/site/torch/lib', `libtorch_${kind}.so`, {
        flags: [flag, '-Wl,-rpath,$ORIGIN/../../nvidia/cuda_runtime/lib:$ORIGIN', `-L${root}/usr/lib/cuda`, '-l:libcudart.so.12', '-l:libcusparse.so.12'],
      })
      const elf = await readElf(createHostFiles(root), `/site/torch/lib/libtorch_${kind}.so`)
      expect(elf?.needed.slice(0, 2)).toEqual(['libcudart.so.12', 'libcusparse.so.12'])
      expect(elf?.[kind]).toEqual(['$ORIGIN/../../nvidia/cuda_runtime/lib', '$ORIGIN'])
      expect(elf?.[kind === 'rpath' ? 'runpath' : 'rpath']).toEqual([])
    }
  })

  test('the text behind get_arch_list, among other constants, across the pieces in which it is read', async () => {
    const padding = 3 * 2 ** 20
    compile('/python', 'libtorch_python.so', {
      source: `const char padding[${padding}] = {1};\nconst char *flags(void) { return "sm_75 sm_80 sm_90a compute_120"; }\nconst char *other(void) { return "sm_lower"; }\n`,
    })
    expect(await archTexts(createHostFiles(root), '/python/libtorch_python.so')).toEqual(['sm_75 sm_80 sm_90a compute_120'])
  })

  test('a library of which half is gone is told, not guessed', async () => {
    compile('/broken', 'libhalf.so')
    truncateSync(join(root, '/broken/libhalf.so'), 100)
    await expect(readElf(createHostFiles(root), '/broken/libhalf.so')).rejects.toThrow(/not valid ELF: /)
  })

  test('the fake of the cases reads as a real one does', async () => {
    writeFileSync(join(root, 'fake.so'), asciiElf({ needed: ['libcudart.so.12'], runpath: '$ORIGIN', constants: ['sm_90'] }))
    expect(await readElf(createHostFiles(root), '/fake.so')).toEqual({ needed: ['libcudart.so.12'], rpath: [], runpath: ['$ORIGIN'] })
    const shown = execFileSync('readelf', ['-d', join(root, 'fake.so')], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    expect(shown).toContain('[libcudart.so.12]')
  })
})

test('what is no ELF file, not there, a pipe or a device is not read', async () => {
  const files = createHostFiles(root)
  writeFileSync(join(root, 'text.so'), 'GROUP ( libc.so.6 )\n')
  expect(await readElf(files, '/text.so')).toBeUndefined()
  expect(await readElf(files, '/gone.so')).toBeUndefined()
  execFileSync('mkfifo', [join(root, 'pipe.so')])
  await expect(readElf(files, '/pipe.so')).rejects.toThrow('expected a regular file')
  symlinkSync('/etc/hostname', join(root, 'outside.so'))
  // The link leads to /etc/hostname of the root, where there is none.
  expect(await readElf(files, '/outside.so')).toBeUndefined()
})

describe('the search', () => {
  test('goes by RPATH, LD_LIBRARY_PATH, RUNPATH, then the usual folders', async () => {
    const put = (path: string): void => {
      mkdirSync(join(root, path, '..'), { recursive: true })
      writeFileSync(join(root, path), '')
    }
    const env = new Map([['LD_LIBRARY_PATH', '/own:relative']])
    const find = async (elf: { rpath?: readonly string[]; runpath?: readonly string[] }): Promise<string | undefined> =>
      await createLibrarySearch(createHostFiles(root), env).find('libx.so.1', {
        path: '/apps/lib/libasker.so',
        elf: { needed: [], rpath: [], runpath: [], ...elf },
      })
    put('/apps/lib/libasker.so')
    expect(await find({})).toBeUndefined()
    put('/usr/lib64/libx.so.1')
    expect(await find({})).toBe('/usr/lib64/libx.so.1')
    put('/apps/run/libx.so.1')
    expect(await find({ runpath: ['$ORIGIN/../run'] })).toBe('/apps/run/libx.so.1')
    put('/own/libx.so.1')
    expect(await find({ runpath: ['$ORIGIN/../run'] })).toBe('/own/libx.so.1')
    put('/apps/old/libx.so.1')
    expect(await find({ rpath: ['${ORIGIN}/../old/'] })).toBe('/apps/old/libx.so.1')
    // With a RUNPATH the RPATH does not count.
    expect(await find({ rpath: ['$ORIGIN/../old'], runpath: ['$ORIGIN/../run'] })).toBe('/own/libx.so.1')
  })

  test.skipIf(!existsSync('/etc/ld.so.cache') || programPath('ldconfig') === undefined)("this machine's cache says what ldconfig says", () => {
    const cache = parseLoaderCache(readFileSync('/etc/ld.so.cache'))
    const lines = execFileSync('ldconfig', ['-p'], { encoding: 'utf8' }).split('\n')
    const reported = lines.flatMap((line) => /^\s+(\S+) \(.*\) => (\S+)$/.exec(line)?.slice(1) ?? [])
    expect(cache.size).toBeGreaterThan(5)
    const first = new Map<string, string>()
    for (let at = 0; at + 1 < reported.length; at += 2) if (!first.has(reported[at] ?? '')) first.set(reported[at] ?? '', reported[at + 1] ?? '')
    expect(cache).toEqual(first)
  })

  test("finds the C library of this machine's own Node", async () => {
    const files = createHostFiles()
    const found = await createLibrarySearch(files, new Map()).find('libc.so.6')
    expect(found === undefined ? undefined : realpathSync(found)).toMatch(/libc/)
  })

  test('a cache that lies costs nothing', () => {
    expect(parseLoaderCache(Buffer.from('glibc-ld.so.cache1.1')).size).toBe(0)
    const lying = Buffer.alloc(72, 0xff)
    lying.write('glibc-ld.so.cache1.1')
    expect(parseLoaderCache(lying).size).toBe(0)
  })
})
