// Runs generated messages through all kernels on several threads, and prints the first difference with its message.
#include "differential/differential_run.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/text.hpp"
#include "differential/guarded_memory.hpp"
#include "differential/kernel_comparer.hpp"
#include "differential/message_generator.hpp"

namespace nfx::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t error_kinds = std::to_underlying(WireError::not_fix) + std::size_t{1};

struct Counts {
  std::uint64_t inputs = 0;
  std::uint64_t executions = 0;
  std::uint64_t wide_executions = 0;
  std::uint64_t needs_wide = 0;
  std::uint64_t fields = 0;
  std::uint64_t bytes = 0;
  std::uint64_t in_front = 0;                       // number of inputs directly after an inaccessible page
  std::array<std::uint64_t, error_kinds> errors{};  // WireError::none: accepted

  void add(const Counts& other) {
    inputs += other.inputs;
    executions += other.executions;
    wide_executions += other.wide_executions;
    needs_wide += other.needs_wide;
    fields += other.fields;
    bytes += other.bytes;
    in_front += other.in_front;
    for (std::size_t i = 0; i < error_kinds; ++i) errors[i] += other.errors[i];
  }
};

// Several pages, so that a message does not always overwrite the previous one.
class Placement {
 public:
  std::string_view place(std::string_view bytes, Against against) noexcept {
    if (bytes.size() > MessageGenerator::max_small_size) return large_.place(bytes, against);
    return pages_[turn_++ % pages_.size()].place(bytes, against);
  }

 private:
  struct Page : GuardedMemory {
    Page() : GuardedMemory(MessageGenerator::max_small_size) {}
  };
  std::array<Page, 8> pages_;
  GuardedMemory large_{MessageGenerator::max_size + 4096};
  std::size_t turn_ = 0;
};

std::string escaped(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    if (c >= ' ' && c <= '~' && c != '\\') {
      text += c;
    } else {
      char code[8];
      std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      text += code;
    }
  }
  return text;
}

class Worker {
 public:
  Worker(const DifferentialOptions& options, std::uint32_t number)
      : options_(options),
        number_(number),
        generator_(FastRandom{options.seed + (std::uint64_t{number} << 32)}.next()),
        comparer_(options.kernels) {}

  // Runs until `stop`, the number of executions, or the time.
  void run(std::uint64_t executions, std::optional<Clock::time_point> end, std::atomic<bool>& stop) {
    running = this;
    while (!stop.load(std::memory_order_relaxed) && (end || counts_.executions < executions)) {
      for (int i = 0; i < 256 && (end || counts_.executions < executions); ++i) {
        if (const auto difference = run_one()) {
          if (!stop.exchange(true)) report(*difference);
          return;
        }
      }
      if (end && Clock::now() >= *end) return;
    }
  }

  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }

  // A kernel touched an inaccessible page. It holds no lock, so printing is safe although this is a signal handler.
  static void on_fault(int, siginfo_t* info, void*) {
    if (running != nullptr) running->report_fault(static_cast<const char*>(info->si_addr));
    _exit(1);
  }

 private:
  static thread_local const Worker* running;

  std::optional<KernelDifference> run_one() {
    const std::string_view made = generator_.next();
    FastRandom& random = generator_.random();
    question_.capacity = any_capacity(made.size());
    question_.part_from = random.below(made.size() + 1);
    question_.wide = random.one_in(4);
    against_ = counts_.inputs % 2 == 0 ? Against::page_behind : Against::page_in_front;
    input_ = placement_.place(made, against_);
    const auto difference = comparer_.compare(input_, question_);
    count();
    return difference;
  }

  // Mostly enough; otherwise about the previous message's count, which is often the same message before its last
  // change.
  std::uint32_t any_capacity(std::size_t size) noexcept {
    FastRandom& random = generator_.random();
    if (random.one_in(4)) return comparer_.expected().count + random.below(3);
    if (random.one_in(16)) return random.below(24);
    return size <= MessageGenerator::max_small_size ? 1100 : KernelComparer::max_capacity - 1;
  }

  void count() noexcept {
    const kernels::IndexResult& expected = comparer_.expected();
    const bool narrow = input_.size() <= KernelComparer::max_narrow_size;
    ++counts_.inputs;
    counts_.bytes += input_.size();
    counts_.in_front += against_ == Against::page_in_front;
    if (narrow) counts_.executions += options_.kernels.size();
    if (!narrow || question_.wide) counts_.wide_executions += options_.kernels.size();
    if (expected.needs_wide) {
      ++counts_.needs_wide;
    } else {
      ++counts_.errors[std::to_underlying(expected.error)];
      counts_.fields += expected.count;
    }
  }

  // Removes parts that are not needed for the difference, larger ones first, within a limited number of tries.
  std::string shortened() {
    std::string shortest{input_};
    question_.wide = true;
    int tries = 5000;
    for (std::size_t piece = shortest.size() / 2; piece > 0; piece /= 2) {
      for (std::size_t at = 0; at + piece <= shortest.size() && tries > 0; --tries) {
        std::string shorter = shortest;
        shorter.erase(at, piece);
        question_.part_from = std::min(question_.part_from, shorter.size());
        if (comparer_.compare(placement_.place(shorter, against_), question_)) {
          shortest = std::move(shorter);
        } else {
          at += piece;
        }
      }
    }
    return shortest;
  }

  void print_input(std::string_view bytes) const {
    const bool in_front = against_ == Against::page_in_front;
    std::fprintf(stderr, "capacity %u, part from %zu, %zu bytes next to the untouchable page %s\nhex: %s\ntext: %s\n",
                 question_.capacity, question_.part_from, bytes.size(), in_front ? "before them" : "after them",
                 hexadecimal(bytes).c_str(), escaped(bytes).c_str());
  }

  void print_how_to_repeat() const {
    std::fprintf(stderr, "input %llu of thread %u; again: --seed %llu --threads %u\n",
                 static_cast<unsigned long long>(counts_.inputs), number_,
                 static_cast<unsigned long long>(options_.seed), options_.threads);
  }

  void report(const KernelDifference& difference) {
    std::fprintf(stderr, "DIFFERENCE: %s\n", to_string(difference).c_str());
    print_input(input_);
    print_how_to_repeat();
    const std::string shortest = shortened();
    const auto again = comparer_.compare(placement_.place(shortest, against_), question_);
    std::fprintf(stderr, "shortened: %s\n", again ? to_string(*again).c_str() : "no difference on its own");
    print_input(shortest);
  }

  void report_fault(const char* address) const {
    std::fprintf(stderr, "DIFFERENCE: %s %s: touches memory at input %+td, end of input %+td\n",
                 comparer_.kernel_running(), std::string{to_string(comparer_.function_running())}.c_str(),
                 address - input_.data(), address - (input_.data() + input_.size()));
    print_input(input_);
    print_how_to_repeat();
  }

  const DifferentialOptions& options_;
  std::uint32_t number_;
  MessageGenerator generator_;
  KernelComparer comparer_;
  Placement placement_;
  std::string_view input_;
  KernelQuestion question_;
  Against against_ = Against::page_behind;
  Counts counts_;
};

