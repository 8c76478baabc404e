// The two ends: each thread pins itself, creates its rails and their memory, connects, and then sends or receives.
#include "fabric/rail_bench_end.hpp"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/clocks.hpp"
#include "fabric/bench_rail.hpp"
#include "nexusfix/concurrent/idle_strategy.hpp"
#include "nexusfix/fabric/rail.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"

namespace nfx::app::fabric {
namespace {

using nfx::fabric::Completion;
using nfx::fabric::CompletionKind;
using nfx::fabric::RailState;
using nfx::fabric::Region;
using nfx::fabric::Write;
using nfx::fabric::WriteResult;

constexpr std::uint64_t region_bytes = std::uint64_t{16} << 20U;
constexpr std::uint32_t first_round_trip = 0xF0000000;  // numbers from here on are answered immediately
constexpr std::uint64_t stamp_of_end = 0x6e786661627269;

class Stopped : public std::runtime_error {
 public:
  Stopped() : std::runtime_error("another thread failed") {}
};

// One rail with its memory: `pages` pages, and one more for round trips.
struct Track {
  std::uint32_t index = 0;
  std::unique_ptr<BenchRail> rail;
  Region region;
  std::uint64_t pages = 0;
  std::vector<std::uint32_t> free_slots;
  // Used by the sender.
  std::uint64_t posted = 0;
  std::uint64_t credited = 0;
  std::uint64_t refused = 0;
  // Used by the receiver.
  std::uint64_t received = 0;
  std::uint64_t credit_sent = 0;
  std::vector<std::uint32_t> last_number;  // by page
  bool has_answer = false;                 // has an answer to send
  std::uint32_t answer = 0;
};

std::uint64_t pattern(std::uint32_t rail, std::uint64_t word) { return (word + 1) * 0x9E3779B97F4A7C15 + rail; }

void fill(Track& track) {
  for (std::uint64_t i = 0; i < track.region.size() / 8; ++i) {
    const std::uint64_t word = pattern(track.index, i);
    std::memcpy(track.region.data() + i * 8, &word, 8);
  }
}

class End {
 public:
  End(const BenchOptions& options, Shared& shared, const std::string& folder, Side side, std::uint32_t group)
      : options_(options), shared_(shared), folder_(folder), side_(side), group_(group), idle_(options.idle) {}

  void run() {
    pin();
    ThreadReport& report = shared_.groups[group_].threads[static_cast<std::size_t>(side_)];
    report.pinned_to = cpu_;
    make_tracks();
    connect();
    report.before = read_thread_stats();
    if (side_ == Side::sender) {
      send();
    } else {
      receive();
    }
    report.after = read_thread_stats();
  }

 private:
  void pin() {
    const std::vector<int> cpus = CpuAffinity::get().members();
    const std::size_t count = cpus.size();
    const std::size_t own = side_ == Side::receiver ? 1 : 0;
    switch (options_.pinning) {
      case Pinning::none: return;
      case Pinning::pair: cpu_ = cpus[group_ % count]; break;
      case Pinning::split: cpu_ = cpus[(2 * group_ + own) % count]; break;
      case Pinning::one: cpu_ = cpus[count - 1]; break;
    }
    if (const AffinityResult pinned = CpuAffinity::pin_to_core(cpu_); !pinned)
      throw std::runtime_error("cannot pin a thread: " + pinned.message());
  }

