/* Samples of processes by both calls, and the accounting mode. Both need a GPU without MIG that reports its utilisation. */
#include "fake.h"
#include <string.h>
#include <time.h>

#define NO_MIG u64 util_; if (m || number_or(&g->table, "mig_mode", 0) || !number(&g->table, "util", &util_)) return NOT_SUPPORTED

static process_sample_t all[MAX_SAMPLE + MAX_PROC];
/*
 * The samples newer than `since`. A driver goes on sampling while whoever writes the scenario is late: `sample_every=MS` gives each process that still holds the GPU its last
 * figure again when its newest sample is older than that.
 */
static u32 newer(const gpu_t *g, u64 since) {
  u32 n = 0;
  for (u32 i = 0; i < g->samples; i++) if (g->sample[i].time > since) all[n++] = g->sample[i];
  u64 every = number_or(&g->table, "sample_every", 0) * 1000;
  if (!every) return n;
  struct timespec clock;
  clock_gettime(CLOCK_REALTIME, &clock);
  u64 now = (u64)clock.tv_sec * 1000000 + (u64)clock.tv_nsec / 1000;
  for (u32 p = 0; p < g->procs; p++) {
    const process_sample_t *last = NULL;
    for (u32 i = 0; i < g->samples; i++) if (g->sample[i].pid == g->proc[p].pid && (!last || g->sample[i].time > last->time)) last = &g->sample[i];
    if (last && last->time + every < now) { all[n] = *last; all[n++].time = now; }
  }
  return n;
}
API ret_t nvmlDeviceGetProcessUtilization(void *h, process_sample_t *out, u32 *count, u64 since) {
  DEVICE(h); NO_MIG;
  u32 room = *count, found = newer(g, since);
  if (ones(g)) { if (out) memset(out, 0xff, (size_t)room * sizeof *out); *count = ~0u; return OK; }
  *count = found;
  if (!found) return NOT_FOUND;
  if (!out || room < found) return INSUFFICIENT_SIZE;
  memcpy(out, all, found * sizeof *out);
  return OK;
}
API ret_t nvmlDeviceGetProcessesUtilizationInfo(void *h, processes_samples_t *info) {
  DEVICE(h); NO_MIG;
  if (info->version != 0x01000018) return VERSION_MISMATCH;
  process_sample1_t *out = info->array;
  u32 room = info->count, found = newer(g, info->last_seen);
  if (ones(g)) { if (out) memset(out, 0xff, (size_t)room * sizeof *out); info->count = ~0u; return OK; }
  info->count = found;
  if (!found) return NOT_FOUND;
  if (!out || room < found) return INSUFFICIENT_SIZE;
  for (u32 i = 0; i < found; i++) out[i] = (process_sample1_t){ .time = all[i].time, .pid = all[i].pid, .sm = all[i].sm };
  return OK;
}

API ret_t nvmlDeviceGetAccountingMode(void *h, u32 *out) { DEVICE(h); NO_MIG; return give_u32(g, "accounting", out); }
API ret_t nvmlDeviceGetAccountingPids(void *h, u32 *count, u32 *out) {
  DEVICE(h); NO_MIG;
  u32 room = *count;
  if (ones(g)) { *count = ~0u; return OK; }
  *count = g->accounts;
  if (room < g->accounts || (g->accounts && !out)) return INSUFFICIENT_SIZE;
  for (u32 i = 0; i < g->accounts; i++) out[i] = g->account[i].pid;
  return OK;
}
API ret_t nvmlDeviceGetAccountingStats(void *h, u32 pid, accounting_t *out) {
  DEVICE(h); NO_MIG;
  if (ones(g)) { memset(out, 0xff, sizeof *out); return OK; }
  for (u32 i = 0; i < g->accounts; i++) if (g->account[i].pid == pid) { *out = g->account[i].stats; return OK; }
  return NOT_FOUND;
}
