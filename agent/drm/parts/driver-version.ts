// The version of a kernel driver: its own where it was installed beside the kernel (DKMS), else the kernel's.
import type { Card } from '../card.ts'
import { isFailure } from '../files.ts'

export function driverVersion({ files, roots, driver }: Pick<Card, 'files' | 'roots' | 'driver'>): string {
  const own = files.text(`${roots.sys}/module/${driver}/version`)
  if (!isFailure(own) && own !== '') return `${driver} ${own}`
  const kernel = files.text(`${roots.proc}/sys/kernel/osrelease`)
  return isFailure(kernel) ? driver : `${driver} (Linux ${kernel})`
}
