/* Plain readings of a GPU: one scenario key each, in NVML's own units (mW, MHz, percent, mJ). */
#include "fake.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define U32(fn, key) API ret_t fn(void *h, u32 *out) { DEVICE(h); return give_u32(g, key, out); }
#define U64(fn, key) API ret_t fn(void *h, u64 *out) { DEVICE(h); return give_u64(g, key, out); }
/* With MIG on the driver does not report utilisation. */
#define NO_MIG if (m || number_or(&g->table, "mig_mode", 0)) return NOT_SUPPORTED

U32(nvmlDeviceGetMinorNumber, "minor")
U32(nvmlDeviceGetBrand, "brand")
U32(nvmlDeviceGetArchitecture, "arch")
U32(nvmlDeviceGetNumFans, "fans")
U32(nvmlDeviceGetFanSpeed, "fan")
U32(nvmlDeviceGetPowerUsage, "power")
U32(nvmlDeviceGetEnforcedPowerLimit, "limit")
U32(nvmlDeviceGetPowerManagementLimit, "limit_set")
U32(nvmlDeviceGetPowerManagementDefaultLimit, "limit_default")
U64(nvmlDeviceGetTotalEnergyConsumption, "energy")
U32(nvmlDeviceGetPerformanceState, "pstate")
U64(nvmlDeviceGetCurrentClocksEventReasons, "reasons")
U64(nvmlDeviceGetCurrentClocksThrottleReasons, "reasons")
U64(nvmlDeviceGetSupportedClocksEventReasons, "reasons_supported")
U32(nvmlDeviceGetCurrPcieLinkGeneration, "pcie_gen")
U32(nvmlDeviceGetMaxPcieLinkGeneration, "pcie_gen_max")
U32(nvmlDeviceGetCurrPcieLinkWidth, "pcie_width")
U32(nvmlDeviceGetMaxPcieLinkWidth, "pcie_width_max")
U32(nvmlDeviceGetPcieReplayCounter, "pcie_replay")
U32(nvmlDeviceGetRetiredPagesPendingStatus, "retired_pending")
U32(nvmlDeviceGetPersistenceMode, "persistence")
U32(nvmlDeviceGetComputeMode, "compute_mode")