  void make_tracks() {
    tracks_.reserve(options_.rails);  // rails refer to regions by address, so the vector must not reallocate
    for (std::uint32_t r = group_; r < options_.rails; r += options_.groups) {
      Track track;
      track.index = r;
      track.pages = std::max<std::uint64_t>(2 * options_.window, region_bytes / options_.page_bytes);
      const std::uint64_t all = (track.pages + 1) * options_.page_bytes + options_.small_bytes;
      auto region = Region::make({.use = "fabric-bench", .size = all, .node = -1, .huge_pages = true});
      if (!region) throw std::runtime_error(region.error());
      track.region = std::move(*region);
      SharedRail& shared = shared_.rails[r];
      std::string place = folder_ + "/rail" + std::to_string(r);
      if (side_ == Side::sender) {
        wait_until([&] { return shared.is_listening.load(); });
        place = shared.place.data();
      }
      track.rail = make_bench_rail(options_.provider, side_ == Side::receiver, place);
      if (side_ == Side::receiver) {
        track.rail->place().copy(shared.place.data(), shared.place.size() - 1);
        shared.is_listening.store(true);
        track.last_number.assign(track.pages, 0);
        for (std::uint64_t i = 0; i < track.pages; ++i)
          track.last_number[i] = static_cast<std::uint32_t>(i - track.pages);
      } else {
        fill(track);
      }
      const std::uint32_t slots = track.rail->ref().limits().slots;
      for (std::uint32_t i = 0; i < slots; ++i) track.free_slots.push_back(i);
      tracks_.push_back(std::move(track));
      if (auto added = tracks_.back().rail->ref().add_region(tracks_.back().region); !added)
        throw std::runtime_error(added.error());
    }
  }

  void connect() {
    const MonotonicTime give_up = read_monotonic() + std::chrono::seconds{20};
    for (Track& track : tracks_) track.rail->ref().open(read_monotonic());
    for (Track& track : tracks_) {
      while (track.rail->ref().state() != RailState::up) {
        check_others();
        if (read_monotonic() > give_up || track.rail->ref().state() == RailState::closed)
          throw std::runtime_error("a rail does not connect: " + std::string{track.rail->ref().last_error()});
        for (Track& each : tracks_) each.rail->ref().maintain(read_monotonic());
        std::this_thread::yield();
      }
    }
    shared_.connected.fetch_add(1);
    wait_until([&] { return shared_.connected.load() == 2 * options_.groups; });
  }

  template <class Condition>
  void wait_until(const Condition& condition) const {
    while (!condition()) {
      check_others();
      std::this_thread::yield();
    }
  }
  void check_others() const {
    if (shared_.failed.load(std::memory_order_relaxed)) throw Stopped{};
  }

  void rest(std::size_t work) const {
    idle_.idle(work);
    if (work > 0 || options_.idle != IdleMode::block) return;
    const timespec pause{0, 50'000};
    ::nanosleep(&pause, nullptr);
  }

  // Work that is not needed in every iteration.
  void tend() {
    if (++turns_ % 1024 != 0) return;
    check_others();
    for (Track& track : tracks_) track.rail->ref().maintain(read_monotonic());
  }

  template <class Arrived>
  std::size_t poll(Track& track, const Arrived& arrived) {
    std::array<Completion, 32> out;
    const std::size_t count = track.rail->ref().poll(out);
    for (const Completion& each : std::span{out}.first(count)) {
      switch (each.kind) {
        case CompletionKind::done: track.free_slots.push_back(each.value); break;
        case CompletionKind::arrived: arrived(each); break;
        case CompletionKind::failed:
        case CompletionKind::down:
          throw std::runtime_error("rail " + std::to_string(track.index) +
                                   " ended: " + std::string{nfx::fabric::to_string(each.kind)} + ", error " +
                                   std::to_string(each.code));
      }
    }
    return count;
  }

  // The sender.

  void send() {
    if (options_.warm_up) {
      for (Track& track : tracks_) {
        while (track.posted == 0) serve_sender(track, 1);
      }
      answer_all();
      for (Track& track : tracks_) track.refused = 0;
    }
    std::vector<std::uint64_t> before;
    for (const Track& track : tracks_) before.push_back(track.posted);
    shared_.warm.fetch_add(1);
    wait_until([&] { return shared_.warm.load() == options_.groups; });
    const MonotonicTime begin = read_monotonic();
    const MonotonicTime end =
        begin + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(options_.seconds));
    for (std::uint32_t turn = 1; turn % 16 != 0 || read_monotonic() < end; ++turn) {
      std::size_t work = 0;
      for (Track& track : tracks_) work += serve_sender(track, options_.batch);
      rest(work);
      tend();
    }
    answer_all();
    SharedGroup& group = shared_.groups[group_];
    group.seconds = std::chrono::duration<double>(read_monotonic() - begin).count();
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
      SharedRail& rail = shared_.rails[tracks_[i].index];
      rail.pages = tracks_[i].posted - before[i];
      rail.refused = tracks_[i].refused;
      rail.all_pages = tracks_[i].posted;
    }
    group.sent.store(true);
    shared_.done.fetch_add(1);
    if (group_ != 0) return;
    wait_until([&] { return shared_.done.load() == options_.groups; });
    round_trips(shared_.page_ns, options_.page_bytes);
    round_trips(shared_.small_ns, options_.small_bytes);
    shared_.measured.store(true);
  }

