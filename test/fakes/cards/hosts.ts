// Small hosts of our own: an AMD card, an AMD APU and an Intel card, each as the files of its kernel.
import { below, type Tree } from './tree.ts'

const GIB = 1024 ** 3
export const ROOTS = { sys: '/t/sys', proc: '/t/proc' }

/** `gpu_metrics` of a revision: all bits set, then the given figures. */
export function metricsTable(
  revision: string,
  size: number,
  figures: readonly (readonly [offset: number, width: 1 | 2 | 4 | 8, value: number | bigint])[],
): Buffer {
  const table = Buffer.alloc(size, 0xff)
  const [format = '', content = ''] = revision.split('.')
  table.writeUInt16LE(size, 0)
  table.writeUInt8(Number(format), 2)
  table.writeUInt8(Number(content), 3)
  for (const [offset, width, value] of figures) {
    if (width === 8) table.writeBigUInt64LE(BigInt(value), offset)
    else table.writeUIntLE(Number(value), offset, width)
  }
  return table
}

const uevent = (driver: string, id: string, slot: string): string => `DRIVER=${driver}\nPCI_CLASS=30000\nPCI_ID=${id}\nPCI_SLOT_NAME=${slot}`

export const AMD = '/t/sys/class/drm/card1/device'
export const amdCard: Tree = {
  files: {
    ...below(AMD, {
      uevent: uevent('amdgpu', '1002:73BF', '0000:2d:00.0'),
      unique_id: '00a1b2c3d4e5f607',
      product_name: 'Radeon of the test',
      vbios_version: '113-TEST-1',
      gpu_busy_percent: '64',
      mem_busy_percent: '31',
      vcn_busy_percent: '7',
      mem_info_vram_total: String(16 * GIB),
      mem_info_vram_used: String(11 * GIB),
      mem_info_vis_vram_total: String(GIB / 4),
      mem_info_vis_vram_used: String(GIB / 8),
      mem_info_gtt_total: String(30 * GIB),
      mem_info_gtt_used: String(GIB / 2),
      mem_info_vram_vendor: 'hynix',
      pp_dpm_sclk: '0: 500Mhz\n1: 2100Mhz *\n2: 2575Mhz',
      pp_dpm_mclk: 'S: 0Mhz\n0: 96Mhz\n1: 1000Mhz *',
      pcie_replay_count: '3',
      'power/runtime_status': 'active',
      'ras/umc_err_count': 'ue: 1\nce: 12\nde: 2',
      'ras/gfx_err_count': 'ue: 0\nce: 4',
      'ras/gpu_vram_bad_pages': '0x0000002f : 0x00001000 : R\n0x00000031 : 0x00001000 : P',
      gpu_metrics: metricsTable('1.3', 120, [
        [4, 2, 61],
        [16, 2, 64],
        [74, 2, 16],
        [76, 2, 160],
        [112, 8, (1n << 36n) | 1n],
      ]),
      'hwmon/hwmon3/name': 'amdgpu',
      'hwmon/hwmon3/temp1_input': '61000',
      'hwmon/hwmon3/temp1_label': 'edge',
      'hwmon/hwmon3/temp2_input': '74000',
      'hwmon/hwmon3/temp2_label': 'junction',
      'hwmon/hwmon3/temp2_crit': '110000',
      'hwmon/hwmon3/temp2_emergency': '115000',
      'hwmon/hwmon3/temp3_input': '80000',
      'hwmon/hwmon3/temp3_label': 'mem',
      'hwmon/hwmon3/temp3_crit': '-273150',
      'hwmon/hwmon3/power1_average': '203000000',
      'hwmon/hwmon3/power1_cap': '255000000',
      'hwmon/hwmon3/pwm1': '51',
      'hwmon/hwmon3/pwm1_max': '255',
      'hwmon/hwmon3/fan1_input': '1200',
      'hwmon/hwmon3/freq1_input': '2100000000',
      'hwmon/hwmon3/freq2_input': '1000000000',
    }),
    ...below('/t/sys/class/kfd/kfd', {
      'topology/nodes/0/properties': 'cpu_cores_count 16\nsimd_count 0\nunique_id 0',
      'topology/nodes/1/properties':
        'simd_count 160\ngfx_target_version 100300\nlocation_id 11520\ndomain 0\ndrm_render_minor 128\nunique_id 45500000000000007',
      'topology/nodes/1/gpu_id': '777',
      'proc/900/vram_777': String(9 * GIB),
    }),
    ...below('/t/proc/900', {
      cmdline: 'python3',
      'fdinfo/5': `drm-driver:\tamdgpu\ndrm-client-id:\t44\ndrm-pdev:\t0000:2d:00.0\ndrm-total-vram:\t${9 * 1024} MiB\ndrm-resident-vram:\t9216 MiB\namd-evicted-vram:\t512 MiB\ndrm-engine-gfx:\t1000 ns`,
    }),
  },
  links: { '/t/proc/900/fd/5': '/dev/dri/renderD128', '/t/proc/900/fd/6': '/dev/null' },
}

