// WSL told from Linux by facts, and the order in which libraries and commands are tried.
import { describe, expect, test } from 'vitest'
import { detectWsl, nvidiaSmiCommands, nvmlLibraries, wslHint } from '../../../agent/lib/wsl.ts'
import type { WslFacts } from '../../../agent/lib/wsl.ts'

const bare: WslFacts = { osRelease: '6.8.0-31-generic', hasDxg: false, hasWslNvml: false, hasWslNvidiaSmi: false }

test.each<[string, Partial<WslFacts>, { version: number; nvidia: boolean }]>([
  ['an ordinary kernel', {}, { version: 0, nvidia: false }],
  ['WSL2 with the driver', { osRelease: '5.15.153.1-microsoft-standard-WSL2\n', hasDxg: true, hasWslNvml: true }, { version: 2, nvidia: true }],
  ['WSL2 without', { osRelease: '6.6.36.3-microsoft-standard-WSL2', hasDxg: true }, { version: 2, nvidia: false }],
  ['a container in WSL2 without GPU', { osRelease: '6.6.36.3-microsoft-standard-WSL2' }, { version: 2, nvidia: false }],
  ['WSL1', { osRelease: '4.4.0-19041-Microsoft' }, { version: 1, nvidia: false }],
  ["a kernel of one's own", { osRelease: '6.9.0-mine', hasDxg: true, hasWslNvidiaSmi: true }, { version: 2, nvidia: true }],
  ['an Azure machine with a para-virtual GPU', { hasDxg: true }, { version: 0, nvidia: false }],
  ['no /proc', { osRelease: undefined }, { version: 0, nvidia: false }],
])('%s', (_, facts, wsl) => expect(detectWsl({ ...bare, ...facts })).toEqual(wsl))

test('a hint under WSL only', () => {
  expect(wslHint({ version: 0, nvidia: false })).toBeUndefined()
  expect(wslHint({ version: 1, nvidia: false })).toMatch(/WSL2 is needed/)
  expect(wslHint({ version: 2, nvidia: true })).toMatch(/memory per process, Xid events and ECC/)
  expect(wslHint({ version: 2, nvidia: false })).toMatch(/driver in Windows/)
})

describe('what is tried, in order', () => {
  const linux = { wsl: { version: 0, nvidia: false }, exists: () => false } as const
  const wsl2 = {
    wsl: { version: 2, nvidia: true },
    exists: (path: string) => path === '/usr/bin/nvidia-smi' || path === '/usr/lib64/libnvidia-ml.so.1',
  } as const

  test('a configured path alone', () => {
    expect(nvmlLibraries('/opt/x/libnvidia-ml.so.1', wsl2)).toEqual(['/opt/x/libnvidia-ml.so.1'])
    expect(nvidiaSmiCommands('/opt/x/nvidia-smi', wsl2)).toEqual(['/opt/x/nvidia-smi'])
  })
  test('on Linux the linker and PATH first', () => {
    expect(nvmlLibraries('', linux)).toEqual(['libnvidia-ml.so.1'])
    expect(nvidiaSmiCommands('nvidia-smi', linux)).toEqual(['nvidia-smi'])
  })
  test("under WSL2 Windows' own first", () => {
    expect(nvmlLibraries('', wsl2)).toEqual(['/usr/lib/wsl/lib/libnvidia-ml.so.1', 'libnvidia-ml.so.1', '/usr/lib64/libnvidia-ml.so.1'])
    expect(nvidiaSmiCommands('', wsl2)).toEqual(['/usr/lib/wsl/lib/nvidia-smi', 'nvidia-smi', '/usr/bin/nvidia-smi'])
  })
})
