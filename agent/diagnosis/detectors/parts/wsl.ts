// Whether the host is a WSL guest: there the driver belongs to Windows, and some of its figures mean nothing (shared reference wsl2.md).
import { hostInfo } from '../../../metrics/host.ts'
import type { Present } from './present.ts'

export const WSL_METRIC = hostInfo.name

export const underWsl = (present: Present): boolean => present.of(WSL_METRIC).some(({ series }) => (series.labels['wsl'] ?? '') !== '')
