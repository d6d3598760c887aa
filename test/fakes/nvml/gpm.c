/* GPM: `gpm=1` supports it, `gpm.5=37.5` is metric 5 between any two samples; `gpm.5.GI=…` that of a GPU instance. */
#include "fake.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { u32 gpu, gi; int filled; } sample_t;

API ret_t nvmlGpmQueryDeviceSupport(void *h, gpm_support_t *out) {
  DEVICE(h);
  if (out->version != 1) return VERSION_MISMATCH;
  out->supported = (u32)number_or(&g->table, "gpm", 0);
  return OK;
}
API ret_t nvmlGpmSampleAlloc(void **out) { SYSTEM; *out = calloc(1, sizeof(sample_t)); return OK; }
API ret_t nvmlGpmSampleFree(void *sample) { SYSTEM; free(sample); return OK; }
static ret_t take(const gpu_t *g, u32 gi, sample_t *s) {
  if (!number_or(&g->table, "gpm", 0)) return NOT_SUPPORTED;
  *s = (sample_t){ g->index, gi, 1 };
  return OK;
}
API ret_t nvmlGpmSampleGet(void *h, void *sample) { DEVICE(h); return take(g, ~0u, sample); }
API ret_t nvmlGpmMigSampleGet(void *h, u32 gi, void *sample) { DEVICE(h); return take(g, gi, sample); }
API ret_t nvmlGpmMetricsGet(gpm_get_t *get) {
  SYSTEM;
  const sample_t *a = get->sample1, *b = get->sample2;
  if (get->version != 1) return VERSION_MISMATCH;
  if (!a || !b || !a->filled || !b->filled || a->gpu != b->gpu || a->gi != b->gi) return INVALID_ARGUMENT;
  for (u32 i = 0; i < get->count; i++) {
    gpm_metric_t *m = &get->metrics[i];
    char key[40];
    snprintf(key, sizeof key, a->gi == ~0u ? "gpm.%u" : "gpm.%u.%u", m->id, a->gi);
    const char *s = text(&gpus[a->gpu].table, key);
    m->ret = s ? OK : NOT_SUPPORTED;
    if (ones(&gpus[a->gpu])) { m->ret = OK; memset(&m->value, 0xff, sizeof m->value); continue; }
    m->value = s ? strtod(s, NULL) : 0;
  }
  return OK;
}
