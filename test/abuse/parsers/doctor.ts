// Readers of files that the doctor finds on the host and in containers.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllocConf } from '../../../agent/doctor/parts/alloc-conf.ts'
import { parseCdiSpec } from '../../../agent/doctor/parts/cdi.ts'
import { parseEnviron, parseIdentity, parseLimits } from '../../../agent/doctor/container/process.ts'
import { parseOsRelease } from '../../../agent/doctor/parts/distribution.ts'
import { readElf } from '../../../agent/doctor/container/elf.ts'
import { createHostFiles } from '../../../agent/doctor/parts/host-files.ts'
import { parseLoaderCache } from '../../../agent/doctor/container/library-search.ts'
import { installedDriverPackages } from '../../../agent/doctor/parts/linux-driver.ts'
import { parseMounts } from '../../../agent/doctor/parts/mount-table.ts'
import { parseTorchVersion } from '../../../agent/doctor/container/python-packages.ts'
import { olderThan, parseToolkitConfig } from '../../../agent/doctor/parts/toolkit-files.ts'
import { parseWslSettings, wslBytes } from '../../../agent/doctor/parts/wsl-settings.ts'
import { folder, json, parserOf, textParser, YAML_MS } from './parser.ts'

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
const isElfRefusal = (error: Error): boolean => /^\/library\.so: (?:not valid ELF: |expected offsets within the file)/.test(error.message)
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
