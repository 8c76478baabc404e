// Replaces allocation, locking and throwing functions by ones that count while a Trap exists on the calling thread.
#include "trap.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NFX_NO_TRAP 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define NFX_NO_TRAP 1
#endif
#endif

namespace nfx::test {
namespace {

// Plain thread locals of the executable: reading them allocates nothing.
thread_local bool armed = false;
thread_local bool in_library = false;
thread_local TrapCounts counted;

}  // namespace

Trap::Trap(CallSet allowed) noexcept : watch_(Watch::everything) {
  counted = {};
  armed = true;
  watch_system_calls(allowed);
}
Trap::Trap(Watch watch) noexcept : watch_(watch) {
  counted = {};
  armed = true;
  if (watch_ == Watch::everything) watch_system_calls({});
}
Trap::~Trap() {
  if (watch_ == Watch::everything) unwatch_system_calls();
  armed = false;
}
TrapCounts Trap::counts() const noexcept {
  TrapCounts counts = counted;
  if (watch_ == Watch::everything) counts.calls = system_calls_so_far();
  return counts;
}

LibraryCall::LibraryCall() noexcept { in_library = true; }
LibraryCall::~LibraryCall() { in_library = false; }

#ifdef NFX_NO_TRAP

bool Trap::works() noexcept { return false; }

#else

bool Trap::works() noexcept { return true; }

#endif

}  // namespace nfx::test

#ifndef NFX_NO_TRAP

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <typeinfo>

// The names of glibc's allocator functions beneath the names replaced here.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* memory);
}

namespace {

using nfx::test::armed;
using nfx::test::counted;
using nfx::test::in_library;

void note_allocation() noexcept {
  if (armed) ++(in_library ? counted.library_allocations : counted.allocations);
}
void note_release() noexcept {
  if (armed) ++(in_library ? counted.library_releases : counted.releases);
}
void note_lock() noexcept { counted.locks += armed ? 1 : 0; }

// The library's function that this program's function of the same name replaces.
template <class Function>
Function* behind(const char* name) noexcept {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) noexcept {
  note_allocation();
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  note_allocation();
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) noexcept {
  note_allocation();
  return __libc_realloc(memory, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  note_allocation();
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  note_allocation();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
  note_allocation();
  *out = __libc_memalign(alignment, size);
  return *out == nullptr ? ENOMEM : 0;
}
void free(void* memory) noexcept {
  if (memory != nullptr) note_release();
  __libc_free(memory);
}

void* mmap(void* address, std::size_t size, int protection, int flags, int fd, off_t offset) noexcept {
  note_allocation();
  static auto* const real = behind<void*(void*, std::size_t, int, int, int, off_t)>("mmap");
  return real(address, size, protection, flags, fd, offset);
}
int munmap(void* address, std::size_t size) noexcept {
  note_release();
  static auto* const real = behind<int(void*, std::size_t)>("munmap");
  return real(address, size);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  note_lock();
  static auto* const real = behind<int(pthread_mutex_t*)>("pthread_mutex_lock");
  return real(mutex);
}
int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  note_lock();
  static auto* const real = behind<int(pthread_mutex_t*)>("pthread_mutex_trylock");
  return real(mutex);
}
int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  note_lock();
  static auto* const real = behind<int(pthread_rwlock_t*)>("pthread_rwlock_rdlock");
  return real(lock);
}
int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  note_lock();
  static auto* const real = behind<int(pthread_rwlock_t*)>("pthread_rwlock_wrlock");
  return real(lock);
}

// Memory for an exception is allocated immediately before it is thrown, and for nothing else.
void* __cxa_allocate_exception(std::size_t size) noexcept {
  counted.throws += armed ? 1 : 0;
  static auto* const real = behind<void*(std::size_t)>("__cxa_allocate_exception");
  return real(size);
}

}  // extern "C"

// The C++ library's own operator new calls malloc from inside that library; with these, its calls pass through here in
// every build.
void* operator new(std::size_t size) {
  if (void* memory = malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  if (void* memory = aligned_alloc(static_cast<std::size_t>(alignment), size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { free(memory); }
void operator delete(void* memory, std::size_t) noexcept { free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { free(memory); }

#endif
