// Pinning, priority, nice value and name of the calling thread. Allocates nothing, because threads are pinned before
// they allocate.
#include "nexusfix/placement/cpu_affinity.hpp"
#include "nexusfix/base/assert.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace nfx {
namespace {

// The kernel's mask, for the largest number of CPUs of any kernel. It is on the stack, because threads are pinned
// before they allocate.
struct Mask {
  static constexpr std::size_t word_bits = 8 * sizeof(unsigned long);
  std::array<unsigned long, CpuSet::max_cpus / word_bits> words{};

  void insert(int cpu) noexcept {
    NFX_ASSERT(cpu >= 0 && cpu < CpuSet::max_cpus);  // size of the mask
    words[static_cast<std::size_t>(cpu) / word_bits] |= 1UL << (static_cast<std::size_t>(cpu) % word_bits);
  }
  [[nodiscard]] bool contains(int cpu) const noexcept {
    return (words[static_cast<std::size_t>(cpu) / word_bits] >> (static_cast<std::size_t>(cpu) % word_bits) & 1) != 0;
  }
  [[nodiscard]] cpu_set_t* kernel() noexcept { return reinterpret_cast<cpu_set_t*>(words.data()); }
};

AffinityResult apply(Mask& mask, int tid = 0) noexcept {
  AffinityResult result;
  if (::sched_setaffinity(tid, sizeof mask.words, mask.kernel()) != 0) result.error = errno;
  result.cpu = ::sched_getcpu();
  return result;
}

bool is_cpu(int cpu) noexcept { return cpu >= 0 && cpu < CpuSet::max_cpus; }

}  // namespace

std::string AffinityResult::message() const {
  if (error == 0) return "runs on CPU " + std::to_string(cpu);
  std::string text = std::generic_category().message(error);
  if (error == EINVAL) text += ": no such CPU, or it is offline or outside this process's control group";
  if (error == EPERM) text += ": needs CAP_SYS_NICE";
  return text;
}

AffinityResult CpuAffinity::pin_to_core(int cpu) noexcept {
  if (!is_cpu(cpu)) return {EINVAL, ::sched_getcpu()};
  Mask mask;
  mask.insert(cpu);
  return apply(mask);
}

AffinityResult CpuAffinity::set(const CpuSet& cpus, int tid) noexcept {
  Mask mask;
  for (int cpu = cpus.first(); cpu >= 0 && cpu <= cpus.last(); ++cpu) {
    if (cpus.contains(cpu)) mask.insert(cpu);
  }
  return apply(mask, tid);
}

CpuSet CpuAffinity::get() {
  Mask mask;
  CpuSet set;
  if (::sched_getaffinity(0, sizeof mask.words, mask.kernel()) != 0) return set;
  for (int cpu = 0; cpu < CpuSet::max_cpus; ++cpu) {
    if (mask.contains(cpu)) set.insert(cpu);
  }
  return set;
}

AffinityResult CpuAffinity::set_fifo_priority(int priority) noexcept {
  AffinityResult result;
  sched_param parameters{};
  parameters.sched_priority = priority;
  // Children start with the default policy, because only this thread was meant.
  const int policy = priority > 0 ? SCHED_FIFO | SCHED_RESET_ON_FORK : SCHED_OTHER;
  if (::sched_setscheduler(0, policy, &parameters) != 0) result.error = errno;
  result.cpu = ::sched_getcpu();
  return result;
}

void CpuAffinity::give_way() noexcept {
  // Measured: with 10, a waking thread still waited for every third burst of such a thread, with 5 for every one.
  // SCHED_IDLE prevents no more waits, and gets a fifth of the CPU share on busy CPUs. Raising a nice value is always
  // permitted.
  constexpr int highest_nice_value = 19;
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), highest_nice_value);
}

void CpuAffinity::name_thread(std::string_view name) noexcept {
  std::array<char, 16> text{};
  std::memcpy(text.data(), name.data(), std::min(name.size(), text.size() - 1));
  ::pthread_setname_np(::pthread_self(), text.data());
}

}  // namespace nfx
