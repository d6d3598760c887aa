/* Shared by the files of the fake libnvidia-ml.so.1: own struct definitions, the scenario's state, the entry guard. */
#ifndef WARPWATCH_FAKE_NVML_H
#define WARPWATCH_FAKE_NVML_H
#define _GNU_SOURCE
#include <stdint.h>
#include <stddef.h>

#define API __attribute__((visibility("default")))
typedef uint32_t u32;
typedef unsigned long long u64;
typedef u32 ret_t;

enum {
  OK = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7, TIMEOUT = 10,
  FUNCTION_NOT_FOUND = 13, GPU_LOST = 15, RESET_REQUIRED = 16, VERSION_MISMATCH = 25
};
#define UNKNOWN_MEMORY 0xFFFFFFFFFFFFFFFFULL

/* Layouts: x86-64 and arm64, LP64; test/unit/nvml/layout.test.ts holds them against tables. */
typedef struct { u64 total, free, used; } memory_t;
typedef struct { u32 version; u64 total, reserved, free, used; } memory2_t;
typedef struct { u64 total, free, used; } bar1_t;
typedef struct { u32 gpu, memory; } utilization_t;
typedef struct { char legacy[16]; u32 domain, bus, device, device_id, subsystem_id; char bus_id[32]; } pci_t;
typedef struct { u32 version; u32 sensor; int32_t celsius; } temperature_t;
typedef union { double d; int32_t i; u32 u; unsigned long ul; u64 ull; int64_t ll; uint16_t us; } value_t;
typedef struct { u32 id, scope; int64_t timestamp, latency; u32 type; ret_t ret; value_t value; } field_t;
typedef struct { void *device; u64 type, data; u32 gi, ci; } event_t;
typedef struct { u32 pid; u64 bytes; } process1_t;
typedef struct { u32 pid; u64 bytes; u32 gi, ci; } process2_t;
typedef struct { u32 pid; u64 bytes; u32 gi, ci; u64 protected_bytes; } process_detail_t;
typedef struct { u32 sms, copy, decoder, encoder, jpeg, ofa, gi_slices, ci_slices; u64 memory_mb; } attributes_t;
typedef struct { u32 max, high, partial, low, none; } histogram_t;
typedef struct { u32 version, supported; } gpm_support_t;
typedef struct { u32 id; ret_t ret; double value; const char *short_name, *long_name, *unit; } gpm_metric_t;
typedef struct { u32 version, count; void *sample1, *sample2; gpm_metric_t metrics[]; } gpm_get_t;

/* The scenario: text values by key. A key that is missing means that the GPU does not support it. */
#define MAX_GPU 16
#define MAX_MIG 8
#define MAX_PROC 4096
#define MAX_KEYS 512 /* a power of two, at most half filled */
#define MAX_XID 64
#define MAX_SAMPLE 1024
#define MAX_ACCOUNT 1024
typedef struct { char *key, *value; } entry_t;
typedef struct { entry_t slot[MAX_KEYS]; int count; int rules; } table_t;
typedef struct { u32 pid; u64 bytes; char type; u32 gi, ci; } proc_t;
typedef struct { u32 pid; u64 time; u32 sm, mem, enc, dec; } process_sample_t;
typedef struct { u64 time; u32 pid, sm, mem, enc, dec, jpg, ofa; } process_sample1_t;
typedef struct { u32 version, count; u64 last_seen; process_sample1_t *array; } processes_samples_t;
typedef struct { u32 gpu, memory; u64 max_memory, time, start; u32 running, reserved[5]; } accounting_t;
typedef struct { u32 pid; accounting_t stats; } account_t;
typedef struct gpu gpu_t;
typedef struct { gpu_t *parent; u32 index, gi, ci, sms, slices; u64 total, used, reserved; char uuid[96], name[96]; } mig_t;
struct gpu { u32 index; table_t table; proc_t proc[MAX_PROC]; u32 procs; mig_t mig[MAX_MIG]; u32 migs; u32 grown; process_sample_t sample[MAX_SAMPLE]; u32 samples; account_t account[MAX_ACCOUNT]; u32 accounts; };
typedef struct { u64 sequence; u32 gpu; u64 xid; u32 gi, ci; } xid_t;

extern gpu_t gpus[MAX_GPU];
extern u32 gpu_count;
extern table_t global;
extern xid_t xids[MAX_XID];
extern u32 xid_count;
extern int initialized;

/* Reads the scenario again when the file changed. Every entry does this first. */
void reload(void);
const char *text(const table_t *t, const char *key);
int number(const table_t *t, const char *key, u64 *out);
u64 number_or(const table_t *t, const char *key, u64 otherwise);

/* Counts the call, then delays, crashes or fails as the scenario says for this function (and GPU, where a handle is given). */
ret_t enter_system(const char *fn);
ret_t enter_device(const char *fn, const void *handle, gpu_t **g, mig_t **m);
ret_t rules(const char *fn, const gpu_t *g);

#define SYSTEM do { ret_t r_ = enter_system(__func__); if (r_ != OK) return r_; } while (0)
#define DEVICE(h) gpu_t *g; mig_t *m; do { ret_t r_ = enter_device(__func__, (h), &g, &m); if (r_ != OK) return r_; } while (0); (void)m
/* `ones=1`: every figure of the GPU comes back with all bits set, as registers do behind a dead PCIe link. */
int ones(const gpu_t *g);
ret_t give_text(const char *value, char *out, u32 length);
ret_t give_u32(const gpu_t *g, const char *key, u32 *out);
ret_t give_u64(const gpu_t *g, const char *key, u64 *out);
#endif
