// Groups: pinned before anything is created, memory on the right node, and a program that moves pages between two
// threads over real rails.
#include <atomic>
#include <thread>

#include "fabric/fabric_testing.hpp"
#include "nexusfix/fabric/groups.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"

namespace nfx::fabric::testing {
namespace {

TEST(region, has_the_size_the_node_and_memory_that_nothing_can_cut_off) {
  Region region = Region::make({.use = "test", .size = 5000}).value();
  EXPECT_EQ(region.size(), 8192U);
  EXPECT_EQ(region.page_kind(), PageKind::small);
  EXPECT_NE(::ftruncate(region.file(), 4096), 0);
  region.data()[8191] = std::byte{1};
  const Region large = Region::make({.use = "test", .size = (2 << 20) + 1}).value();
  EXPECT_NE(large.page_kind(), PageKind::small);
  if (large.node() >= 0) {
    const auto same = Region::make({.use = "test", .size = 4096, .node = large.node()});
    ASSERT_TRUE(same) << same.error();
    EXPECT_EQ(same->node(), large.node());
    const auto nowhere = Region::make({.use = "test", .size = 4096, .node = 1000});
    ASSERT_FALSE(nowhere);
    EXPECT_NE(nowhere.error().find("node 1000"), std::string::npos) << nowhere.error();
  }
  EXPECT_FALSE(Region::make({.use = "test", .size = 0}));
}

struct Nothing final : GroupProgram {
  std::size_t step(MonotonicTime) override { return 0; }
};

TEST(group_thread, is_pinned_before_its_program_is_made) {
  const int cpu = CpuAffinity::get().last();
  CpuSet seen;
  GroupThread group{{.name = "nfx-rail-0", .cpus = {cpu}, .idle = IdleMode::block}, [&seen] {
                      seen = CpuAffinity::get();
                      return std::make_unique<Nothing>();
                    }};
  EXPECT_EQ(seen, CpuSet{cpu});
}

TEST(group_thread, reports_cpus_that_it_cannot_have_and_what_its_program_throws) {
  const auto make = [] { return std::make_unique<Nothing>(); };
  EXPECT_THROW((GroupThread{{.cpus = {CpuSet::max_cpus - 1}}, make}), std::runtime_error);
  const auto fail = []() -> std::unique_ptr<GroupProgram> { throw std::logic_error("no rail"); };
  EXPECT_THROW((GroupThread{{.cpus = {}, .idle = IdleMode::block}, fail}), std::logic_error);
}

// Answers every record, and sends pages.
class Worker final : public GroupProgram, public Recorder {
 public:
  Worker(std::size_t end, const std::vector<RailAddress>& shm, const std::vector<RailAddress>& tcp)
      : memory(make_region(64 * 4096)) {
    std::vector<RailRef> rails;
    for (const RailAddress& each : shm) {
      shm_.push_back(ShmRail::make({.address = each}).value());
      rails.emplace_back(*shm_.back());
    }
    for (const RailAddress& each : tcp) {
      tcp_.push_back(TcpRail::make({.address = each}).value());
      rails.emplace_back(*tcp_.back());
    }
    LinkOptions options;
    options.session = end + 1;
    link = std::make_unique<Link>(rails, options, *this);
    const PageRange range{.region = link->add_region(memory).value(), .page_size = 4096, .pages = 64};
    if (end == 0) {
      for (std::size_t i = 0; i < memory.size(); ++i) memory.data()[i] = static_cast<std::byte>(i * 13 + i / 4096);
      EXPECT_TRUE(link->send(TransferId{1}, range));
    } else {
      EXPECT_TRUE(link->receive(TransferId{1}, range));
    }
  }

  std::size_t step(MonotonicTime now) override { return link->poll(now); }
  void on_sent(TransferId, TransferResult result) override { ended = static_cast<int>(result) + 1; }
  void on_received(TransferId, TransferResult result) override { ended = static_cast<int>(result) + 1; }

  Region memory;

 private:
  std::vector<std::unique_ptr<ShmRail>> shm_;
  std::vector<std::unique_ptr<TcpRail>> tcp_;

 public:
  std::unique_ptr<Link> link;  // destroyed before its rails
  std::atomic<int> ended{0};
};

TEST(group_thread, two_groups_move_pages_over_shared_memory_and_a_socket) {
  const std::string path = fresh_path();
  std::vector<std::unique_ptr<GroupThread>> groups;
  for (std::size_t end = 0; end < 2; ++end) {
    const RailEnd role = end == 0 ? RailEnd::listens : RailEnd::connects;
    groups.push_back(std::make_unique<GroupThread>(
        GroupOptions{.name = "nfx-rail-" + std::to_string(end), .cpus = {}, .idle = IdleMode::yield}, [&, end] {
          return std::make_unique<Worker>(end, std::vector<RailAddress>{{role, path + "a"}, {role, path + "b"}},
                                          std::vector<RailAddress>{{role, path + "c"}});
        }));
  }
  auto& sender = dynamic_cast<Worker&>(groups[0]->program());
  auto& receiver = dynamic_cast<Worker&>(groups[1]->program());
  const auto limit = std::chrono::steady_clock::now() + 10min;
  while ((sender.ended == 0 || receiver.ended == 0) && std::chrono::steady_clock::now() < limit)
    std::this_thread::yield();
  for (auto& group : groups) group->stop();
  EXPECT_EQ(sender.ended, 1 + static_cast<int>(TransferResult::complete));
  EXPECT_EQ(receiver.ended, 1 + static_cast<int>(TransferResult::complete));
  EXPECT_EQ(std::memcmp(sender.memory.data(), receiver.memory.data(), sender.memory.size()), 0);
}

}  // namespace
}  // namespace nfx::fabric::testing
