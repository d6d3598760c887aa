/* MIG: the mode of a GPU and its instances as device handles. */
#include "fake.h"
#include <string.h>

API ret_t nvmlDeviceGetMigMode(void *h, u32 *current, u32 *pending) {
  DEVICE(h);
  ret_t r = give_u32(g, "mig_mode", current);
  *pending = r == OK ? *current : 0;
  return r;
}
API ret_t nvmlDeviceGetMaxMigDeviceCount(void *h, u32 *out) { DEVICE(h); *out = text(&g->table, "mig_mode") ? 7 : 0; return OK; }
/* Slots need not be filled in order: instance n of the scenario lies in slot 2n, the others are empty. */
API ret_t nvmlDeviceGetMigDeviceHandleByIndex(void *h, u32 index, void **out) {
  DEVICE(h);
  if (!number_or(&g->table, "mig_mode", 0)) return NOT_SUPPORTED;
  if (index >= 7) return INVALID_ARGUMENT;
  u32 n = g->migs > 4 ? index : index / 2;
  if (n >= g->migs || (g->migs <= 4 && index % 2)) return NOT_FOUND;
  *out = &g->mig[n];
  return OK;
}
API ret_t nvmlDeviceIsMigDeviceHandle(void *h, u32 *out) { DEVICE(h); *out = m != NULL; return OK; }
API ret_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void *h, void **out) { DEVICE(h); if (!m) return INVALID_ARGUMENT; *out = g; return OK; }
API ret_t nvmlDeviceGetGpuInstanceId(void *h, u32 *out) { DEVICE(h); if (!m) return NOT_SUPPORTED; *out = m->gi; return OK; }
API ret_t nvmlDeviceGetComputeInstanceId(void *h, u32 *out) { DEVICE(h); if (!m) return NOT_SUPPORTED; *out = m->ci; return OK; }
API ret_t nvmlDeviceGetAttributes_v2(void *h, attributes_t *out) {
  DEVICE(h);
  if (!m) return NOT_SUPPORTED;
  memset(out, 0, sizeof *out);
  out->sms = m->sms;
  out->gi_slices = out->ci_slices = m->slices;
  out->memory_mb = m->total >> 20;
  return OK;
}
