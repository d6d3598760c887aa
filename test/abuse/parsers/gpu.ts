// Readers of what tools of the driver print: nvidia-smi in all its forms, and messages of the sampler child.
import { parseInFlightCall } from '../../../agent/sampler/protocol.ts'
import { checkMessage } from '../../../agent/sampler/validate.ts'
import { readMonitor } from '../../../agent/sources/nvidia-smi/monitor.ts'
import { parseNvidiaSmi } from '../../../agent/sources/nvidia-smi/parse.ts'
import { json, sharedSeeds, textParser } from './parser.ts'

const UUID = 'GPU-11111111-2222-3333-4444-555555555555'
const XML = `<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
 <timestamp>Mon Feb  3 04:05:06 2031</timestamp><driver_version>550.90.07</driver_version><cuda_version>12.4</cuda_version><attached_gpus>1</attached_gpus>
 <gpu id="00000000:41:00.0"><product_name>NVIDIA L40S</product_name><uuid>${UUID}</uuid><minor_number>0</minor_number><vbios_version>95.02</vbios_version>
  <pci><pci_bus_id>00000000:41:00.0</pci_bus_id><pci_gpu_link_info><pcie_gen><max_link_gen>4</max_link_gen><current_link_gen>4</current_link_gen></pcie_gen></pci_gpu_link_info></pci>
  <fb_memory_usage><total>46068 MiB</total><reserved>523 MiB</reserved><used>1024 MiB</used><free>44520 MiB</free></fb_memory_usage>
  <utilization><gpu_util>7 %</gpu_util><memory_util>[N/A]</memory_util></utilization>
  <ecc_errors><volatile><sram_correctable>0</sram_correctable><dram_uncorrectable>0</dram_uncorrectable></volatile></ecc_errors>
  <temperature><gpu_temp>41 C</gpu_temp></temperature><gpu_power_readings><power_draw>80.12 W</power_draw></gpu_power_readings>
  <processes><process_info><pid>4242</pid><type>C</type><process_name>python &amp; co</process_name><used_memory>900 MiB</used_memory></process_info></processes>
 </gpu></nvidia_smi_log>`
const CSV = `index, uuid, name, memory.used [MiB], memory.total [MiB], utilization.gpu [%], temperature.gpu, power.draw [W]\n0, ${UUID}, NVIDIA L40S, 1024 MiB, 46068 MiB, 7 %, 41, 80.12 W\n1, GPU-2, NVIDIA L40S, [N/A], 46068 MiB, [Unknown Error], 41, [Not Supported]`
const TEXT = `==============NVSMI LOG==============\n\nTimestamp                                 : Mon Feb  3 04:05:06 2031\nDriver Version                            : 550.90.07\nCUDA Version                              : 12.4\n\nAttached GPUs                             : 1\nGPU 00000000:41:00.0\n    Product Name                          : NVIDIA L40S\n    GPU UUID                              : ${UUID}\n    FB Memory Usage\n        Total                             : 46068 MiB\n        Used                              : 1024 MiB\n    Processes\n        Process ID                        : 4242\n            Type                          : C\n            Used GPU Memory               : 900 MiB`
const TABLE = `+-----------------------------------------------------------------------------------------+\n| NVIDIA-SMI 550.90.07              Driver Version: 550.90.07      CUDA Version: 12.4     |\n|-----------------------------------------+------------------------+----------------------+\n|   0  NVIDIA L40S                    On  |   00000000:41:00.0 Off |                    0 |\n| N/A   41C    P0             80W /  350W |    1024MiB /  46068MiB |      7%      Default |\n+-----------------------------------------+------------------------+----------------------+\n|    0   N/A  N/A      4242      C   python                                        900MiB |`
const LIST = `GPU 0: NVIDIA L40S (UUID: ${UUID})\n  MIG 1g.10gb     Device  0: (UUID: MIG-1)`
const MONITOR = `# gpu    sm   mem   enc   dec   jpg   ofa\n# Idx     %     %     %     %     %     %\n    0     7     1     0     0     0     0\n    1     -     -     -     -     -     -`

export const nvidiaSmi = textParser(
  'nvidia-smi',
  'any output of nvidia-smi',
  [
    XML,
    CSV,
    TEXT,
    TABLE,
    LIST,
    'Failed to initialize NVML: Unknown Error',
    'Unable to determine the device handle for GPU0000:41:00.0: Unknown Error',
    ...sharedSeeds('fixtures/nvidia-smi/datakit__gtx-1card.xml', 'fixtures/nvidia-smi/bugreport__gtx1650ti-maxq-525.85.05-q.txt'),
  ],
  (text) => void parseNvidiaSmi(text),
  { inputs: 100_000 },
)
export const nvidiaSmiMonitor = textParser('nvidia-smi-dmon', 'the table of nvidia-smi dmon', [MONITOR], (text) => void readMonitor(text), { inputs: 300_000 })
export const lastWords = textParser(
  'sampler-last-words',
  "the sampler child's thread name",
  ['nvml:3:17', 'nvml:-:2\n'],
  (text) => void parseInFlightCall(text),
  {
    mostBytes: 64,
  },
)
export const samplerMessages = textParser(
  'sampler-messages',
  'messages of the sampler child, which shares its memory with the driver',
  [
    json({
      type: 'hello',
      driverVersion: '550.90',
      library: 'libnvidia-ml.so.1',
      gpus: [{ index: 0, uuid: UUID, name: 'L40S', pciBusId: '00000000:41:00.0' }],
      lost: [],
    }),
    json({ type: 'series', series: [[1, 'warpwatch_gpu_memory_used_bytes', { gpu: '0', uuid: UUID }]] }),
    json({
      type: 'gpu',
      id: 1,
      index: 0,
      t: 1763600000000,
      duration_ms: 3,
      ids: [1, 2],
      values: [1, 2.5],
      gaps: [{ metric: 'x', labels: {}, reason: 'timeout' }],
    }),
    json({ type: 'done', id: 2 }),
    json({ type: 'failed', reason: 'timeout', detail: 'x', code: 3 }),
  ],
  (text) => void checkMessage(asJson(text)),
)

/** Arrives as a structure, not as text: what is no JSON is sent as the text itself. */
function asJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
