/* Preloaded into a Python: each thread first runs LATE_US after it was started, and the process stays as long after the interpreter's end
   (LATE_EXIT_US): what happens once in some hundred ends of a busy machine happens in each. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct start {
  void *(*run)(void *);
  void *argument;
};

static void pause_for(const char *name) {
  const char *text = getenv(name);
  if (text) usleep((useconds_t)atoi(text));
}

static void *run_late(void *pointer) {
  struct start start = *(struct start *)pointer;
  free(pointer);
  pause_for("LATE_US");
  return start.run(start.argument);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
  int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
      (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
  struct start *start = malloc(sizeof *start);
  if (!real || !start) abort();
  start->run = run;
  start->argument = argument;
  return real(thread, attributes, run_late, start);
}

__attribute__((destructor)) static void stay(void) { pause_for("LATE_EXIT_US"); }
