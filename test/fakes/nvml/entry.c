/* What every entry does first: count the call, then delay, crash or fail as the scenario says for this function and GPU. */
#include "fake.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int initialized;
static struct { const char *fn; u32 calls; } counts[256]; /* __func__ pointers are unique per function */

static void count(const char *fn) {
  for (int i = 0; i < 256; i++) {
    if (!counts[i].fn) counts[i].fn = fn;
    if (counts[i].fn == fn) { counts[i].calls++; return; }
  }
}

/* How often a function was called in this process; for tests. */
API u32 fake_calls(const char *fn) {
  for (int i = 0; i < 256 && counts[i].fn; i++) if (!strcmp(counts[i].fn, fn)) return counts[i].calls;
  return 0;
}

/* The GPU's own rule, else the one above all GPUs; `ret.device` there stands for every function that takes a handle. */
static int rule(const gpu_t *g, const char *kind, const char *fn, u64 *out) {
  char key[96];
  snprintf(key, sizeof key, "%s.%s", kind, fn);
  return (g && g->table.rules && number(&g->table, key, out)) || (global.rules && number(&global, key, out));
}

static long long now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* A delay ends early when the scenario no longer asks for it, so that a test can end a hang. */
ret_t rules(const char *fn, const gpu_t *g) {
  u64 n;
  if (!global.rules && !(g && g->table.rules)) return OK;
  long long begun = now_ms();
  while (rule(g, "delay", fn, &n) && now_ms() - begun < (long long)n) {
    nanosleep(&(struct timespec){ 0, 5000000 }, NULL);
    reload();
  }
  if (rule(g, "crash", fn, &n) && n) {
    /* Node installs no handler for SIGSEGV, but be sure that it is fatal. */
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
  }
  /* `odds.FUNCTION=N` or `odds.device=N`: one call in N dies, by SIGSEGV or abort(). */
  if ((rule(g, "odds", fn, &n) || (g && rule(g, "odds", "device", &n))) && n) {
    static unsigned seed;
    if (!seed) seed = (unsigned)getpid() * 2654435761u ^ (unsigned)begun;
    if (rand_r(&seed) % n == 0) {
      if (rand_r(&seed) & 1) abort();
      signal(SIGSEGV, SIG_DFL);
      raise(SIGSEGV);
    }
  }
  if (rule(g, "ret", fn, &n)) return (ret_t)n;
  if (g && rule(g, "ret", "device", &n)) return (ret_t)n;
  return OK;
}

ret_t enter_system(const char *fn) {
  count(fn);
  reload();
  if (!initialized) return UNINITIALIZED;
  return rules(fn, NULL);
}

ret_t enter_device(const char *fn, const void *handle, gpu_t **g, mig_t **m) {
  count(fn);
  reload();
  if (!initialized) return UNINITIALIZED;
  *g = NULL;
  *m = NULL;
  uintptr_t offset = (uintptr_t)handle - (uintptr_t)gpus;
  if (offset < sizeof gpus) {
    gpu_t *found = &gpus[offset / sizeof(gpu_t)];
    if (handle == (void *)found) *g = found;
    for (u32 k = 0; k < MAX_MIG && !*g; k++)
      if (handle == (void *)&found->mig[k]) { *g = found; *m = &found->mig[k]; }
  }
  if (!*g) return INVALID_ARGUMENT;
  ret_t r = rules(fn, *g);
  if (r != OK) return r;
  /* A GPU that left the list is lost; so is a MIG instance that was taken apart. */
  if ((*g)->index >= gpu_count || *g != &gpus[(*g)->index] || number_or(&(*g)->table, "lost", 0)) return GPU_LOST;
  if (number_or(&(*g)->table, "reset", 0)) return RESET_REQUIRED;
  if (*m && (*m)->parent != *g) return INVALID_ARGUMENT;
  return OK;
}

ret_t give_text(const char *value, char *out, u32 length) {
  if (!out) return INVALID_ARGUMENT;
  if (!value) return NOT_SUPPORTED;
  if (strlen(value) + 1 > length) return INSUFFICIENT_SIZE;
  strcpy(out, value);
  for (; *out; out++) if (*out == 1) *out = '\n'; /* a scenario has one line a value */
  return OK;
}

int ones(const gpu_t *g) { return number_or(&g->table, "ones", 0) != 0; }

ret_t give_u64(const gpu_t *g, const char *key, u64 *out) {
  if (!out) return INVALID_ARGUMENT;
  if (ones(g)) { *out = ~0ULL; return OK; }
  return number(&g->table, key, out) ? OK : NOT_SUPPORTED;
}

ret_t give_u32(const gpu_t *g, const char *key, u32 *out) {
  u64 n;
  ret_t r = give_u64(g, key, &n);
  if (r == OK && out) *out = (u32)n;
  return r;
}
