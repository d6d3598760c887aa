/* Field values: `field.82=45`, `field.138.4294967295=7` (with a scope), `field.193=i:-5` (d u ul ull ll i us), `field.74=ret:999`. */
#include "fake.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fill(const gpu_t *g, field_t *f) {
  char key[48];
  f->timestamp = 1;
  f->latency = 5;
  snprintf(key, sizeof key, "field.%u.%u", f->id, f->scope);
  const char *s = text(&g->table, key);
  snprintf(key, sizeof key, "field.%u", f->id);
  if (!s) s = text(&g->table, key);
  if (!s) { f->ret = NOT_SUPPORTED; return; }
  const char *colon = strchr(s, ':');
  const char *v = colon ? colon + 1 : s;
  f->ret = OK;
  if (ones(g)) { f->type = 3; memset(&f->value, 0xff, sizeof f->value); return; }
  if (colon && !strncmp(s, "ret:", 4)) f->ret = (ret_t)strtoul(v, NULL, 0);
  else if (colon && !strncmp(s, "d:", 2)) { f->type = 0; f->value.d = strtod(v, NULL); }
  else if (colon && !strncmp(s, "u:", 2)) { f->type = 1; f->value.u = (u32)strtoul(v, NULL, 0); }
  else if (colon && !strncmp(s, "ul:", 3)) { f->type = 2; f->value.ul = strtoul(v, NULL, 0); }
  else if (colon && !strncmp(s, "ll:", 3)) { f->type = 4; f->value.ll = strtoll(v, NULL, 0); }
  else if (colon && !strncmp(s, "i:", 2)) { f->type = 5; f->value.i = (int32_t)strtol(v, NULL, 0); }
  else if (colon && !strncmp(s, "us:", 3)) { f->type = 6; f->value.us = (uint16_t)strtoul(v, NULL, 0); }
  else { f->type = 3; f->value.ull = strtoull(v, NULL, 0); }
}
API ret_t nvmlDeviceGetFieldValues(void *h, int count, field_t *values) {
  DEVICE(h);
  if (count <= 0 || !values) return INVALID_ARGUMENT;
  for (int i = 0; i < count; i++) fill(g, &values[i]);
  return OK;
}
