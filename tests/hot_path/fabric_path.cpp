// Pages and records over the fabric's rails: the work of a group's polling thread for each.
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checks.hpp"
#include "nexusfix/fabric/link.hpp"
#include "nexusfix/fabric/rail_kinds.hpp"
#include "temporary_folder.hpp"

namespace nfx::test {
namespace {

using namespace std::chrono_literals;

constexpr fabric::PageRange whole{.region = fabric::RegionIndex{1}, .offset = 0, .page_size = 65536, .pages = 32};

// Begins the next transfer when one ends, and counts.
class FabricEnd final : public fabric::LinkEvents {
 public:
  FabricEnd(bool is_sender, const std::string& folder, bool by_tcp)
      : memory_(fabric::Region::make({.use = "hot-path", .size = std::uint64_t{32} * 65536}).value()) {
    const fabric::RailEnd end = is_sender ? fabric::RailEnd::listens : fabric::RailEnd::connects;
    std::vector<fabric::RailRef> rails;
    for (const char* name : {"/0", "/1"}) {
      if (by_tcp) {
        tcp_.push_back(fabric::TcpRail::make({.address = {end, folder + name}}).value());
        rails.emplace_back(*tcp_.back());
      } else {
        shm_.push_back(fabric::ShmRail::make({.address = {end, folder + name}}).value());
        rails.emplace_back(*shm_.back());
      }
    }
    fabric::LinkOptions options;
    options.session = is_sender ? 1 : 2;
    link = std::make_unique<fabric::Link>(rails, options, *this);
    static_cast<void>(link->add_region(memory_).value());
  }
  void on_record(fabric::RecordSeq, std::span<const std::byte>) override { ++records; }
  void on_received(fabric::TransferId id, fabric::TransferResult result) override {
    complete += result == fabric::TransferResult::complete ? 1 : 0;
    static_cast<void>(link->receive(fabric::TransferId{std::to_underlying(id) + 1}, whole).has_value());
  }
  void on_sent(fabric::TransferId id, fabric::TransferResult result) override {
    complete += result == fabric::TransferResult::complete ? 1 : 0;
    static_cast<void>(link->send(fabric::TransferId{std::to_underlying(id) + 1}, whole).has_value());
  }

  std::unique_ptr<fabric::Link> link;
  std::uint64_t records = 0;
  std::uint64_t complete = 0;

 private:
  fabric::Region memory_;
  std::vector<std::unique_ptr<fabric::ShmRail>> shm_;
  std::vector<std::unique_ptr<fabric::TcpRail>> tcp_;
};

void check_rails(bool by_tcp) {
  const TemporaryFolder folder;
  FabricEnd sender{true, folder.path().string(), by_tcp}, receiver{false, folder.path().string(), by_tcp};
  MonotonicTime now{1h};
  const auto poll = [&] {
    sender.link->poll(now);
    receiver.link->poll(now);
  };
  for (int i = 0; i < 100000 && (sender.link->rails_up() != 2 || receiver.link->rails_up() != 2); ++i) {
    now += 1ms;
    poll();
  }
  check(sender.link->rails_up() == 2 && receiver.link->rails_up() == 2, "the rails of the fabric come up");
  check(receiver.link->receive(fabric::TransferId{1}, whole).has_value() &&
            sender.link->send(fabric::TransferId{1}, whole).has_value(),
        "a transfer begins");
  for (int i = 0; i < 1000; ++i) poll();
  const std::vector<std::byte> record(200);
  const CallSet allowed = by_tcp ? CallSet{Call::recv, Call::send} : CallSet{};
  TrapCounts counts;
  const std::uint64_t complete = receiver.complete, records = receiver.records;
  {
    Trap trap{allowed};
    for (int i = 0; i < 20000; ++i) {
      static_cast<void>(sender.link->send_record(record).has_value());
      poll();
    }
    counts = trap.counts();
  }
  const std::string over = by_tcp ? " over a socket" : " over shared memory";
  check(receiver.complete > complete + 10 && receiver.records > records + 1000,
        ("transfers and records pass" + over).c_str());
  check_counts(counts, ("pages, records and acknowledgements" + over).c_str());
  {
    Trap trap{CallSet{Call::recv, Call::send}};
    for (int i = 0; i < 1000; ++i) {
      now += 1ms;
      poll();
    }
    counts = trap.counts();
  }
  check_counts(counts, ("heartbeats and deadlines of rails" + over).c_str());
}

}  // namespace

void check_fabric() {
  check_rails(false);
  check_rails(true);
}

}  // namespace nfx::test
