// Device memory by cgroup, where the kernel counts it (`dmem` controller: amdgpu and xe, after Linux 6.12): exact, and without a look at processes.
import { isFailure, type Files } from '../files.ts'

export type Dmem = {
  /** Bytes of GPU memory of a card by the root cgroup; undefined: the kernel does not count it. */
  readonly capacity: (slot: string) => number | undefined
  /** Bytes in use by all cgroups below the root: without what the kernel itself and the root's own processes hold. */
  readonly used: (slot: string) => number | undefined
}

const MOST_CGROUPS = 256

/** Sum of the GPU memory regions of a card in lines such as `drm/0000:03:00.0/vram0 8514437120`; `stolen` is host memory. */
export function dmemBytes(text: string, slot: string): number | undefined {
  let sum: number | undefined
  for (const line of text.split('\n', 500)) {
    const match = /^drm\/(\S+)\/vram\d*\s+(\d{1,19})$/.exec(line.trim())
    if (match?.[1]?.toLowerCase() === slot) sum = (sum ?? 0) + Number(match[2])
  }
  return sum
}

export function createDmem(files: Files, sys: string): Dmem {
  const root = `${sys}/fs/cgroup`
  const read = (path: string, slot: string): number | undefined => {
    const text = files.text(path)
    return isFailure(text) ? undefined : dmemBytes(text, slot)
  }
  return {
    capacity: (slot) => read(`${root}/dmem.capacity`, slot),
    used(slot) {
      let sum: number | undefined
      // A cgroup's figure holds those of the cgroups in it. Where the controller is not on at a level the ones below it are asked.
      const walk = (folder: string, depth: number, left: { count: number }): void => {
        for (const name of files.list(folder)) {
          if (name.includes('.') && !/\.(?:slice|scope|service|mount|socket)$/.test(name)) continue
          if (--left.count < 0) return
          const bytes = read(`${folder}/${name}/dmem.current`, slot)
          if (bytes !== undefined) sum = (sum ?? 0) + bytes
          else if (depth > 0) walk(`${folder}/${name}`, depth - 1, left)
        }
      }
      walk(root, 2, { count: MOST_CGROUPS })
      return sum
    },
  }
}
