// Measures the cost of storing a message for the sending thread, for each store, message by message: bench_store
// --help. Exit status 1 if a store returns different bytes, 2 if the run is not possible.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/cycle_clock.hpp"
#include "harness/flusher_thread.hpp"
#include "harness/machine.hpp"
#include "harness/program.hpp"
#include "harness/random.hpp"
#include "harness/scratch_folder.hpp"
#include "nexusfix/base/latency_histogram.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "store/commit_rows.hpp"
#include "store/memory_message_store.hpp"
#include "store/open_journal.hpp"
#include "store/quickfix_store.hpp"

namespace {

using namespace nfx;
using namespace nfx::bench;
namespace fs = std::filesystem;

struct Options {
  std::uint32_t repeats = 5;
  std::uint32_t messages = 100'000;
  double pace_ns = 5'000;  // from one message to the next
  double commit_seconds = 0.5;
  std::string only;  // one group of rows; empty: all
  std::uint64_t seed = 1;
  std::optional<unsigned> core;
  fs::path folder;
  CpuSet other_cores;  // CPUs for the flusher's thread
};

std::vector<std::string> make_messages(std::uint64_t seed) {
  Random random(seed);
  std::vector<std::string> messages(1000);
  for (std::string& message : messages) {
    message =
        "8=FIX.4.4\x01"
        "9=200\x01"
        "35=D\x01";
    const std::size_t size = random.between(200, 256);
    while (message.size() < size) message.push_back(static_cast<char>('0' + random.below(75)));
  }
  return messages;
}

// A measured store: a new one for each repeat, in a folder of its own.
class Subject {
 public:
  Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  virtual ~Subject() = default;
  virtual bool append(std::uint64_t seq, const std::string& bytes) = 0;
  virtual std::string read(std::uint64_t seq) = 0;
};

class InMemory final : public Subject {
 public:
  explicit InMemory(const Options& options)
      : store_({.retain_messages = options.messages, .retain_bytes = options.messages * std::size_t{256}}) {
    store_.prefault();
  }
  bool append(std::uint64_t seq, const std::string& bytes) override {
    const bool kept = store_.append(SeqNum{seq}, bytes);
    store_.set_next_outbound(SeqNum{seq + 1});
    return kept;
  }
  std::string read(std::uint64_t seq) override { return std::string(store_.read(SeqNum{seq}).value_or("")); }

 private:
  MemoryMessageStore store_;
};

class Journal final : public Subject {
 public:
  Journal(const Options& options, const fs::path& folder, Durability durability)
      : thread_(flusher_, on_cores(options.other_cores)),
        journal_(journal_options(options, folder, durability), 1, flusher_) {}
  bool append(std::uint64_t seq, const std::string& bytes) override {
    const bool kept = journal_->append(SeqNum{seq}, bytes, now_);
    journal_->set_next_outbound(SeqNum{seq + 1});
    if (journal_->durability() == Durability::group) journal_->want_sync();
    if (journal_->durability() == Durability::message) return kept && journal_->wait_durable(journal_->position());
    return kept;
  }
  std::string read(std::uint64_t seq) override { return std::string(journal_->read(SeqNum{seq}).value_or("")); }

 private:
  static JournalOptions journal_options(const Options& options, const fs::path& folder, Durability durability) {
    JournalOptions journal;
    journal.directory = folder;
    journal.durability = durability;
    journal.retain_messages = options.messages;
    return journal;
  }

