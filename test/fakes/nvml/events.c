/* Events: `xid=SEQUENCE,NUMBER[,GI,CI]` of a GPU is delivered once to each set that the GPU is registered with. */
#include "fake.h"
#include <stdlib.h>
#include <time.h>

typedef struct { u32 registered; u64 delivered; } set_t;

API ret_t nvmlEventSetCreate(void **out) {
  SYSTEM;
  set_t *set = calloc(1, sizeof *set);
  set->delivered = number_or(&global, "xids_before", 0);
  *out = set;
  return OK;
}
API ret_t nvmlEventSetFree(void *set) { SYSTEM; free(set); return OK; }
API ret_t nvmlDeviceGetSupportedEventTypes(void *h, u64 *out) { DEVICE(h); return m ? NOT_SUPPORTED : give_u64(g, "events", out); }
API ret_t nvmlDeviceRegisterEvents(void *h, u64 types, void *set) {
  DEVICE(h);
  if (m || types & ~number_or(&g->table, "events", 0)) return NOT_SUPPORTED;
  ((set_t *)set)->registered |= 1u << g->index;
  return OK;
}
API ret_t nvmlEventSetWait_v2(void *handle, event_t *out, u32 timeout_ms) {
  SYSTEM;
  set_t *set = handle;
  const xid_t *next = NULL;
  for (u32 i = 0; i < xid_count; i++)
    if (xids[i].sequence > set->delivered && (set->registered >> xids[i].gpu) & 1 && (!next || xids[i].sequence < next->sequence)) next = &xids[i];
  if (!next) {
    if (timeout_ms) nanosleep(&(struct timespec){ timeout_ms / 1000, (timeout_ms % 1000) * 1000000L }, NULL);
    return TIMEOUT;
  }
  set->delivered = next->sequence;
  *out = (event_t){ &gpus[next->gpu], 8, next->xid, next->gi, next->ci };
  return OK;
}
