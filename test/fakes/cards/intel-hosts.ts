// Intel hosts of our own making beyond the usual card: GPUs on the chip of the CPU, Arc cards with both drivers, and a card with two tiles.
import { below, type Tree } from './tree.ts'

const GIB = 1024 ** 3
const SYS = '/t/sys'
export const INTEL_AT = (card: number): string => `${SYS}/class/drm/card${card}`
const uevent = (driver: string, id: string, slot: string): string => `DRIVER=${driver}\nPCI_CLASS=30000\nPCI_ID=${id}\nPCI_SLOT_NAME=${slot}`
const throttling = (folder: string, prefix: string, on: readonly string[]): Readonly<Record<string, string | Buffer>> =>
  below(
    folder,
    Object.fromEntries(
      ['status', 'pl1', 'pl2', 'pl4', 'thermal', 'prochot', 'ratl', 'vr_tdc'].map((reason) => [`${prefix}${reason}`, on.includes(reason) ? '1' : '0']),
    ),
  )

/** Meteor Lake: i915, no memory and no power of its own, a second GT for media, memory of clients under numbered names. */
export const meteorLake = (mediaIdleMs: number, renderIdleMs: number): Tree => ({
  files: {
    ...below(INTEL_AT(0), {
      'device/uevent': uevent('i915', '8086:7D55', '0000:00:02.0'),
      'device/power/runtime_status': 'active',
      'gt/gt0/rps_act_freq_mhz': '1450',
      'gt/gt0/rps_RP0_freq_mhz': '2350',
      'gt/gt0/rc6_residency_ms': String(renderIdleMs),
      'gt/gt1/rps_act_freq_mhz': '700',
      'gt/gt1/rps_RP0_freq_mhz': '1300',
      'gt/gt1/rc6_residency_ms': String(mediaIdleMs),
      ...throttling('gt/gt0', 'throttle_reason_', []),
    }),
    ...below('/t/proc', { meminfo: 'MemTotal:       32000000 kB\nMemAvailable:   20000000 kB' }),
    ...below('/t/proc/61', {
      cmdline: 'ollama',
      'fdinfo/7':
        'drm-driver:\ti915\ndrm-client-id:\t4\ndrm-pdev:\t0000:00:02.0\ndrm-total-system0:\t4000000 KiB\ndrm-resident-system0:\t3835792 KiB\ndrm-resident-stolen-system0:\t8 MiB\ndrm-engine-render:\t0 ns',
    }),
  },
  links: { '/t/proc/61/fd/7': '/dev/dri/renderD128' },
})

/** Arc A770 with mainline i915 of Linux 6.8: energy and a limit, no temperature, no size of the memory. */
export const arcI915 = (energy: number): Tree => ({
  files: {
    ...below(INTEL_AT(1), {
      'device/uevent': uevent('i915', '8086:56A0', '0000:03:00.0'),
      'device/power/runtime_status': 'active',
      'device/hwmon/hwmon3/name': 'i915',
      'device/hwmon/hwmon3/energy1_input': String(energy),
      'device/hwmon/hwmon3/power1_max': '190000000',
      'device/hwmon/hwmon3/power1_rated_max': '225000000',
      'device/hwmon/hwmon3/in0_input': '812',
      'gt/gt0/rps_act_freq_mhz': '2400',
      'gt/gt0/rps_RP0_freq_mhz': '2400',
      'gt/gt0/rc6_residency_ms': '100',
      ...throttling('gt/gt0', 'throttle_reason_', ['status', 'pl1']),
    }),
    ...below('/t/proc/70', {
      cmdline: 'python3',
      'fdinfo/3':
        'drm-driver:\ti915\ndrm-client-id:\t2\ndrm-pdev:\t0000:03:00.0\ndrm-total-system0:\t64 MiB\ndrm-resident-system0:\t64 MiB\ndrm-total-local0:\t9 GiB\ndrm-resident-local0:\t9437184 KiB\ndrm-resident-stolen-local0:\t0',
    }),
  },
  links: { '/t/proc/70/fd/3': '/dev/dri/renderD129' },
})

/** Arc with xe, without a cgroup controller for its memory; asleep where `status` says so. */
export const arcXe = (status: string): Tree => ({
  files: {
    ...below(INTEL_AT(0), {
      'device/uevent': uevent('xe', '8086:E20B', '0000:04:00.0'),
      'device/power/runtime_status': status,
      'device/tile0/physical_vram_size_bytes': String(12 * GIB),
      'device/tile0/gt0/gtidle/name': 'gt0-rc',
      'device/tile0/gt0/gtidle/idle_status': 'gt-c6',
      'device/tile0/gt0/gtidle/idle_residency_ms': '500',
      'device/tile0/gt0/freq0/act_freq': '0',
      'device/tile0/gt0/freq0/rp0_freq': '2850',
      ...throttling('device/tile0/gt0/freq0/throttle', 'reason_', []),
      'device/hwmon/hwmon5/name': 'xe',
      'device/hwmon/hwmon5/energy1_input': '777000000',
      'device/hwmon/hwmon5/energy1_label': 'card',
      'device/hwmon/hwmon5/temp2_input': '39000',
      'device/hwmon/hwmon5/temp2_label': 'pkg',
      'device/hwmon/hwmon5/temp3_input': '41000',
      'device/hwmon/hwmon5/temp3_label': 'vram',
      'device/hwmon/hwmon5/fan1_input': '0',
    }),
    [`${SYS}/class/drm/renderD128/device/uevent`]: uevent('xe', '8086:E20B', '0000:04:00.0'),
    [`${SYS}/class/drm/renderD128/device/power/runtime_status`]: status,
    ...below('/t/proc/88', {
      cmdline: 'python3',
      'fdinfo/3': 'drm-driver:\txe\ndrm-client-id:\t5\ndrm-pdev:\t0000:04:00.0\ndrm-resident-vram0:\t3 GiB\ndrm-cycles-ccs:\t10\ndrm-total-cycles-ccs:\t100',
    }),
  },
  links: { '/t/proc/88/fd/3': '/dev/dri/renderD128' },
})

/** Data Center GPU Max with Intel's own i915: two tiles that both compute, and the size of the memory in files of that driver. */
export const dataCenterMax = (idle: readonly [number, number]): Tree => ({
  files: below(INTEL_AT(2), {
    'device/uevent': uevent('i915', '8086:0BD5', '0000:29:00.0'),
    'device/power/runtime_status': 'active',
    lmem_total_bytes: String(128 * GIB),
    lmem_avail_bytes: String(96 * GIB),
    'gt/gt0/rps_act_freq_mhz': '1600',
    'gt/gt0/rps_RP0_freq_mhz': '1600',
    'gt/gt0/rc6_residency_ms': String(idle[0]),
    'gt/gt1/rps_act_freq_mhz': '1600',
    'gt/gt1/rps_RP0_freq_mhz': '1600',
    'gt/gt1/rc6_residency_ms': String(idle[1]),
    'device/hwmon/hwmon9/name': 'i915',
    'device/hwmon/hwmon9/energy1_input': '900000000',
    'device/hwmon/hwmon9/power1_max': '600000000',
    'device/hwmon/hwmon10/name': 'i915_gt0',
    'device/hwmon/hwmon10/energy1_input': '400000000',
  }),
})
