/* A program, not part of the library: prints `NAME SIZE field=offset …` of every struct, for the layout test. */
#include "fake.h"
#include <stdio.h>
#define S(name, t) printf("\n%s %zu", name, sizeof(t))
#define F(t, field, name) printf(" %s=%zu", name, offsetof(t, field))
int main(void) {
  S("nvmlMemory_t", memory_t); F(memory_t, total, "total"); F(memory_t, free, "free"); F(memory_t, used, "used");
  S("nvmlMemory_v2_t", memory2_t); F(memory2_t, version, "version"); F(memory2_t, total, "total"); F(memory2_t, reserved, "reserved"); F(memory2_t, free, "free"); F(memory2_t, used, "used");
  S("nvmlBAR1Memory_t", bar1_t); F(bar1_t, total, "bar1Total"); F(bar1_t, free, "bar1Free"); F(bar1_t, used, "bar1Used");
  S("nvmlUtilization_t", utilization_t); F(utilization_t, gpu, "gpu"); F(utilization_t, memory, "memory");
  S("nvmlPciInfo_t", pci_t); F(pci_t, legacy, "busIdLegacy"); F(pci_t, domain, "domain"); F(pci_t, device_id, "pciDeviceId"); F(pci_t, bus_id, "busId");
  S("nvmlTemperature_v1_t", temperature_t); F(temperature_t, version, "version"); F(temperature_t, sensor, "sensorType"); F(temperature_t, celsius, "temperature");
  S("nvmlFieldValue_t", field_t); F(field_t, id, "fieldId"); F(field_t, scope, "scopeId"); F(field_t, timestamp, "timestamp"); F(field_t, latency, "latencyUsec"); F(field_t, type, "valueType"); F(field_t, ret, "nvmlReturn"); F(field_t, value, "value");
  S("nvmlEventData_t", event_t); F(event_t, device, "device"); F(event_t, type, "eventType"); F(event_t, data, "eventData"); F(event_t, gi, "gpuInstanceId"); F(event_t, ci, "computeInstanceId");
  S("nvmlProcessInfo_v1_t", process1_t); F(process1_t, pid, "pid"); F(process1_t, bytes, "usedGpuMemory");
  S("nvmlProcessInfo_t", process2_t); F(process2_t, pid, "pid"); F(process2_t, bytes, "usedGpuMemory"); F(process2_t, gi, "gpuInstanceId"); F(process2_t, ci, "computeInstanceId");
  S("nvmlProcessDetail_v1_t", process_detail_t); F(process_detail_t, pid, "pid"); F(process_detail_t, bytes, "usedGpuMemory"); F(process_detail_t, gi, "gpuInstanceId"); F(process_detail_t, ci, "computeInstanceId"); F(process_detail_t, protected_bytes, "usedGpuCcProtectedMemory");
  S("nvmlProcessUtilizationSample_t", process_sample_t); F(process_sample_t, pid, "pid"); F(process_sample_t, time, "timeStamp"); F(process_sample_t, sm, "smUtil");
  S("nvmlProcessUtilizationInfo_v1_t", process_sample1_t); F(process_sample1_t, time, "timeStamp"); F(process_sample1_t, pid, "pid"); F(process_sample1_t, sm, "smUtil");
  S("nvmlProcessesUtilizationInfo_v1_t", processes_samples_t); F(processes_samples_t, version, "version"); F(processes_samples_t, count, "processSamplesCount"); F(processes_samples_t, last_seen, "lastSeenTimeStamp"); F(processes_samples_t, array, "procUtilArray");
  S("nvmlAccountingStats_t", accounting_t); F(accounting_t, gpu, "gpuUtilization"); F(accounting_t, max_memory, "maxMemoryUsage"); F(accounting_t, time, "time"); F(accounting_t, start, "startTime"); F(accounting_t, running, "isRunning");
  S("nvmlDeviceAttributes_t", attributes_t); F(attributes_t, sms, "multiprocessorCount"); F(attributes_t, gi_slices, "gpuInstanceSliceCount"); F(attributes_t, ci_slices, "computeInstanceSliceCount"); F(attributes_t, memory_mb, "memorySizeMB");
  S("nvmlRowRemapperHistogramValues_t", histogram_t); F(histogram_t, max, "max"); F(histogram_t, high, "high"); F(histogram_t, partial, "partial"); F(histogram_t, low, "low"); F(histogram_t, none, "none");
  S("nvmlGpmSupport_t", gpm_support_t); F(gpm_support_t, version, "version"); F(gpm_support_t, supported, "isSupportedDevice");
  S("nvmlGpmMetric_t", gpm_metric_t); F(gpm_metric_t, id, "metricId"); F(gpm_metric_t, ret, "nvmlReturn"); F(gpm_metric_t, value, "value");
  /* The whole struct's size grows with the header; only where the metrics begin is fixed. */
  S("nvmlGpmMetricsGet_t", gpm_get_t); F(gpm_get_t, version, "version"); F(gpm_get_t, count, "numMetrics"); F(gpm_get_t, sample1, "sample1"); F(gpm_get_t, sample2, "sample2"); F(gpm_get_t, metrics, "metrics");
  printf("\n");
  return 0;
}
