// Prints a made-up host as `nvidia-smi -q -x` of four generations of drivers does: the elements that are read, and a few that are not.
import type { FakeGpu, FakeHost, Generation } from './host.ts'

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

export function printXml({ driver, cuda, gpus }: FakeHost, generation: Generation = 'v12', attached = gpus.length): string {
  const head = [
    '<?xml version="1.0" ?>',
    `<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_${generation}.dtd">`,
    '<nvidia_smi_log>',
    '\t<timestamp>Mon Jan  5 10:00:00 2026</timestamp>',
    `\t<driver_version>${driver}</driver_version>`,
    `\t<cuda_version>${cuda}</cuda_version>`,
    `\t<attached_gpus>${attached}</attached_gpus>`,
  ]
  return `${[...head, ...gpus.map((gpu) => printGpu(gpu, generation)), '</nvidia_smi_log>'].join('\n')}\n`
}

function printGpu(gpu: FakeGpu, generation: Generation): string {
  const old = generation === 'v10' || generation === 'v11'
  const value = (number: number | string | null, unit = ''): string => gpu.all ?? (number === null ? 'N/A' : `${number}${unit}`)
  const watts = (centiwatts: number | null): string => value(centiwatts === null ? null : (centiwatts / 100).toFixed(2), ' W')
  const active = (is: boolean): string => gpu.all ?? (is ? 'Active' : 'Not Active')
  const reasons = old ? 'clocks_throttle_reason' : 'clocks_event_reason'
  const power = old
    ? `<power_readings><power_state>P0</power_state><power_draw>${watts(gpu.powerCentiwatts)}</power_draw><power_limit>${watts(gpu.limitCentiwatts)}</power_limit><enforced_power_limit>${watts(gpu.limitCentiwatts)}</enforced_power_limit></power_readings>`
    : `<gpu_power_readings>${
        generation === 'v13'
          ? `<average_power_draw>${watts(gpu.powerCentiwatts)}</average_power_draw><instant_power_draw>${watts(null)}</instant_power_draw>`
          : `<power_draw>${watts(gpu.powerCentiwatts)}</power_draw>`
      }<current_power_limit>${watts(gpu.limitCentiwatts)}</current_power_limit></gpu_power_readings>`
  const counts = (scope: string): string =>
    generation === 'v10'
      ? `<${scope}><single_bit><device_memory>0</device_memory><total>${value(gpu.sramCorrected + gpu.dramCorrected)}</total></single_bit><double_bit><total>${value(gpu.uncorrected)}</total></double_bit></${scope}>`
      : `<${scope}><sram_correctable>${value(gpu.sramCorrected)}</sram_correctable>${
          generation === 'v13'
            ? `<sram_uncorrectable_parity>${value(0)}</sram_uncorrectable_parity><sram_uncorrectable_secded>${value(gpu.uncorrected)}</sram_uncorrectable_secded>`
            : `<sram_uncorrectable>${value(gpu.uncorrected)}</sram_uncorrectable>`
        }<dram_correctable>${value(gpu.dramCorrected)}</dram_correctable><dram_uncorrectable>${value(0)}</dram_uncorrectable></${scope}>`
  const clocks = (tag: string): string =>
    `<${tag}><graphics_clock>${value(gpu.clocksMhz.graphics, ' MHz')}</graphics_clock><sm_clock>${value(gpu.clocksMhz.sm, ' MHz')}</sm_clock><mem_clock>${value(gpu.clocksMhz.memory, ' MHz')}</mem_clock><video_clock>${value(gpu.clocksMhz.video, ' MHz')}</video_clock></${tag}>`
  const migs =
    gpu.migs.length === 0
      ? '<mig_devices>\n\t\t\tNone\n\t\t</mig_devices>'
      : `<mig_devices>${gpu.migs
          .map(
            (mig, index) =>
              `<mig_device><index>${index}</index><gpu_instance_id>${mig.gi}</gpu_instance_id><compute_instance_id>${mig.ci}</compute_instance_id><fb_memory_usage><total>${mig.totalMib} MiB</total><used>${mig.usedMib} MiB</used><free>${mig.totalMib - mig.usedMib} MiB</free></fb_memory_usage></mig_device>`,
          )
          .join('')}</mig_devices>`
  const processes = gpu.processes.map(
    (process) => `
\t\t\t<process_info>
\t\t\t\t<gpu_instance_id>${process.gi ?? 'N/A'}</gpu_instance_id>
\t\t\t\t<compute_instance_id>${process.ci ?? 'N/A'}</compute_instance_id>
\t\t\t\t<pid>${process.pid}</pid>
\t\t\t\t<type>${process.type}</type>
\t\t\t\t<process_name>${escape(process.name)}</process_name>
\t\t\t\t<used_memory>${process.usedMib === null ? 'N/A' : `${process.usedMib} MiB`}</used_memory>
\t\t\t</process_info>`,
  )
  return `	<gpu id="${gpu.busId}">
		<product_name>${escape(gpu.name)}</product_name>
		${migs}
		<serial>N/A</serial>
		<uuid>${gpu.uuid}</uuid>
		<minor_number>0</minor_number>
		<vbios_version>90.00.00.00.01</vbios_version>
		<pci><pci_gpu_link_info><pcie_gen><max_link_gen>${value(5)}</max_link_gen><current_link_gen>${value(gpu.generation)}</current_link_gen></pcie_gen><link_widths><max_link_width>${value(16, 'x')}</max_link_width><current_link_width>${value(gpu.width, 'x')}</current_link_width></link_widths></pci_gpu_link_info><replay_counter>${value(0)}</replay_counter><tx_util>${value(7, ' KB/s')}</tx_util><rx_util>${value(9, ' KB/s')}</rx_util></pci>
		<fan_speed>${value(gpu.fan, ' %')}</fan_speed>
		<performance_state>${value(gpu.state === null ? null : `P${gpu.state}`)}</performance_state>
		<${reasons}s><${reasons}_gpu_idle>${active(false)}</${reasons}_gpu_idle><${reasons}_hw_thermal_slowdown>${active(gpu.hwThermal)}</${reasons}_hw_thermal_slowdown></${reasons}s>
		${generation === 'v13' ? `<clocks_event_reasons_counters><clocks_event_reasons_counters_sw_power_cap>${value(gpu.swPowerCapUs, ' us')}</clocks_event_reasons_counters_sw_power_cap></clocks_event_reasons_counters>` : ''}
		<fb_memory_usage>
			<total>${value(gpu.totalMib, ' MiB')}</total>
			${generation === 'v10' ? '' : `<reserved>${value(gpu.reservedMib, ' MiB')}</reserved>`}
			<used>${value(gpu.usedMib, ' MiB')}</used>
			<free>${value(gpu.totalMib - gpu.reservedMib - gpu.usedMib, ' MiB')}</free>
		</fb_memory_usage>
		<utilization><gpu_util>${value(gpu.utilization, ' %')}</gpu_util><memory_util>${value(gpu.memoryUtilization, ' %')}</memory_util><encoder_util>${value(0, ' %')}</encoder_util><decoder_util>${value(null)}</decoder_util></utilization>
		<ecc_errors>${counts('volatile')}${counts('aggregate')}</ecc_errors>
		<remapped_rows>${gpu.all ?? 'N/A'}</remapped_rows>
		<temperature><gpu_temp>${value(gpu.temperature, ' C')}</gpu_temp><memory_temp>${value(gpu.memoryTemperature, ' C')}</memory_temp></temperature>
		${power}
		${clocks('clocks')}
		${clocks('max_clocks')}
		<supported_clocks><supported_mem_clock><value>1215 MHz</value><supported_graphics_clock>1410 MHz</supported_graphics_clock></supported_mem_clock></supported_clocks>
		<processes>${processes.join('')}
		</processes>
		<accounted_processes>
		</accounted_processes>
	</gpu>
`
}
