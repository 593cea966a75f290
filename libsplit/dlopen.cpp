// Programs that open libOpenCL at run time and ask it for every function never meet the names that
// exports.cpp gives them, and a loader that knows no layers does not load us as one. So the
// preloaded library also stands before dlopen: who opens a loader that knows no layers gets
// libsplit instead, which has the same functions and passes them on to that loader.
//
// dlopen looks at its return address, for the caller's search path and namespace, and must go on
// seeing the real caller. Hence the entry is a few lines of assembly: it lets chooseLibrary put
// another name in the first argument's place, and jumps.
#include "libsplit/dlopen.h"

#include <atomic>
#include <cstring>
#include <string>
#include <string_view>

#include <dlfcn.h>
#include <link.h>

namespace libsplit {

namespace {

using Dlopen = void* (*)(const char*, int);

std::atomic<void*> openedLoader = nullptr;

bool isLoaderName(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return std::string_view(slash ? slash + 1 : path).starts_with("libOpenCL.so");
}

/// Whether the library's read-only data names the variable that lists layers.
bool knowsLayers(void* library) {
  static constexpr std::string_view variable = "OPENCL_LAYERS";
  struct Search {
    ElfW(Addr) base;
    bool found;
  };
  link_map* map = nullptr;
  if (::dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
    return true;
  Search search{map->l_addr, false};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        if (info->dlpi_addr != wanted.base)
          return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = info->dlpi_phdr[i];
          if (part.p_type != PT_LOAD || !(part.p_flags & PF_R))
            continue;
          auto begin = reinterpret_cast<const char*>(info->dlpi_addr + part.p_vaddr);
          std::string_view bytes(begin, part.p_memsz);
          wanted.found = wanted.found || bytes.find(variable) != std::string_view::npos;
        }
        return 1;
      },
      &search);
  return search.found;
}

void* openNext(const char* name, int flags) {
  static const auto next = reinterpret_cast<Dlopen>(::dlsym(RTLD_NEXT, "dlopen"));
  return (next ? next : ::dlopen)(name, flags);
}

const char* ownName() {
  static const std::string path = ownPath();
  return path.c_str();
}

} // namespace

void* loaderThatWasOpened() {
  return openedLoader;
}

void* openLibrary(const char* name) {
  return openNext(name, RTLD_NOW | RTLD_LOCAL);
}

void keepLibraryOf(const void* function) {
  Dl_info info{};
  if (::dladdr(function, &info) && info.dli_fname &&
      !openNext(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE))
    ::dlerror(); // the program itself, which nobody can close: it is not to hear of that
}

} // namespace libsplit

#if defined(__x86_64__) || defined(__aarch64__)

extern "C" {

/// The next dlopen, for the assembly below.
[[gnu::visibility("hidden")]] libsplit::Dlopen libsplitNextDlopen = nullptr;

/// What dlopen shall open when it is asked for `path`. Any thread.
[[gnu::visibility("hidden"), gnu::used]] const char* libsplitChooseLibrary(const char* path,
                                                                           int flags) {
  using namespace libsplit;
  if (!libsplitNextDlopen)
    libsplitNextDlopen = reinterpret_cast<Dlopen>(::dlsym(RTLD_NEXT, "dlopen"));
  if (!path || (flags & RTLD_NOLOAD) || !isLoaderName(path))
    return path;
  void* loader = libsplitNextDlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (!loader || knowsLayers(loader)) {
    ::dlerror(); // the program's own call says what is wrong
    return path;
  }
  openedLoader = loader;
  return ownName();
}
}

#if defined(__x86_64__)
asm(R"(
  .text
  .globl dlopen
  .type dlopen, @function
dlopen:
  .cfi_startproc
  endbr64
  push %rdi
  .cfi_adjust_cfa_offset 8
  push %rsi
  .cfi_adjust_cfa_offset 8
  sub $8, %rsp
  .cfi_adjust_cfa_offset 8
  call libsplitChooseLibrary
  add $8, %rsp
  .cfi_adjust_cfa_offset -8
  pop %rsi
  .cfi_adjust_cfa_offset -8
  pop %rdi
  .cfi_adjust_cfa_offset -8
  mov %rax, %rdi
  jmp *libsplitNextDlopen(%rip)
  .cfi_endproc
  .size dlopen, .-dlopen
)");
#else
asm(R"(
  .text
  .globl dlopen
  .type dlopen, %function
dlopen:
  .cfi_startproc
  stp x29, x30, [sp, #-32]!
  .cfi_adjust_cfa_offset 32
  .cfi_rel_offset x29, 0
  .cfi_rel_offset x30, 8
  str x1, [sp, #16]
  bl libsplitChooseLibrary
  ldr x1, [sp, #16]
  ldp x29, x30, [sp], #32
  .cfi_adjust_cfa_offset -32
  .cfi_restore x29
  .cfi_restore x30
  adrp x16, libsplitNextDlopen
  ldr x16, [x16, #:lo12:libsplitNextDlopen]
  br x16
  .cfi_endproc
  .size dlopen, .-dlopen
)");
#endif

#endif