  JournalFlusher flusher_;
  FlusherThread thread_;
  OpenJournal journal_;
  UtcTime now_ = read_utc();
};

// The usual alternative: a memory-mapped file that the kernel writes back at any time.
class MappedFile final : public Subject {
 public:
  MappedFile(const Options& options, const fs::path& folder) : size_(options.messages * std::size_t{264}) {
    const int fd = ::open((folder / "mapped").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ::posix_fallocate(fd, 0, static_cast<off_t>(size_)) != 0) throw std::runtime_error("no mapped file");
    void* pages = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    ::close(fd);
    if (pages == MAP_FAILED) throw std::runtime_error("the file cannot be mapped");
    bytes_ = static_cast<char*>(pages);
    index_.resize(options.messages + 1);
  }
  ~MappedFile() override { ::munmap(bytes_, size_); }
  bool append(std::uint64_t seq, const std::string& bytes) override {
    const auto size = static_cast<std::uint32_t>(bytes.size());
    std::memcpy(bytes_ + end_ + sizeof size, bytes.data(), size);
    std::memcpy(bytes_ + end_, &size, sizeof size);
    index_[seq] = end_;
    end_ += sizeof size + size;
    return true;
  }
  std::string read(std::uint64_t seq) override {
    std::uint32_t size;
    std::memcpy(&size, bytes_ + index_[seq], sizeof size);
    return {bytes_ + index_[seq] + sizeof size, size};
  }

 private:
  std::size_t size_;
  std::size_t end_ = 0;
  char* bytes_;
  std::vector<std::size_t> index_;
};

class QuickFix final : public Subject {
 public:
  explicit QuickFix(const fs::path& folder) : store_(make_quickfix_store(folder.string())) {}
  bool append(std::uint64_t seq, const std::string& bytes) override {
    store_->append(static_cast<int>(seq), bytes);
    return true;
  }
  std::string read(std::uint64_t seq) override { return store_->read(static_cast<int>(seq)); }