export const XE = '/t/sys/class/drm/card0/device'
const gt = `${XE}/tile0/gt0`
export const xeCard = ({
  idleMs = 1_000,
  cycles = 0,
  energy = 5_000_000,
}: { readonly idleMs?: number; readonly cycles?: number; readonly energy?: number } = {}): Tree => ({
  files: {
    ...below(XE, {
      uevent: uevent('xe', '8086:E212', '0000:03:00.0'),
      vendor: '0x8086',
      'hwmon/hwmon1/name': 'xe',
      'hwmon/hwmon1/energy1_input': '0',
      'hwmon/hwmon1/energy1_label': 'card',
      'hwmon/hwmon1/energy2_input': String(energy),
      'hwmon/hwmon1/energy2_label': 'pkg',
      'hwmon/hwmon1/temp2_input': '58000',
      'hwmon/hwmon1/temp2_label': 'pkg',
      'hwmon/hwmon1/temp3_input': '66000',
      'hwmon/hwmon1/temp3_label': 'vram',
      'hwmon/hwmon1/power1_max': '190000000',
      'hwmon/hwmon1/fan1_input': '900',
      'hwmon/hwmon1/fan2_input': '0',
    }),
    ...below(gt, {
      'gtidle/name': 'gt0-rc',
      'gtidle/idle_status': 'gt-c0',
      'gtidle/idle_residency_ms': String(idleMs),
      'freq0/act_freq': '2400',
      'freq0/rp0_freq': '2850',
      'freq0/throttle/status': '1',
      'freq0/throttle/reason_pl1': '1',
      'freq0/throttle/reason_pl2': '0',
      'freq0/throttle/reason_thermal': '0',
    }),
    ...below('/t/sys/fs/cgroup', {
      'dmem.capacity': `drm/0000:03:00.0/vram0 ${12 * GIB}\ndrm/0000:03:00.0/stolen 1000`,
      'system.slice/dmem.current': `drm/0000:03:00.0/vram0 ${3 * GIB}\ndrm/0000:03:00.0/stolen 0`,
      'user.slice/cgroup.procs': '7',
      'user.slice/user-1000.slice/dmem.current': `drm/0000:03:00.0/vram0 ${GIB}`,
    }),
    ...below('/t/proc/77', {
      'fdinfo/3': `drm-driver:\txe\ndrm-client-id:\t9\ndrm-pdev:\t0000:03:00.0\ndrm-total-vram0:\t2 GiB\ndrm-resident-vram0:\t2 GiB\ndrm-resident-gtt:\t16 MiB\ndrm-cycles-ccs:\t${cycles}\ndrm-total-cycles-ccs:\t${1_000 + idleMs * 10}`,
    }),
  },
})
