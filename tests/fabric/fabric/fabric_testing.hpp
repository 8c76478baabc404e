// Shared by the tests of the fabric: pairs of rails of every kind, and pairs of links over faulty rails in virtual
// time.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fabric/faulty_rail.hpp"
#include "nexusfix/fabric/link.hpp"
#include "nexusfix/fabric/rail.hpp"
#include "nexusfix/fabric/rail_kinds.hpp"

namespace nfx::fabric::testing {

using namespace std::chrono_literals;

inline Region make_region(std::uint64_t size) {
  return Region::make({.use = "test", .size = size, .huge_pages = false}).value();
}

inline std::string fresh_path() {
  static int count = 0;
  return (std::filesystem::temp_directory_path() /
          ("nfx-rail-" + std::to_string(::getpid()) + "-" + std::to_string(++count)))
      .string();
}

// Two connected ends with one region each; time advances by a millisecond with every step.
class RailPair {
 public:
  explicit RailPair(const std::string& kind) : kind_(kind) {
    for (Region& each : regions) each = make_region(1 << 20);
    if (kind == "faulty") {
      wire_ = std::make_unique<FaultyWire>(RailFaults{.delay_min = 1us, .delay_max = 5us});
      for (std::size_t end = 0; end < 2; ++end) ends_.emplace_back(wire_->end(end));
    } else if (kind == "shm") {
      const std::string path = fresh_path();
      for (const RailEnd end : {RailEnd::listens, RailEnd::connects}) {
        shm_.push_back(ShmRail::make({.address = {end, path}, .slots = 128}).value());
        ends_.emplace_back(*shm_.back());
      }
    } else {
      std::string place = kind == "tcp" ? "127.0.0.1:0" : fresh_path();
      for (const RailEnd end : {RailEnd::listens, RailEnd::connects}) {
        tcp_.push_back(TcpRail::make({.address = {end, place}, .slots = 64}).value());
        place = tcp_.front()->place();
        ends_.emplace_back(*tcp_.back());
      }
    }
    for (std::size_t end = 0; end < 2; ++end) EXPECT_EQ(ends_[end].add_region(regions[end]), RegionIndex{0});
  }

  [[nodiscard]] const RailRef& end(std::size_t index) const { return ends_[index]; }
  void step() {
    now_ += 1ms;
    if (wire_) wire_->step(now_);
    for (const RailRef& each : ends_) each.maintain(now_);
  }
  void open() {
    for (const RailRef& each : ends_) {
      if (each.state() == RailState::closed) each.open(now_);
    }
    for (int i = 0; i < 10000 && !is_up(); ++i) step();
    ASSERT_TRUE(is_up()) << kind_ << ": " << ends_[0].last_error() << "; " << ends_[1].last_error();
  }
  [[nodiscard]] bool is_up() const { return ends_[0].state() == RailState::up && ends_[1].state() == RailState::up; }

  // All completions of one end, until there are `count`.
  std::vector<Completion> take(std::size_t index, std::size_t count) {
    std::vector<Completion> all;
    for (int i = 0; i < 20000 && all.size() < count; ++i) {
      step();
      std::array<Completion, 16> space;
      const std::size_t got = ends_[index].poll(space);
      all.insert(all.end(), space.begin(), space.begin() + static_cast<std::ptrdiff_t>(got));
    }
    return all;
  }

  std::array<Region, 2> regions;

 private:
  std::string kind_;
  std::unique_ptr<FaultyWire> wire_;
  std::vector<std::unique_ptr<ShmRail>> shm_;
  std::vector<std::unique_ptr<TcpRail>> tcp_;
  std::vector<RailRef> ends_;
  MonotonicTime now_{1h};
};

// Remembers all reports.
struct Recorder : LinkEvents {
  std::vector<std::string> records;
  std::uint64_t acknowledged = 0;
  std::map<std::uint64_t, std::vector<std::uint32_t>> pages;
  std::map<std::uint64_t, TransferResult> received, sent;
  std::vector<std::uint64_t> requested;
  std::vector<std::pair<std::size_t, RailChange>> changes;
  std::optional<LossReason> loss;

