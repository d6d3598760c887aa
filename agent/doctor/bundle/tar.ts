// Writes a tar archive of small texts (ustar, POSIX.1-1988), compressed: what any tar reads, without a program or a library.
import { gzipSync } from 'node:zlib'

export type TarFile = { readonly name: string; readonly text: string }

const BLOCK = 512
const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, '0')}\0`

function header(name: string, size: number, mtimeS: number): Buffer {
  if (!/^[\x21-\x7e]{1,100}$/.test(name)) throw new Error(`${JSON.stringify(name)}: a name in the archive must be of 1 to 100 printable characters`)
  const block = Buffer.alloc(BLOCK)
  const put = (text: string, at: number): void => void block.write(text, at, 'latin1')
  put(name, 0)
  put(octal(0o644, 8), 100)
  put(octal(0, 8), 108) // the user and group nobody: the archive does not say whose machine it was
  put(octal(0, 8), 116)
  put(octal(size, 12), 124)
  put(octal(mtimeS, 12), 136)
  put('        ', 148) // the sum counts its own field as blanks
  put('0', 156)
  put('ustar\u000000', 257)
  let sum = 0
  for (const byte of block) sum += byte
  put(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

export function tarGz(files: readonly TarFile[], mtimeMs: number): Buffer {
  const blocks: Buffer[] = []
  for (const { name, text } of files) {
    const body = Buffer.from(text, 'utf8')
    blocks.push(header(name, body.length, Math.floor(mtimeMs / 1_000)), body, Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK))
  }
  blocks.push(Buffer.alloc(2 * BLOCK))
  return gzipSync(Buffer.concat(blocks))
}
