// GPUs held back by heat or power; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['thermal_or_power']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'nvidia-smi -q',
    text: 'GPU 00000000:65:00.0\n    Clocks Event Reasons\n        Idle                              : Not Active\n        SW Power Cap                      : Not Active\n        HW Slowdown                       : Active\n            HW Thermal Slowdown           : Active\n            HW Power Brake Slowdown       : Not Active',
    kinds: one,
    facts: { pci_bus_id: '0000:65:00.0', active_reasons: ['HW Slowdown', 'HW Thermal Slowdown'] },
  },
  {
    name: 'XML',
    text: '<clocks_event_reasons>\n  <clocks_event_reason_gpu_idle>Not Active</clocks_event_reason_gpu_idle>\n  <clocks_event_reason_hw_power_brake_slowdown>Active</clocks_event_reason_hw_power_brake_slowdown>\n</clocks_event_reasons>',
    kinds: one,
    facts: { active_reasons: ['HW Power Brake Slowdown'] },
  },
  {
    name: 'CSV',
    text: 'index, clocks_event_reasons.hw_thermal_slowdown, clocks_event_reasons.sw_power_cap\n0, Not Active, Active\n3, Active, Not Active',
    kinds: one,
    facts: { gpu_index: 3, active_reasons: ['HW Thermal Slowdown'] },
  },
  {
    name: 'CSV with the mask',
    text: 'index, clocks_throttle_reasons.active\n2, 0x0000000000000048',
    kinds: one,
    facts: { gpu_index: 2, active_reasons: ['HW Slowdown', 'HW Thermal Slowdown'] },
  },
  { name: 'the diagnostic', text: '| Warning                   | GPU 2 Thermal violations totaling 4.1 seconds  |', kinds: one, facts: { gpu_index: 2 } },
  { name: 'a monitor', text: 'WARN gpu-monitor: GPU 1 thermal throttling detected at 94C', kinds: one, facts: { gpu_index: 1 } },
  { name: 'no power cable', text: 'NVRM: GPU 0000:01:00.0: PCI Express power connector is not connected', kinds: one },
  {
    name: 'quiet: nothing active',
    text: '    Clocks Throttle Reasons\n        SW Power Cap                      : Not Active\n        HW Slowdown                       : Not Active\n        SW Thermal Slowdown               : Not Active',
    kinds: [],
  },
  {
    name: 'quiet: a busy GPU at its power limit in a whole report',
    text: 'Product Name : NVIDIA L4\n    Clocks Event Reasons\n        SW Power Cap                      : Active\n        HW Slowdown                       : Not Active\n    FB Memory Usage\n        Total                             : 23034 MiB',
    kinds: [],
  },
  { name: 'quiet: the CPU', text: 'mce: CPU3: Core temperature above threshold, cpu clock throttled (total events = 12)', kinds: [] },
  { name: 'in the notation of a monitor', text: '{"gpu":0,"throttle":{"hw_slowdown":false,"hw_thermal_slowdown":true}}', kinds: one },
  { name: 'quiet: the same, well', text: 'gpu=0 hw_slowdown=0 hw_thermal_slowdown=0 sw_power_cap=1', kinds: [] },
  {
    name: 'quiet: a field explained',
    text: 'HW Power Brake Slowdown: an external power brake is triggered, for instance by the power supply of the machine',
    kinds: [],
  },
  {
    name: 'amdgpu at its limit',
    text: '[ 9001.100000] amdgpu 0000:63:00.0: amdgpu: ERROR: GPU over temperature range(SW CTF) detected!',
    kinds: ['thermal_or_power'],
    facts: { pci_bus_id: '0000:63:00.0' },
  },
  {
    name: 'the health check of DCGM',
    text: "[[Health]] Detected a WARNING in health system Thermal: 'Detected clocks event due to thermal violation in GPU 5. Verify the cooling.'",
    kinds: one,
    facts: { gpu_index: 5 },
  },
]