 private:
  std::unique_ptr<QuickFixStore> store_;
};

struct Row {
  std::string name;
  std::uint32_t messages;
  std::function<std::unique_ptr<Subject>(const fs::path&)> make;
  LatencyHistogram ns{};
  std::vector<double> medians{};
  std::uint64_t refused = 0;
};

std::vector<Row> make_rows(const Options& options) {
  const auto journal = [&](Durability durability) {
    return [&options, durability](const fs::path& folder) -> std::unique_ptr<Subject> {
      return std::make_unique<Journal>(options, folder, durability);
    };
  };
  const std::uint32_t all = options.messages;
  std::vector<Row> rows;
  rows.push_back({"memory", all, [&](const fs::path&) { return std::make_unique<InMemory>(options); }});
  rows.push_back({"journal, none", all, journal(Durability::none)});
  rows.push_back({"journal, interval", all, journal(Durability::interval)});
  rows.push_back({"journal, group", all, journal(Durability::group)});
  // Each append waits for the disk.
  rows.push_back({"journal, message, with the wait", std::max(all / 100, 100U), journal(Durability::message)});
  rows.push_back({"mapped file, no checksum, no sync", all,
                  [&](const fs::path& folder) { return std::make_unique<MappedFile>(options, folder); }});
  const fs::path trial = options.folder / "trial";
  fs::create_directories(trial);
  if (make_quickfix_store(trial.string()) != nullptr) {
    rows.push_back({"QuickFIX FileStore, no sync", all,
                    [](const fs::path& folder) { return std::make_unique<QuickFix>(folder); }});
  }
  return rows;
}

void run_once(Row& row, const Options& options, const std::vector<std::string>& messages, const CycleClock& clock,
              double own_cost) {
  const fs::path folder = options.folder / "repeat";
  fs::create_directories(folder);
  auto subject = row.make(folder);
  LatencyHistogram histogram;
  std::vector<bool> kept(row.messages + 1);
  std::string just_encoded(256, '\0');
  const double pace = options.pace_ns * clock.ticks_per_ns;
  std::uint64_t due = ticks_before();
  for (std::uint64_t seq = 1; seq <= row.messages; ++seq) {
    const std::string& message = messages[seq * 7 % messages.size()];
    due += static_cast<std::uint64_t>(pace);
    while (ticks_before() < due) continue;
    just_encoded = message;  // in the cache, like a session's message when it reaches the store
    const std::uint64_t before = ticks_before();
    const bool taken = subject->append(seq, just_encoded);
    const std::uint64_t after = ticks_after();
    kept[seq] = taken;
    histogram.record(static_cast<std::uint64_t>(clock.ns_between(before, after, own_cost)));
    // After a stall the schedule continues from now, so that a stall is one sample, not many.
    if (after > due) due = std::max(due, after - static_cast<std::uint64_t>(pace));
  }
  row.ns.add(histogram);
  row.medians.push_back(static_cast<double>(histogram.percentile(50)));
  for (std::uint64_t seq = 1; seq <= row.messages; ++seq) {
    if (!kept[seq]) {
      ++row.refused;
    } else if (subject->read(seq) != messages[seq * 7 % messages.size()]) {
      throw WrongAnswerError(row.name + " gives back another message " + std::to_string(seq));
    }
  }
  subject.reset();
  fs::remove_all(folder);
}

void print(const std::vector<Row>& rows) {
  std::printf("%-36s %9s %9s %9s %11s %9s %9s\n", "append, ns", "p50", "p99", "p99.9", "max", "+- p50", "refused");
  for (const Row& row : rows) {
    const auto [low, high] = std::ranges::minmax(row.medians);
    std::printf("%-36s %9llu %9llu %9llu %11llu %9.0f %9llu\n", row.name.c_str(),
                static_cast<unsigned long long>(row.ns.percentile(50)),
                static_cast<unsigned long long>(row.ns.percentile(99)),
                static_cast<unsigned long long>(row.ns.percentile(99.9)), static_cast<unsigned long long>(row.ns.max()),
                (high - low) / 2, static_cast<unsigned long long>(row.refused));
  }
}

int run(Options options) {
  const ScratchFolder below{"store", options.folder};
  options.folder = below.path();
  const CycleClock clock = calibrate_clock();
  const double own_cost = own_cost_ticks();
  const std::vector<std::string> messages = make_messages(options.seed);
  std::vector<Row> rows = make_rows(options);
  const CpuSet allowed = CpuAffinity::get();
  const unsigned core = run_on_core(options.core);
  options.other_cores = allowed.size() > 1 ? allowed - CpuSet{static_cast<int>(core)} : allowed;
  std::printf("machine    %s; pinned to core %u\n", describe(this_machine()).c_str(), core);
  std::printf("method     %u interleaved repeats of %u messages of 200 to 256 bytes, one every %.1f us; seed %llu\n",
              options.repeats, options.messages, options.pace_ns / 1000, static_cast<unsigned long long>(options.seed));
  std::printf("files      %s; every message is read back and compared\n\n", below.describe().c_str());
  std::vector<CommitRow> commits = commit_rows();
  const auto wanted = [&](std::string_view group) { return options.only.empty() || options.only == group; };
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    for (Row& row : rows) {
      if (wanted("append")) run_once(row, options, messages, clock, own_cost);
    }
    for (CommitRow& row : commits) {
      if (wanted("commits")) run_commits(row, {options.commit_seconds, options.folder, options.other_cores, messages});
    }
  }
  if (wanted("append")) print(rows);
  if (wanted("commits")) print_commits(commits);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  bool quick = false;
  std::string folder;
  const nfx::cli::Command program{
      .name = "bench_store",
      .summary = "Cost of storing a message for the thread that sends it, and messages per second that become durable",
      .options = {repeats_option(options.repeats),
                  {.names = "--messages",
                   .target = &options.messages,
                   .help = "Messages of a repeat",
                   .range = {{1000, 10'000'000}}},
                  {.names = "--pace-ns",
                   .target = &options.pace_ns,
                   .help = "Nanoseconds from one message to the next"},
                  {.names = "--commit-seconds",
                   .target = &options.commit_seconds,
                   .help = "Seconds of each row of commits",
                   .range = {{0.01, 60}}},
                  {.names = "--only",
                   .target = &options.only,
                   .help = "One group of rows",
                   .one_of = {"append", "commits"},
                   .default_text = "all"},
                  seed_option(options.seed),
                  core_option(options.core),
                  folder_option(folder),
                  {.names = "--quick", .target = &quick, .help = "Two repeats of 20,000, commits for 0.1 s"}},
  };
  return run_program(program, argc, argv, [&] {
    options.folder = folder;
    if (quick) options.repeats = 2, options.messages = 20'000, options.commit_seconds = 0.1;
    return run(options);
  });
}
