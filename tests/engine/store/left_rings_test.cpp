// Which rings of killed processes are needed, and which may be removed.
#include "store/left_rings.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "store/journal_reader.hpp"
#include "store/journal_store.hpp"
#include "store/memory_disk.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;
using test::MemoryDisk;
using test::session_name;
namespace fs = std::filesystem;

class LeftRings : public testing::Test {
 protected:
  LeftRings() {
    options_.directory = "/store";
    options_.ring_directory = "/ring";
    options_.segment_size = 64 * 1024;
    options_.ring_size = 64 * 1024;
    folder_ = session_folder(options_.directory, session_name);
  }
  void open() { store_.emplace(disk_, options_, session_name, UtcTime(1s)); }
  // Kills the process and removes its memory.
  void die() {
    disk_.die_now();
    store_.reset();
    disk_.kill();
  }
  LeftRing the_ring() {
    const auto rings = list_rings(disk_, options_.ring_directory);
    if (rings.size() != 1) {
      ADD_FAILURE() << rings.size() << " rings";
      return {};
    }
    return rings.front();
  }
  std::string refusal(const LeftRing& ring) {
    try {
      remove_ring(disk_, ring);
    } catch (const StoreError& error) {
      return error.what();
    }
    return "removed";
  }

  MemoryDisk disk_;
  JournalOptions options_;
  fs::path folder_;
  std::optional<JournalStore> store_;
};

TEST_F(LeftRings, say_whose_they_are_and_stay_while_their_process_lives) {
  open();
  const LeftRing ring = the_ring();
  EXPECT_EQ(ring.state, RingState::held);
  EXPECT_EQ(ring.folder, folder_.string());
  EXPECT_EQ(ring.pid, static_cast<std::uint64_t>(::getpid()));
  EXPECT_EQ(ring.size, 4096 + options_.ring_size);
  EXPECT_NE(refusal(ring).find("cannot remove "), std::string::npos);
  EXPECT_TRUE(disk_.exists(ring.path));
}

TEST_F(LeftRings, stay_while_they_have_what_the_files_lack) {
  open();
  ASSERT_TRUE(store_->append(SeqNum{1}, "a message"));
  die();
  const LeftRing ring = the_ring();
  EXPECT_EQ(ring.state, RingState::needed);
  EXPECT_GT(ring.lacking, 9U);
  EXPECT_NE(refusal(ring).find("cannot remove "), std::string::npos);
  open();
  EXPECT_EQ(store_->read(SeqNum{1}), "a message");
}

TEST_F(LeftRings, may_go_when_everything_in_them_is_in_the_files) {
  open();
  ASSERT_TRUE(store_->append(SeqNum{1}, "a message"));
  ASSERT_TRUE(store_->sync(UtcTime(2s)));
  die();
  const LeftRing ring = the_ring();
  EXPECT_EQ(ring.state, RingState::written);
  remove_ring(disk_, ring);
  EXPECT_FALSE(disk_.exists(ring.path));
  open();
  EXPECT_EQ(store_->read(SeqNum{1}), "a message");
}

TEST_F(LeftRings, stay_when_a_process_has_come_since_they_were_listed) {
  open();
  ASSERT_TRUE(store_->sync(UtcTime(2s)));
  die();
  const LeftRing ring = the_ring();
  ASSERT_EQ(ring.state, RingState::written);
  open();
  EXPECT_NE(refusal(ring).find("held by process"), std::string::npos) << refusal(ring);
  EXPECT_TRUE(disk_.exists(ring.path));
}

TEST_F(LeftRings, of_another_boot_are_useless_and_of_no_known_owner_unknown) {
  open();
  ASSERT_TRUE(store_->append(SeqNum{1}, "a message"));
  const fs::path path = ring_path(options_.ring_directory, folder_);
  std::string bytes(4096 + options_.ring_size, '\0');
  ASSERT_TRUE((*disk_.open(path, OpenMode::read))->read(0, bytes));
  store_.reset();
  disk_.crash(MemoryDisk::Keep::all);
  std::copy(bytes.begin(), bytes.end(), (*disk_.map_shared(path, bytes.size()))->bytes().begin());
  EXPECT_EQ(the_ring().state, RingState::useless);
  std::fill_n((*disk_.map_shared(path, bytes.size()))->bytes().begin(), 4096, '\0');
  const LeftRing ring = the_ring();
  EXPECT_EQ(ring.state, RingState::unknown);
  EXPECT_NE(ring.why.find("its session is not recorded"), std::string::npos) << ring.why;
  EXPECT_NE(refusal(ring).find("cannot remove "), std::string::npos);
}

TEST_F(LeftRings, that_lie_under_another_name_than_their_owners_are_unknown) {
  open();
  const fs::path path = ring_path(options_.ring_directory, folder_);
  std::string bytes(4096 + options_.ring_size, '\0');
  ASSERT_TRUE((*disk_.open(path, OpenMode::read))->read(0, bytes));
  store_.reset();
  const fs::path other = fs::path{options_.ring_directory} / "nexusfix-0123456789abcdef.ring";
  std::copy(bytes.begin(), bytes.end(), (*disk_.map_shared(other, bytes.size()))->bytes().begin());
  const LeftRing ring = the_ring();
  EXPECT_EQ(ring.state, RingState::unknown);
  EXPECT_NE(ring.why.find("its name"), std::string::npos) << ring.why;
}

}  // namespace
}  // namespace nfx