  void take_credit(Track& track, const Completion& each) {
    // The low 32 bits of the number of all pages that arrived.
    const std::uint32_t more = each.value - static_cast<std::uint32_t>(track.credited);
    if (more > track.posted - track.credited) throw std::runtime_error("wrong answer: a credit for pages never sent");
    track.credited += more;
    if (options_.shared_counters) shared_.all_completed.fetch_add(more);
  }

  std::size_t serve_sender(Track& track, std::uint32_t batch) {
    std::size_t work = poll(track, [&](const Completion& each) { take_credit(track, each); });
    for (std::uint32_t i = 0; i < batch; ++i) {
      const bool full = track.free_slots.empty() || track.posted - track.credited >= options_.window;
      if (full || !post_page(track, i + 1 < batch)) {
        ++track.refused;
        if (options_.lazy) break;
        continue;
      }
      ++work;
    }
    return work;
  }

  bool post_page(Track& track, bool more) {
    const std::uint64_t page = track.posted % track.pages, offset = page * options_.page_bytes;
    std::byte* const bytes = track.region.data() + offset;
    const std::uint64_t end_stamp = track.posted ^ stamp_of_end;
    std::memcpy(bytes, &track.posted, 8);
    std::memcpy(bytes + options_.page_bytes - 8, &end_stamp, 8);
    const Write write{.local_offset = offset,
                      .remote_offset = offset,
                      .length = options_.page_bytes,
                      .number = static_cast<std::uint32_t>(track.posted),
                      .slot = track.free_slots.back(),
                      .more = more};
    const WriteResult result = track.rail->ref().try_write(write);
    if (result == WriteResult::failed)
      throw std::runtime_error("a write failed: " + std::string{track.rail->ref().last_error()});
    if (result == WriteResult::again) return false;
    track.free_slots.pop_back();
    ++track.posted;
    if (options_.shared_counters) shared_.all_posted.fetch_add(1);
    return true;
  }

  void answer_all() {
    for (Track& track : tracks_) {
      while (track.credited < track.posted) {
        std::size_t work = 0;
        for (Track& each : tracks_) work += poll(each, [&](const Completion& c) { take_credit(each, c); });
        rest(work);
        tend();
      }
    }
  }

  void round_trips(LatencyHistogram& into, std::uint32_t length) {
    Track& track = tracks_.front();
    const std::uint64_t offset = track.pages * options_.page_bytes;
    constexpr std::uint32_t unmeasured = 100;
    for (std::uint32_t i = 0; i < options_.round_trips + unmeasured; ++i) {
      const std::uint32_t number = first_round_trip + i;
      std::memcpy(track.region.data() + offset, &number, 4);
      const std::uint64_t begin = ticks();
      bool answered = false;
      const auto arrived = [&](const Completion& each) {
        if (each.value != number) throw std::runtime_error("wrong answer: the number differs from the write's");
        answered = true;
      };
      const Write write{.local_offset = offset,
                        .remote_offset = offset,
                        .length = length,
                        .number = number,
                        .slot = track.free_slots.back()};
      while (track.rail->ref().try_write(write) == WriteResult::again) poll(track, arrived);
      track.free_slots.pop_back();
      while (!answered) {
        rest(poll(track, arrived));
        tend();
      }
      if (i >= unmeasured) into.record((ticks() - begin) / 2);
      while (track.free_slots.empty()) poll(track, arrived);
    }
  }
  static std::uint64_t ticks() { return static_cast<std::uint64_t>(read_monotonic().time_since_epoch().count()); }

