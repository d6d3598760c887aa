/* Process lists in the layouts of their versions: 16 bytes (v1), 24 (v2, v3), 32 (v3 of drivers 535.43 to 535.86: `stride3=32`). */
#include "fake.h"
#include <string.h>

static ret_t list(gpu_t *g, const mig_t *m, u32 *count, char *out, u32 stride, char type) {
  u32 found = 0, written = 0, room = *count;
  if (ones(g)) { /* it claims four billion processes, and fills what room there is */
    if (out) memset(out, 0xff, (size_t)stride * room);
    *count = ~0u;
    return OK;
  }
  for (u32 i = 0; i < g->procs; i++) {
    const proc_t *p = &g->proc[i];
    if (p->type == type && (!m || (p->gi == m->gi && p->ci == m->ci))) found++;
  }
  /* `grow=N`: the list has grown at each of the next N calls, whatever room it was given. */
  if (found && g->grown < number_or(&g->table, "grow", 0)) {
    g->grown++;
    *count = (room > found ? room : found) + 1;
    return INSUFFICIENT_SIZE;
  }
  *count = found;
  if (room < found || (found && !out)) return INSUFFICIENT_SIZE;
  for (u32 i = 0; i < g->procs; i++) {
    const proc_t *p = &g->proc[i];
    if (p->type != type || (m && (p->gi != m->gi || p->ci != m->ci))) continue;
    process_detail_t d = { .pid = p->pid, .bytes = p->bytes, .gi = p->gi, .ci = p->ci, .protected_bytes = number_or(&g->table, "protected", 0) };
    memcpy(out + (size_t)stride * written++, &d, stride); /* the shorter layouts are beginnings of the longest */
  }
  return OK;
}
static u32 stride3(const gpu_t *g) { return (u32)number_or(&g->table, "stride3", number_or(&global, "stride3", sizeof(process2_t))); }

#define LISTS(kind, type) \
  API ret_t nvmlDeviceGet##kind##RunningProcesses(void *h, u32 *n, void *out) { DEVICE(h); return list(g, m, n, out, sizeof(process1_t), type); } \
  API ret_t nvmlDeviceGet##kind##RunningProcesses_v2(void *h, u32 *n, void *out) { DEVICE(h); return list(g, m, n, out, sizeof(process2_t), type); } \
  API ret_t nvmlDeviceGet##kind##RunningProcesses_v3(void *h, u32 *n, void *out) { DEVICE(h); return list(g, m, n, out, stride3(g), type); }
LISTS(Compute, 'C')
LISTS(Graphics, 'G')
LISTS(MPSCompute, 'M')

/* Not called by the agent; that they exist or not tells the driver's age. */
API ret_t nvmlDeviceGetConfComputeMemSizeInfo(void *h, u64 *out) { DEVICE(h); (void)out; return NOT_SUPPORTED; }
API ret_t nvmlDeviceGetRunningProcessDetailList(void *h, void *out) { DEVICE(h); (void)out; return NOT_SUPPORTED; }