API ret_t nvmlDeviceGetCudaComputeCapability(void *h, int *major, int *minor) {
  DEVICE(h);
  ret_t r = give_u32(g, "cc_major", (u32 *)major);
  return r == OK ? give_u32(g, "cc_minor", (u32 *)minor) : r;
}
API ret_t nvmlDeviceGetMemoryInfo(void *h, memory_t *out) {
  DEVICE(h);
  u64 total = m ? m->total : number_or(&g->table, "mem_total", 0), used = m ? m->used : number_or(&g->table, "mem_used", 0);
  u64 reserved = m ? m->reserved : number_or(&g->table, "mem_reserved", 0);
  if (!total) return NOT_SUPPORTED;
  if (ones(g)) { memset(out, 0xff, sizeof *out); return OK; }
  *out = (memory_t){ total, total - used - reserved, used + reserved }; /* v1: used includes reserved */
  return OK;
}
API ret_t nvmlDeviceGetMemoryInfo_v2(void *h, memory2_t *out) {
  DEVICE(h);
  if (out->version != 0x02000028) return VERSION_MISMATCH;
  u64 total = m ? m->total : number_or(&g->table, "mem_total", 0), used = m ? m->used : number_or(&g->table, "mem_used", 0);
  u64 reserved = m ? m->reserved : number_or(&g->table, "mem_reserved", 0);
  if (!total) return NOT_SUPPORTED;
  if (ones(g)) { out->total = out->reserved = out->free = out->used = ~0ULL; return OK; }
  *out = (memory2_t){ out->version, total, reserved, total - used - reserved, used };
  return OK;
}
API ret_t nvmlDeviceGetBAR1MemoryInfo(void *h, bar1_t *out) {
  DEVICE(h);
  u64 total = number_or(&g->table, "bar1_total", 0), used = number_or(&g->table, "bar1_used", 0);
  if (!total) return NOT_SUPPORTED;
  if (ones(g)) { memset(out, 0xff, sizeof *out); return OK; }
  if (m) total = total / 8 * m->slices, used = used / 8 * m->slices; /* an instance has its slices' share */
  *out = (bar1_t){ total, total - used, used };
  return OK;
}
API ret_t nvmlDeviceGetUtilizationRates(void *h, utilization_t *out) {
  DEVICE(h); NO_MIG;
  ret_t r = give_u32(g, "util", &out->gpu);
  return r == OK ? give_u32(g, "util_mem", &out->memory) : r;
}
#define ENGINE(fn, key) API ret_t fn(void *h, u32 *out, u32 *period) { DEVICE(h); NO_MIG; *period = 167000; return give_u32(g, key, out); }
ENGINE(nvmlDeviceGetEncoderUtilization, "enc")
ENGINE(nvmlDeviceGetDecoderUtilization, "dec")
ENGINE(nvmlDeviceGetJpgUtilization, "jpg")
ENGINE(nvmlDeviceGetOfaUtilization, "ofa")
API ret_t nvmlDeviceGetTemperature(void *h, u32 sensor, u32 *out) {
  DEVICE(h);
  return sensor ? INVALID_ARGUMENT : give_u32(g, "temp", out);
}
API ret_t nvmlDeviceGetTemperatureV(void *h, temperature_t *out) {
  DEVICE(h);
  if (out->version != 0x0100000c) return VERSION_MISMATCH;
  return out->sensor ? INVALID_ARGUMENT : give_u32(g, "temp", (u32 *)&out->celsius);
}
API ret_t nvmlDeviceGetTemperatureThreshold(void *h, u32 type, u32 *out) {
  static const char *const key[] = { "temp_shutdown", "temp_slowdown", "temp_memory_max" };
  DEVICE(h);
  return type > 2 ? INVALID_ARGUMENT : give_u32(g, key[type], out);
}
API ret_t nvmlDeviceGetFanSpeed_v2(void *h, u32 fan, u32 *out) {
  DEVICE(h);
  if (fan >= number_or(&g->table, "fans", 0)) return INVALID_ARGUMENT;
  return give_u32(g, "fan", out);
}
API ret_t nvmlDeviceGetPowerManagementLimitConstraints(void *h, u32 *min, u32 *max) {
  DEVICE(h);
  ret_t r = give_u32(g, "limit_min", min);
  return r == OK ? give_u32(g, "limit_max", max) : r;
}
static const char *const domain[] = { "graphics", "sm", "mem", "video" };
static ret_t clock_of(const gpu_t *g, const char *prefix, u32 type, u32 *out) {
  char key[40];
  if (type > 3) return INVALID_ARGUMENT;
  snprintf(key, sizeof key, "%s_%s", prefix, domain[type]);
  return give_u32(g, key, out);
}
API ret_t nvmlDeviceGetClockInfo(void *h, u32 type, u32 *out) { DEVICE(h); return clock_of(g, "clock", type, out); }
API ret_t nvmlDeviceGetMaxClockInfo(void *h, u32 type, u32 *out) { DEVICE(h); return clock_of(g, "clock_max", type, out); }
API ret_t nvmlDeviceGetPcieThroughput(void *h, u32 counter, u32 *out) {
  DEVICE(h);
  usleep(20000); /* as the real one: it measures for 20 ms */
  return give_u32(g, counter ? "pcie_rx_kb" : "pcie_tx_kb", out);
}
API ret_t nvmlDeviceGetEccMode(void *h, u32 *current, u32 *pending) {
  DEVICE(h);
  ret_t r = give_u32(g, "ecc_mode", current);
  return r == OK ? give_u32(g, "ecc_mode", pending) : r;
}
API ret_t nvmlDeviceGetTotalEccErrors(void *h, u32 type, u32 counter, u64 *out) {
  DEVICE(h);
  if (type > 1 || counter > 1) return INVALID_ARGUMENT;
  static const char *const key[2][2] = { { "ecc_corrected_volatile", "ecc_corrected_aggregate" }, { "ecc_uncorrected_volatile", "ecc_uncorrected_aggregate" } };
  return give_u64(g, key[type][counter], out);
}
API ret_t nvmlDeviceGetRetiredPages_v2(void *h, u32 cause, u32 *count, u64 *addresses, u64 *times) {
  DEVICE(h);
  u32 n;
  ret_t r = give_u32(g, cause ? "retired_dbe" : "retired_sbe", &n);
  if (r != OK) return r;
  u32 room = *count;
  *count = n;
  if (ones(g)) return OK; /* four billion pages, and none of them written */
  if (room < n || (n && !addresses)) return INSUFFICIENT_SIZE;
  for (u32 i = 0; i < n && addresses; i++) { addresses[i] = 0x1000 * i; if (times) times[i] = i; }
  return OK;
}
API ret_t nvmlDeviceGetRemappedRows(void *h, u32 *corrected, u32 *uncorrected, u32 *pending, u32 *failed) {
  DEVICE(h);
  ret_t r = give_u32(g, "remap_corrected", corrected);
  if (r == OK) r = give_u32(g, "remap_uncorrected", uncorrected);
  if (r == OK) r = give_u32(g, "remap_pending", pending);
  return r == OK ? give_u32(g, "remap_failure", failed) : r;
}
API ret_t nvmlDeviceGetRowRemapperHistogram(void *h, histogram_t *out) {
  DEVICE(h);
  const char *s = text(&g->table, "remap_histogram");
  if (!s) return NOT_SUPPORTED;
  if (ones(g)) { memset(out, 0xff, sizeof *out); return OK; }
  return sscanf(s, "%u,%u,%u,%u,%u", &out->max, &out->high, &out->partial, &out->low, &out->none) == 5 ? OK : 999;
}
API ret_t nvmlDeviceGetNvLinkState(void *h, u32 link, u32 *out) {
  DEVICE(h);
  u64 links;
  if (!number(&g->table, "nvlinks", &links)) return NOT_SUPPORTED;
  if (link >= links) return INVALID_ARGUMENT;
  if (ones(g)) { *out = ~0u; return OK; }
  *out = !((number_or(&g->table, "nvlinks_down", 0) >> link) & 1);
  return OK;
}
