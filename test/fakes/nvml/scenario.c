/* The scenario file: `key=value` lines, `[gpu]` begins the next GPU, `#` a comment. Read again whenever mtime, size or inode change. */
#include "fake.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

gpu_t gpus[MAX_GPU];
u32 gpu_count;
table_t global;
xid_t xids[MAX_XID];
u32 xid_count;

static struct { struct timespec mtime; off_t size; ino_t inode; } seen;
static char *content;

static u32 hash(const char *s) {
  u32 h = 2166136261u;
  while (*s) h = (h ^ (unsigned char)*s++) * 16777619u;
  return h;
}

static void put(table_t *t, char *key, char *value) {
  if (t->count >= MAX_KEYS - 1) return;
  u32 i = hash(key) & (MAX_KEYS - 1);
  while (t->slot[i].key && strcmp(t->slot[i].key, key)) i = (i + 1) & (MAX_KEYS - 1);
  if (!t->slot[i].key) t->count++;
  t->slot[i].key = key;
  t->slot[i].value = value;
  if (!strncmp(key, "ret.", 4) || !strncmp(key, "delay.", 6) || !strncmp(key, "crash.", 6) || !strncmp(key, "odds.", 5)) t->rules = 1;
}

const char *text(const table_t *t, const char *key) {
  u32 i = hash(key) & (MAX_KEYS - 1);
  while (t->slot[i].key) {
    if (!strcmp(t->slot[i].key, key)) return t->slot[i].value;
    i = (i + 1) & (MAX_KEYS - 1);
  }
  return NULL;
}

int number(const table_t *t, const char *key, u64 *out) {
  const char *s = text(t, key);
  if (!s) return 0;
  *out = strtoull(s, NULL, 0);
  return 1;
}

u64 number_or(const table_t *t, const char *key, u64 otherwise) {
  u64 n;
  return number(t, key, &n) ? n : otherwise;
}

/* An instance id: `-` or nothing means none. */
static u32 instance(const char *s) { return s && *s && *s != '-' ? (u32)strtoul(s, NULL, 0) : ~0u; }

static void add_process(gpu_t *g, char *value) {
  if (g->procs >= MAX_PROC) return;
  char *p[5] = {0}, *next = value;
  for (int i = 0; i < 5 && next; i++) p[i] = strsep(&next, ",");
  proc_t *q = &g->proc[g->procs++];
  q->pid = (u32)strtoul(p[0], NULL, 0);
  q->bytes = p[1] && *p[1] != '-' ? strtoull(p[1], NULL, 0) : UNKNOWN_MEMORY;
  q->type = p[2] && *p[2] ? *p[2] : 'C';
  q->gi = instance(p[3]);
  q->ci = instance(p[4]);
}

static void add_mig(gpu_t *g, char *value) {
  if (g->migs >= MAX_MIG) return;
  char *p[9] = {0}, *next = value;
  for (int i = 0; i < 9 && next; i++) p[i] = strsep(&next, ",");
  if (!p[4]) return;
  mig_t *m = &g->mig[g->migs];
  *m = (mig_t){ .parent = g, .index = g->migs++, .gi = instance(p[0]), .ci = instance(p[1]) };
  snprintf(m->uuid, sizeof m->uuid, "%s", p[2]);
  m->total = strtoull(p[3], NULL, 0);
  m->used = strtoull(p[4], NULL, 0);
  m->reserved = p[5] ? strtoull(p[5], NULL, 0) : 0;
  snprintf(m->name, sizeof m->name, "%s", p[6] ? p[6] : "MIG");
  m->sms = p[7] ? (u32)strtoul(p[7], NULL, 0) : 0;
  m->slices = p[8] ? (u32)strtoul(p[8], NULL, 0) : 0;
}

static void add_xid(u32 gpu, char *value) {
  if (xid_count >= MAX_XID) return;
  char *p[4] = {0}, *next = value;
  for (int i = 0; i < 4 && next; i++) p[i] = strsep(&next, ",");
  if (!p[1]) return;
  xids[xid_count++] = (xid_t){ strtoull(p[0], NULL, 0), gpu, strtoull(p[1], NULL, 0), instance(p[2]), instance(p[3]) };
}

/* `sample=TIME_US,PID,SM`: a sample of a process, in percent. */
static void add_sample(gpu_t *g, char *value) {
  if (g->samples >= MAX_SAMPLE) return;
  char *p[3] = {0}, *next = value;
  for (int i = 0; i < 3 && next; i++) p[i] = strsep(&next, ",");
  if (!p[2]) return;
  g->sample[g->samples++] = (process_sample_t){ .time = strtoull(p[0], NULL, 0), .pid = (u32)strtoul(p[1], NULL, 0), .sm = (u32)strtoul(p[2], NULL, 0) };
}

/* `account=PID,GPU_PERCENT,MAX_BYTES,TIME_MS,RUNNING`: what the accounting mode wrote down of a process. */
static void add_account(gpu_t *g, char *value) {
  if (g->accounts >= MAX_ACCOUNT) return;
  char *p[5] = {0}, *next = value;
  for (int i = 0; i < 5 && next; i++) p[i] = strsep(&next, ",");
  if (!p[4]) return;
  g->account[g->accounts++] = (account_t){ (u32)strtoul(p[0], NULL, 0), { .gpu = (u32)strtoul(p[1], NULL, 0), .max_memory = strtoull(p[2], NULL, 0), .time = strtoull(p[3], NULL, 0), .running = (u32)strtoul(p[4], NULL, 0) } };
}

static void parse(char *s) {
  gpu_t *g = NULL;
  gpu_count = xid_count = 0;
  memset(&global, 0, sizeof global);
  for (char *line; (line = strsep(&s, "\n"));) {
    while (*line == ' ') line++;
    if (!*line || *line == '#') continue;
    if (!strncmp(line, "[gpu", 4)) {
      if (gpu_count >= MAX_GPU) break;
      u32 grown = gpus[gpu_count].grown;
      g = &gpus[gpu_count];
      memset(g, 0, sizeof *g);
      g->grown = grown;
      g->index = gpu_count++;
      continue;
    }
    char *value = strchr(line, '=');
    if (!value) continue;
    *value++ = 0;
    if (g && !strcmp(line, "proc")) add_process(g, value);
    else if (g && !strcmp(line, "mig")) add_mig(g, value);
    else if (g && !strcmp(line, "xid")) add_xid(g->index, value);
    else if (g && !strcmp(line, "sample")) add_sample(g, value);
    else if (g && !strcmp(line, "account")) add_account(g, value);
    else put(g ? &g->table : &global, line, value);
  }
}

void reload(void) {
  const char *path = getenv("FAKE_NVML_SCENARIO");
  struct stat st;
  if (!path || stat(path, &st)) return; /* between two renames nothing changes */
  if (content && st.st_mtim.tv_sec == seen.mtime.tv_sec && st.st_mtim.tv_nsec == seen.mtime.tv_nsec && st.st_size == seen.size && st.st_ino == seen.inode) return;
  FILE *f = fopen(path, "r");
  if (!f) return;
  char *fresh = malloc((size_t)st.st_size + 1);
  size_t n = fresh ? fread(fresh, 1, (size_t)st.st_size, f) : 0;
  fclose(f);
  if (!fresh) return;
  fresh[n] = 0;
  free(content);
  content = fresh;
  parse(content);
  seen.mtime = st.st_mtim;
  seen.size = st.st_size;
  seen.inode = st.st_ino;
}
