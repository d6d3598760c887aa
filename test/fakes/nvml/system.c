/* Life cycle, versions and enumeration. */
#include "fake.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

API ret_t nvmlInit_v2(void) {
  reload();
  if (!getenv("FAKE_NVML_SCENARIO")) return 9;
  ret_t r = rules(__func__, NULL);
  if (r == OK) r = (ret_t)number_or(&global, "init", 0);
  if (r == OK) initialized++;
  return r;
}
API ret_t nvmlInitWithFlags(u32 flags) { (void)flags; return nvmlInit_v2(); }
API ret_t nvmlShutdown(void) {
  reload();
  if (!initialized) return UNINITIALIZED;
  ret_t r = rules(__func__, NULL);
  if (r == OK) initialized--;
  return r;
}
API const char *nvmlErrorString(ret_t r) { return r == OK ? "Success" : r == NOT_SUPPORTED ? "Not Supported" : "Unknown Error"; }
API ret_t nvmlSystemGetDriverVersion(char *out, u32 n) { SYSTEM; return give_text(text(&global, "driver"), out, n); }
API ret_t nvmlSystemGetNVMLVersion(char *out, u32 n) { SYSTEM; return give_text(text(&global, "nvml"), out, n); }
static ret_t cuda(int *out) {
  u64 n;
  if (!number(&global, "cuda", &n)) return 12;
  *out = (int)n;
  return OK;
}
API ret_t nvmlSystemGetCudaDriverVersion(int *out) { SYSTEM; return cuda(out); }
API ret_t nvmlSystemGetCudaDriverVersion_v2(int *out) { SYSTEM; return cuda(out); }

API ret_t nvmlDeviceGetCount_v2(u32 *out) { SYSTEM; *out = gpu_count; return OK; }
API ret_t nvmlDeviceGetHandleByIndex_v2(u32 index, void **out) {
  SYSTEM;
  if (index >= gpu_count) return INVALID_ARGUMENT;
  *out = &gpus[index];
  ret_t r = rules(__func__, &gpus[index]);
  if (r != OK) return r;
  return number_or(&gpus[index].table, "lost", 0) ? GPU_LOST : OK;
}
API ret_t nvmlDeviceGetName(void *h, char *out, u32 n) { DEVICE(h); return give_text(m ? m->name : text(&g->table, "name"), out, n); }
API ret_t nvmlDeviceGetUUID(void *h, char *out, u32 n) { DEVICE(h); return give_text(m ? m->uuid : text(&g->table, "uuid"), out, n); }
API ret_t nvmlDeviceGetSerial(void *h, char *out, u32 n) { DEVICE(h); return give_text(text(&g->table, "serial"), out, n); }
API ret_t nvmlDeviceGetVbiosVersion(void *h, char *out, u32 n) { DEVICE(h); return give_text(text(&g->table, "vbios"), out, n); }
API ret_t nvmlDeviceGetBoardPartNumber(void *h, char *out, u32 n) { DEVICE(h); return give_text(text(&g->table, "part"), out, n); }
API ret_t nvmlDeviceGetIndex(void *h, u32 *out) { DEVICE(h); *out = m ? m->index : g->index; return OK; }
API ret_t nvmlDeviceGetPciInfo_v3(void *h, pci_t *out) {
  DEVICE(h);
  const char *bus = text(&g->table, "bus");
  if (!bus) return NOT_SUPPORTED;
  memset(out, 0, sizeof *out);
  snprintf(out->bus_id, sizeof out->bus_id, "%s", bus);
  snprintf(out->legacy, sizeof out->legacy, "%s", strlen(bus) > 4 ? bus + 4 : bus);
  sscanf(bus, "%x:%x:%x", &out->domain, &out->bus, &out->device);
  out->device_id = 0x233010DE;
  return OK;
}