thread_local const Worker* Worker::running = nullptr;

void report_faults() {
  struct sigaction action{};
  action.sa_sigaction = Worker::on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
}

unsigned long long printable(std::uint64_t number) { return number; }

void print(const Counts& counts, const DifferentialOptions& options, double seconds) {
  std::printf("kernels:");
  for (const kernels::KernelTable* table : options.kernels) std::printf(" %s", table->name);
  std::printf(" against scalar, seed %llu, %u threads\n", printable(options.seed), options.threads);
  std::printf("executions: %llu, and %llu of index_wide_fields\n", printable(counts.executions),
              printable(counts.wide_executions));
  std::printf("inputs: %llu, of %.0f bytes, directly after an untouchable page %llu, directly before one %llu\n",
              printable(counts.inputs), static_cast<double>(counts.bytes) / static_cast<double>(counts.inputs),
              printable(counts.in_front), printable(counts.inputs - counts.in_front));
  std::printf("  accepted %llu, needs_wide %llu", printable(counts.errors[0]), printable(counts.needs_wide));
  for (std::size_t i = 1; i < error_kinds; ++i) {
    if (counts.errors[i] == 0) continue;
    const std::string name{nfx::to_string(static_cast<WireError>(i))};
    std::printf(", %s %llu", name.c_str(), printable(counts.errors[i]));
  }
  std::printf("; %llu fields\n", printable(counts.fields));
  const double rate = static_cast<double>(counts.executions) / seconds;
  std::printf("%.1f s, %.0f executions a second, %.0f per thread\n", seconds, rate, rate / options.threads);
}

}  // namespace

int run_differential(const DifferentialOptions& options) {
  report_faults();
  std::vector<std::unique_ptr<Worker>> workers;
  for (std::uint32_t i = 0; i < options.threads; ++i) workers.push_back(std::make_unique<Worker>(options, i));
  const Clock::time_point start = Clock::now();
  std::optional<Clock::time_point> end;
  if (options.seconds != 0) end = start + std::chrono::seconds{options.seconds};
  const std::uint64_t share = (options.executions + options.threads - 1) / options.threads;
  std::atomic<bool> found = false;
  {
    std::vector<std::jthread> threads;
    for (const auto& worker : workers) threads.emplace_back([&, w = worker.get()] { w->run(share, end, found); });
  }
  Counts counts;
  for (const auto& worker : workers) counts.add(worker->counts());
  print(counts, options, std::chrono::duration<double>(Clock::now() - start).count());
  std::puts(found ? "a kernel differs" : "no difference");
  return found ? 1 : 0;
}

}  // namespace nfx::test
