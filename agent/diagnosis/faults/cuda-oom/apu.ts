// What is special to AMD GPUs inside a processor: what they call their memory is a limit of the driver, by default half of host memory.
// k7.3 drivers/gpu/drm/ttm/ttm_device.c (pages_limit), amd/amdgpu/amdgpu_ttm.c (apu_prefer_gtt).
import type { Facts } from '../../../model/facts.ts'
import { gibAsPrinted as gib } from '../../../text/bytes.ts'
import type { Situation } from '../../situation/situation.ts'
import type { Piece } from '../remedies/plan.ts'

const STEP = 4 * 2 ** 30
/** Half of the 128 GiB of the largest: a larger share was raised already. */
const HALF_OF_LARGEST = 64 * 2 ** 30
/** What the driver keeps for itself of a card's memory. */
const KEPT = 2 ** 30 / 8

/** Cards have a multiple of 4 GiB, less some MiB (23.98, 63.98); half of host memory is any number. */
const isOddSize = (bytes: number): boolean => {
  const above = bytes % STEP
  return above !== 0 && STEP - above > KEPT
}

/** What the firmware set aside, as the kernel says it at its start. */
const SET_ASIDE = /\bVRAM: (\d{4,7})M 0x|\b(\d{4,7})M of VRAM memory ready/
function setAside(total: number, text: string): string {
  const [, one, two] = SET_ASIDE.exec(text) ?? []
  const bytes = Number(one ?? two ?? 0) * 2 ** 20
  return bytes > 2 * total
    ? ` The firmware sets ${gib(bytes)} aside as VRAM, which PyTorch does not count here: set aside little in the BIOS (UMA frame buffer), so that host memory, and with it this limit, grows.`
    : ''
}

export const raiseShare = ({ total_bytes: total }: Facts, { vendor, system, text }: Situation): Piece =>
  vendor === 'amd' &&
  total !== undefined &&
  total <= HALF_OF_LARGEST &&
  isOddSize(total) &&
  (total < STEP
    ? { text: `If this GPU is part of the processor: its ${gib(total)} is what the firmware sets aside for it. Set aside more in the BIOS (UMA frame buffer).` }
    : {
        text: `If this GPU is part of the processor (Ryzen AI, Strix Halo): its ${gib(total)} are a limit of the driver, mostly half of host memory. Raise it to three quarters of host memory and reboot.${setAside(total, text)}`,
        ...(system !== 'windows' && system !== 'wsl'
          ? {
              command:
                'echo "options ttm pages_limit=$(( $(awk \'/^MemTotal/ {print $2}\' /proc/meminfo) * 3 / 16 ))" | sudo tee /etc/modprobe.d/ttm.conf && sudo update-initramfs -u',
            }
          : {}),
      })