  void on_record(RecordSeq seq, std::span<const std::byte> record) override {
    EXPECT_EQ(std::to_underlying(seq), records.size() + 1);
    records.emplace_back(reinterpret_cast<const char*>(record.data()), record.size());
  }
  void on_acknowledged(RecordSeq through) override { acknowledged = std::to_underlying(through); }
  void on_requested(TransferId id, const PageRange&) override { requested.push_back(std::to_underlying(id)); }
  void on_page(TransferId id, std::uint32_t page) override { pages[std::to_underlying(id)].push_back(page); }
  void on_received(TransferId id, TransferResult result) override {
    EXPECT_TRUE(received.emplace(std::to_underlying(id), result).second);
  }
  void on_sent(TransferId id, TransferResult result) override {
    EXPECT_TRUE(sent.emplace(std::to_underlying(id), result).second);
  }
  void on_rail(std::size_t rail, RailChange change) override { changes.emplace_back(rail, change); }
  void on_lost(LossReason reason) override { loss = reason; }
};

inline LinkOptions quick_options() {
  LinkOptions options;
  options.record_slots = 16;
  options.record_size = 200;
  options.transfers = 4;
  options.pages = 64;
  options.batch = 4;
  options.heartbeat = 2ms;
  options.silence = 10ms;
  options.write_deadline = 30ms;
  options.reopen_after = 3ms;
  options.lost_after = 100ms;
  return options;
}

// Two links over faulty wires.
class LinkPair {
 public:
  static constexpr std::uint32_t page_size = 1024;

  explicit LinkPair(std::size_t rails, const RailFaults& faults = {}, LinkOptions options = quick_options()) {
    for (std::size_t rail = 0; rail < rails; ++rail) {
      RailFaults each = faults;
      each.seed += rail;
      wires.emplace_back(each);
    }
    for (std::size_t end = 0; end < 2; ++end) {
      memory[end] = make_region(64 * page_size);
      std::vector<RailRef> refs;
      for (FaultyWire& wire : wires) refs.emplace_back(wire.end(end));
      options.session = end + 1;
      links.push_back(std::make_unique<Link>(refs, options, events[end]));
      EXPECT_EQ(links[end]->add_region(memory[end]), RegionIndex{1});
    }
    for (std::size_t i = 0; i < memory[0].size(); ++i) memory[0].data()[i] = static_cast<std::byte>(i * 7 + i / 251);
  }

  void step(bool both = true) {
    now += 20us;
    for (FaultyWire& wire : wires) wire.step(now);
    links[0]->poll(now);
    if (both) links[1]->poll(now);
  }
  template <class Condition>
  [[nodiscard]] bool until(Condition condition, Duration at_most = 2s) {
    for (const MonotonicTime end = now + at_most; now < end; step()) {
      if (condition()) return true;
    }
    return condition();
  }
  [[nodiscard]] bool come_up() {
    return until([this] { return links[0]->rails_up() == wires.size() && links[1]->rails_up() == wires.size(); });
  }
  [[nodiscard]] static PageRange range(std::uint32_t pages) {
    return {.region = RegionIndex{1}, .offset = 0, .page_size = page_size, .pages = pages};
  }
  void begin(std::uint64_t id, std::uint32_t pages) {
    ASSERT_TRUE(links[1]->receive(TransferId{id}, range(pages)));
    ASSERT_TRUE(links[0]->send(TransferId{id}, range(pages)));
  }
  [[nodiscard]] bool is_reported(std::uint64_t id) const {
    return events[0].sent.contains(id) && events[1].received.contains(id);
  }
  [[nodiscard]] bool is_whole(std::uint32_t pages) const {
    return std::memcmp(memory[0].data(), memory[1].data(), std::size_t{pages} * page_size) == 0;
  }

  std::array<Region, 2> memory;
  std::deque<FaultyWire> wires;
  std::array<Recorder, 2> events;
  std::vector<std::unique_ptr<Link>> links;
  MonotonicTime now{1h};
};

inline std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span{text}); }

}  // namespace nfx::fabric::testing
