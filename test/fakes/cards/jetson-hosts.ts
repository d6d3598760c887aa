// Jetson boards of our own making as the files of their kernel: Orin Nano (JetPack 6), AGX Orin seen by root, TX2 (JetPack 4).
import { below, type Tree } from './tree.ts'

const SYS = '/t/sys'
export const GPU = '17000000.gpu'
export const DEVFREQ = `${SYS}/class/devfreq/${GPU}`

const ina3221 = (
  hwmon: string,
  labels: readonly string[],
  milli: readonly (readonly [volts: number, amperes: number])[],
): Readonly<Record<string, string | Buffer>> =>
  below(`${SYS}/class/hwmon/${hwmon}`, {
    name: 'ina3221',
    ...Object.fromEntries(
      labels.flatMap((label, at) => [
        [`in${at + 1}_label`, label],
        [`in${at + 1}_input`, String(milli[at]?.[0])],
        [`curr${at + 1}_input`, String(milli[at]?.[1])],
        [`curr${at + 1}_max_alarm`, '0'],
        [`curr${at + 1}_crit_alarm`, '0'],
      ]),
    ),
  })
const zone = (number: number, type: string, temp: string): Readonly<Record<string, string | Buffer>> =>
  below(`${SYS}/class/thermal/thermal_zone${number}`, {
    type,
    temp,
    trip_point_0_type: 'passive',
    trip_point_0_temp: '99000',
    trip_point_1_type: 'critical',
    trip_point_1_temp: '104500',
  })

const orin = (load: string): Readonly<Record<string, string | Buffer>> => ({
  ...below(DEVFREQ, {
    cur_freq: '306000000',
    min_freq: '306000000',
    max_freq: '624750000',
    available_frequencies: '306000000 408000000 510000000 612000000 624750000 1020000000',
    governor: 'nvhost_podgov',
    'device/uevent': `DRIVER=gk20a\nOF_NAME=gpu\nOF_FULLNAME=/bus@0/gpu@17000000\nOF_COMPATIBLE_0=nvidia,ga10b`,
    'device/of_node/name': 'gpu\0',
    'device/load': load,
    'device/railgate_enable': '1',
    'device/power/runtime_status': 'active',
  }),
  // The engine for computer vision has a devfreq device too, and is no GPU.
  ...below(`${SYS}/class/devfreq/15380000.nvjpg`, { cur_freq: '1', 'device/of_node/name': 'nvjpg\0' }),
  // The PCIe bridges of the chip are NVIDIA's.
  ...below(`${SYS}/bus/pci/devices/0004:00:00.0`, { vendor: '0x10de', class: '0x060400' }),
  ...below('/t/proc', {
    'device-tree/model': 'NVIDIA Jetson Orin Nano Engineering Reference Developer Kit Super\0',
    'device-tree/compatible': 'nvidia,p3768-0000+p3767-0005-super\0nvidia,tegra234\0',
    'device-tree/serial-number': '1424223001234\0',
    'sys/kernel/osrelease': '5.15.148-tegra',
    meminfo: 'MemTotal:        7802736 kB\nMemFree:          500000 kB\nMemAvailable:    3100000 kB\nSwapFree:  3000000 kB',
  }),
})

/** As a user: nvmap's list is for root only. */
export const orinNano = ({
  load = '437',
  status = 'active',
  gpuTemp = '49031',
}: { readonly load?: string; readonly status?: string; readonly gpuTemp?: string } = {}): Tree => ({
  files: {
    ...orin(load),
    [`${DEVFREQ}/device/power/runtime_status`]: status,
    ...ina3221(
      'hwmon1',
      ['VDD_IN', 'VDD_CPU_GPU_CV', 'VDD_SOC'],
      [
        [4_992, 966],
        [4_984, 104],
        [4_992, 295],
      ],
    ),
    ...below(`${SYS}/class/hwmon/hwmon0`, { name: 'pwmfan', pwm1: '51' }),
    ...zone(0, 'cpu-thermal', '50031'),
    ...zone(1, 'gpu-thermal', gpuTemp),
    ...zone(8, 'tj-thermal', '50250'),
  },
  errors: { [`${SYS}/kernel/debug/nvmap/iovmm/clients`]: 'EACCES', [`${SYS}/kernel/debug/bpmp/debug/clk/emc/rate`]: 'EACCES' },
})

/** As root: who holds memory is known. */
export const agxOrin: Tree = {
  files: {
    ...orin('1000'),
    ...ina3221(
      'hwmon3',
      ['VDD_GPU_SOC', 'VDD_CPU_CV', 'VIN_SYS_5V0'],
      [
        [11_856, 1_520],
        [11_856, 480],
        [5_000, 900],
      ],
    ),
    [`${SYS}/class/hwmon/hwmon3/curr1_crit_alarm`]: '1',
    ...zone(2, 'gpu-thermal', '61500'),
    [`${SYS}/kernel/debug/bpmp/debug/clk/emc/rate`]: '3199000000',
    [`${SYS}/kernel/debug/nvmap/iovmm/clients`]: [
      'CLIENT                        PROCESS      PID        SIZE',
      'user                          python3     4242    1830912K',
      'user                          python3     4242       2048K',
      'user                  gnome-shell (2)     1700      33088K',
      'total                                             1866048K',
    ].join('\n'),
  },
}

/** Linux 4.9: other names for zone and power monitor, and the sum of nvmap in /proc/meminfo. */
export const tx2: Tree = {
  files: {
    ...below(`${SYS}/class/devfreq/17000000.gp10b`, { cur_freq: '114750000', max_freq: '1300500000', 'device/of_node/name': 'gp10b\0', 'device/load': '0' }),
    ...below(`${SYS}/bus/i2c/drivers/ina3221x/0-0040/iio:device0`, {
      rail_name_0: 'VDD_SYS_GPU',
      in_power0_input: '152',
      rail_name_1: 'VDD_SYS_SOC',
      in_power1_input: '610',
    }),
    ...zone(1, 'GPU-therm', '36500'),
    ...below('/t/proc', { meminfo: 'MemTotal:        8046000 kB\nMemAvailable:    5000000 kB\nNvMapMemFree:      90112 kB\nNvMapMemUsed:     812032 kB' }),
    ...below(`${SYS}/firmware/devicetree/base`, { model: 'quill\0', compatible: 'nvidia,p2597-0000+p3310-1000\0nvidia,tegra186\0' }),
  },
}
