// A system that has no thread to give for a while: refuses libsplit some of those that it asks for,
// REFUSED_THREADS=FIRST-LAST counted from 1, and writes how many it asked for to COUNT_FILE.
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>

namespace {

std::atomic<int> asked = 0;

/// Whether it is libsplit that has the C++ library start a thread, not a driver or the program.
bool isLibsplits() {
  constexpr int deep = 4; // this, pthread_create, std::thread, who wants it
  void* frames[deep] = {};
  Dl_info caller{};
  return ::backtrace(frames, deep) == deep && ::dladdr(frames[deep - 1], &caller) != 0 &&
         caller.dli_fname && std::strstr(caller.dli_fname, "libsplit.so");
}

bool isRefused(int number) {
  int first = 0, last = 0;
  const char* refused = std::getenv("REFUSED_THREADS");
  return refused && std::sscanf(refused, "%d-%d", &first, &last) == 2 && first <= number &&
         number <= last;
}

[[gnu::destructor]] void tell() {
  const char* path = std::getenv("COUNT_FILE");
  std::FILE* file = path ? std::fopen(path, "w") : nullptr;
  if (!file)
    return;
  std::fprintf(file, "%d\n", asked.load());
  std::fclose(file);
}

} // namespace

extern "C" [[gnu::visibility("default")]] int
pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*function)(void*), void* data) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto next = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
  if (isLibsplits() && isRefused(++asked))
    return EAGAIN;
  return next(thread, how, function, data);
}