  // The receiver.

  void receive() {
    SharedGroup& group = shared_.groups[group_];
    while (!group.sent.load(std::memory_order_relaxed)) turn();
    const auto all_here = [&] {
      return std::ranges::all_of(
          tracks_, [&](const Track& track) { return track.received == shared_.rails[track.index].all_pages; });
    };
    while (!all_here()) turn();
    for (const Track& track : tracks_) compare(track);
    if (group_ == 0) {
      while (!shared_.measured.load(std::memory_order_relaxed)) turn();
    }
  }

  void turn() {
    std::size_t work = 0;
    for (Track& track : tracks_) work += serve_receiver(track);
    rest(work);
    tend();
  }

  std::size_t serve_receiver(Track& track) {
    const std::size_t work = poll(track, [&](const Completion& each) {
      if (each.value < first_round_trip) return take_page(track, each.value);
      track.has_answer = true;
      track.answer = each.value;
    });
    if (track.has_answer) track.has_answer = !write_number(track, track.answer);
    const std::uint64_t uncredited = track.received - track.credit_sent;
    if (uncredited > 0 && (work == 0 || uncredited >= std::max(1U, options_.window / 4)) &&
        write_number(track, static_cast<std::uint32_t>(track.received)))
      track.credit_sent = track.received;
    return work;
  }

  static bool write_number(Track& track, std::uint32_t number) {
    if (track.free_slots.empty()) return false;
    if (track.rail->ref().try_write({.number = number, .slot = track.free_slots.back()}) != WriteResult::ok)
      return false;
    track.free_slots.pop_back();
    return true;
  }

  void take_page(Track& track, std::uint32_t number) {
    const std::uint64_t page = number % track.pages;
    std::uint32_t& last = track.last_number[page];
    std::uint64_t begin_stamp = 0, end_stamp = 0;
    const std::byte* const bytes = track.region.data() + page * options_.page_bytes;
    std::memcpy(&begin_stamp, bytes, 8);
    std::memcpy(&end_stamp, bytes + options_.page_bytes - 8, 8);
    if (number - last != track.pages || begin_stamp != number || end_stamp != (number ^ stamp_of_end))
      throw std::runtime_error("wrong answer: page " + std::to_string(number) + " of rail " +
                               std::to_string(track.index) + " differs from the page sent, or came twice");
    last = number;
    ++track.received;
  }

  // Compares every page that arrived, except the stamps.
  void compare(const Track& track) const {
    const std::uint64_t used = std::min(track.pages, track.received);
    for (std::uint64_t page = 0; page < used; ++page) {
      const std::uint64_t offset = page * options_.page_bytes;
      for (std::uint64_t i = 8; i + 16 <= options_.page_bytes; i += 8) {
        if (offset % 8 != 0) break;
        std::uint64_t word = 0;
        std::memcpy(&word, track.region.data() + offset + i, 8);
        if (word != pattern(track.index, (offset + i) / 8))
          throw std::runtime_error("wrong answer: bytes of page " + std::to_string(page) + " differ");
      }
    }
  }

  const BenchOptions& options_;
  Shared& shared_;
  const std::string& folder_;
  const Side side_;
  const std::uint32_t group_;
  const IdleStrategy idle_;
  int cpu_ = -1;
  std::uint32_t turns_ = 0;
  std::vector<Track> tracks_;
};

}  // namespace

void run_end(const BenchOptions& options, Shared& shared, const std::string& folder, Side side) noexcept {
  std::vector<std::thread> threads;
  for (std::uint32_t g = 0; g < options.groups; ++g) {
    threads.emplace_back([&, g] {
      try {
        End{options, shared, folder, side, g}.run();
      } catch (const Stopped&) {
      } catch (const std::exception& error) {
        shared.fail(std::string{to_string(side)} + ", group " + std::to_string(g) + ": " + error.what());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace nfx::app::fabric
