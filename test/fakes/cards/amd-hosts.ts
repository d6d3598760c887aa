// AMD hosts of our own making beyond the usual card, each as the files of its kernel: Instinct cards, a Radeon, and an APU that shares the host's memory.
import { metricsTable } from './hosts.ts'
import { below, type Tree } from './tree.ts'

const GIB = 1024 ** 3
const SYS = '/t/sys'
export const AMD_AT = (card: number): string => `${SYS}/class/drm/card${card}/device`
const uevent = (id: string, slot: string, classOf = '30000'): string => `DRIVER=amdgpu\nPCI_CLASS=${classOf}\nPCI_ID=${id}\nPCI_SLOT_NAME=${slot}`
const node = (gfx: number, location: number, unique: string, more = ''): string =>
  `cpu_cores_count 0\nsimd_count 304\ngfx_target_version ${gfx}\nlocation_id ${location}\ndomain 0\nunique_id ${unique}\n${more}`

/** MI300X in eight partitions: no edge sensor, power as the present figure only, revision 1.6 of the table, a process whose descriptors do not name the card. */
export const mi300x: Tree = {
  files: {
    ...below(AMD_AT(1), {
      uevent: uevent('1002:74A1', '0000:0C:00.0', '120000'),
      unique_id: 'ad2ba38d1f4c5e60',
      product_name: 'AMD Instinct MI300X OAM',
      serial_number: '692300001',
      gpu_busy_percent: '97',
      mem_busy_percent: '41',
      mem_info_vram_total: String(192 * GIB),
      mem_info_vram_used: String(150 * GIB),
      mem_info_vis_vram_total: String(192 * GIB),
      mem_info_vis_vram_used: String(150 * GIB),
      mem_info_gtt_total: String(1_007 * GIB),
      mem_info_gtt_used: String(3 * GIB),
      current_compute_partition: 'CPX',
      current_memory_partition: 'NPS4',
      pp_dpm_sclk: 'S: 132Mhz *\n0: 500Mhz\n1: 2100Mhz',
      pp_dpm_mclk: '0: 900Mhz\n1: 1300Mhz *',
      'power/runtime_status': 'unsupported',
      gpu_metrics: metricsTable('1.6', 1664, [
        [4, 2, 63],
        [6, 2, 51],
        [10, 2, 744],
        [12, 2, 97],
        [14, 2, 41],
        [16, 8, 65_536n * 1_234_567n],
        [36, 4, 0],
        [40, 4, 5],
        [44, 4, 0],
        [48, 4, 0],
        [52, 4, 0],
        [60, 2, 16],
        [62, 2, 320],
        [104, 8, 9n],
        [264, 2, 2_094],
        [304, 2, 1_300],
      ]),
      'hwmon/hwmon7/name': 'amdgpu',
      'hwmon/hwmon7/temp2_input': '63000',
      'hwmon/hwmon7/temp2_label': 'junction',
      'hwmon/hwmon7/temp2_crit': '100000',
      'hwmon/hwmon7/temp3_input': '51000',
      'hwmon/hwmon7/temp3_label': 'mem',
      'hwmon/hwmon7/power1_input': '744000000',
      'hwmon/hwmon7/power1_label': 'PPT',
      'hwmon/hwmon7/power1_cap': '750000000',
      'hwmon/hwmon7/power1_cap_default': '750000000',
      'hwmon/hwmon7/power1_cap_min': '0',
      'hwmon/hwmon7/power1_cap_max': '750000000',
      'hwmon/hwmon7/freq1_input': '2094000000',
      'ras/umc_err_count': 'ue: 0\nce: 0\nde: 0',
      'ras/gfx_err_count': 'ue: 0\nce: 3',
      'ras/gpu_vram_bad_pages': '',
    }),
    // A render node of a partition: a device of its own, which is no card.
    [`${SYS}/class/drm/card2/device/uevent`]: 'DRIVER=amdgpu_xcp_drv\nMODALIAS=platform:amdgpu_xcp',
    ...below(`${SYS}/class/kfd/kfd/topology/nodes`, {
      '0/properties': 'cpu_cores_count 96\nsimd_count 0\nunique_id 0',
      ...Object.fromEntries(
        Array.from({ length: 8 }, (_, at) => [
          [`${at + 2}/properties`, node(90_402, 0x0c00 + at, '12478218345172057696')],
          [`${at + 2}/gpu_id`, String(5_000 + at)],
        ]).flat(),
      ),
    }),
    ...below(`${SYS}/class/kfd/kfd/proc/4100`, { vram_5000: String(100 * GIB), vram_5003: String(40 * GIB), vram_5004: '0' }),
    ...below('/t/proc/4100', { cmdline: 'python3', 'fdinfo/9': 'drm-driver:\tamdgpu\ndrm-client-id:\t12\npasid:\t32770\ndrm-memory-vram:\t0 KiB' }),
  },
  links: { '/t/proc/4100/fd/9': '/dev/dri/renderD130' },
}

/** One module of MI250: two dies, each a card. The second die tells neither power nor limits nor energy, and says 0 for them. */
const die = (card: number, slot: string, first: boolean): Readonly<Record<string, string | Buffer>> =>
  below(AMD_AT(card), {
    uevent: uevent('1002:740C', slot, '38000'),
    unique_id: first ? '9c2b00000000000a' : '9c2b00000000000b',
    gpu_busy_percent: first ? '88' : '12',
    mem_busy_percent: '20',
    mem_info_vram_total: String(64 * GIB),
    mem_info_vram_used: String((first ? 60 : 1) * GIB),
    mem_info_gtt_total: String(252 * GIB),
    mem_info_gtt_used: '14000000',
    mem_info_vram_vendor: 'unknown',
    gpu_metrics: metricsTable('1.3', 120, [
      [4, 2, 55],
      [6, 2, 61],
      [8, 2, 58],
      [16, 2, first ? 88 : 12],
      [18, 2, 20],
      [22, 2, first ? 412 : 0],
      [24, 8, first ? 65_536n * 2_000n : 0n],
      [74, 2, 16],
      [76, 2, 160],
      [112, 8, 0n],
    ]),
    'power/runtime_status': 'active',
    'hwmon/hwmon2/name': 'amdgpu',
    'hwmon/hwmon2/temp1_input': '55000',
    'hwmon/hwmon2/temp1_label': 'edge',
    'hwmon/hwmon2/temp2_input': '61000',
    'hwmon/hwmon2/temp2_label': 'junction',
    'hwmon/hwmon2/temp3_input': '58000',
    'hwmon/hwmon2/temp3_label': 'mem',
    'hwmon/hwmon2/power1_average': first ? '412000000' : '0',
    'hwmon/hwmon2/power1_cap': first ? '560000000' : '0',
    'hwmon/hwmon2/power1_cap_max': first ? '560000000' : '0',
  })
export const mi250: Tree = {
  files: {
    ...die(1, '0000:31:00.0', true),
    ...die(2, '0000:34:00.0', false),
    ...below(`${SYS}/class/kfd/kfd/topology/nodes`, {
      '1/properties': node(90_010, 0x3100, '11252000000000000010'),
      '1/gpu_id': '61',
      '2/properties': node(90_010, 0x3400, '11252000000000000011'),
      '2/gpu_id': '62',
    }),
  },
}

/** Radeon RX 7900 XTX with its fans at rest: 0 turns are a figure here. */
export const rx7900: Tree = {
  files: below(AMD_AT(0), {
    uevent: uevent('1002:744C', '0000:03:00.0'),
    unique_id: '5f00dcba98765432',
    gpu_busy_percent: '0',
    mem_busy_percent: '0',
    vcn_busy_percent: '0',
    mem_info_vram_total: String(24 * GIB - 16 * 1024 ** 2),
    mem_info_vram_used: '27000832',
    mem_info_gtt_total: String(31 * GIB),
    mem_info_gtt_used: '14938112',
    mem_info_vram_vendor: 'samsung',
    pp_dpm_sclk: '0: 500Mhz *\n1: 2482Mhz',
    'power/runtime_status': 'active',
    'hwmon/hwmon0/name': 'amdgpu',
    'hwmon/hwmon0/temp1_input': '38000',
    'hwmon/hwmon0/temp1_label': 'edge',
    'hwmon/hwmon0/temp2_input': '44000',
    'hwmon/hwmon0/temp2_label': 'junction',
    'hwmon/hwmon0/temp3_input': '60000',
    'hwmon/hwmon0/temp3_label': 'mem',
    'hwmon/hwmon0/power1_average': '17000000',
    'hwmon/hwmon0/power1_cap': '339000000',
    'hwmon/hwmon0/pwm1': '0',
    'hwmon/hwmon0/pwm1_max': '255',
    'hwmon/hwmon0/fan1_input': '0',
    'hwmon/hwmon0/freq1_input': '28000000',
    'hwmon/hwmon0/freq2_input': '96000000',
  }),
}

/** Strix Halo: 128 GiB of which the BIOS gave 512 MiB to the GPU; programs get GTT. Table of revision 3.0. */
export const strixHalo: Tree = {
  files: {
    ...below(AMD_AT(1), {
      uevent: uevent('1002:1586', '0000:C5:00.0', '38000'),
      gpu_busy_percent: '73',
      mem_info_vram_total: String(GIB / 2),
      mem_info_vram_used: String(GIB / 4),
      mem_info_vis_vram_total: String(GIB / 2),
      mem_info_vis_vram_used: String(GIB / 4),
      mem_info_gtt_total: String(120 * GIB),
      mem_info_gtt_used: String(70 * GIB),
      'power/runtime_status': 'active',
      gpu_metrics: metricsTable('3.0', 264, [
        [4, 2, 6_150],
        [42, 2, 73],
        [112, 4, 88_400],
        [174, 2, 2_680],
        [186, 2, 1_000],
        ...[228, 232, 236, 240, 244, 248, 252].map((at) => [at, 4, 0] as const),
      ]),
      'hwmon/hwmon4/name': 'amdgpu',
      'hwmon/hwmon4/in0_label': 'vddgfx',
      'hwmon/hwmon4/in1_label': 'vddnb',
      'hwmon/hwmon4/temp1_input': '61000',
      'hwmon/hwmon4/temp1_label': 'edge',
      'hwmon/hwmon4/power1_input': '88400000',
      'hwmon/hwmon4/power1_label': 'PPT',
      'hwmon/hwmon4/freq1_input': '2680000000',
    }),
    ...below('/t/proc', { meminfo: 'MemTotal:       131072000 kB\nMemAvailable:    52428800 kB' }),
    ...below('/t/proc/77', {
      cmdline: 'llama-server',
      'fdinfo/4':
        'drm-driver:\tamdgpu\ndrm-client-id:\t8\ndrm-pdev:\t0000:c5:00.0\ndrm-resident-vram:\t131072 KiB\ndrm-resident-gtt:\t69 GiB\ndrm-engine-compute:\t55 ns',
    }),
  },
  links: { '/t/proc/77/fd/4': '/dev/dri/renderD128' },
}
