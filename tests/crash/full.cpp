// Fills the disk of one party: orders are refused, none is lost, and trading resumes when there is space again.
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "modes.hpp"

namespace nfx::crash {
namespace {

constexpr std::uint64_t mib = 1024 * 1024;

// A separate file system whose size the test sets. Removed with this object.
class SmallDisk {
 public:
  SmallDisk(std::filesystem::path folder, std::uint64_t size) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    if (::mount("nfx-crash", folder_.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, wish(size).c_str()) != 0)
      throw std::system_error{errno, std::generic_category(), "mount a tmpfs at " + folder_.string()};
  }
  ~SmallDisk() { ::umount2(folder_.c_str(), MNT_DETACH); }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  [[nodiscard]] std::uint64_t used() const {
    struct statvfs facts{};
    if (::statvfs(folder_.c_str(), &facts) != 0) throw std::system_error{errno, std::generic_category(), "statvfs"};
    return (facts.f_blocks - facts.f_bfree) * facts.f_frsize;
  }
  // Sets the free space.
  void leave(std::uint64_t room) {
    const std::string size = wish(used() + room);
    if (::mount("nfx-crash", folder_.c_str(), "tmpfs", MS_REMOUNT | MS_NOSUID | MS_NODEV, size.c_str()) != 0)
      throw std::system_error{errno, std::generic_category(), "resize the tmpfs at " + folder_.string()};
  }

 private:
  static std::string wish(std::uint64_t size) { return "mode=0700,size=" + std::to_string(size); }

  std::filesystem::path folder_;
};

void wait_until(Pair& pair, Word word, const char* what) {
  const Deadline deadline = in(std::chrono::minutes{10});
  while (!pair.heard(word)) {
    if (std::chrono::steady_clock::now() >= deadline) throw AuditFailure(what);
    wait_for_words(pair.exchange, pair.trader, deadline);
  }
}

}  // namespace

bool run_full(const CrashOptions& options, std::string& why_not) {
  constexpr std::uint64_t plenty = 64 * mib, little = 4 * mib;
  if (::geteuid() != 0) {
    why_not = "filling a disk needs one of its own, and only root may mount it";
    return false;
  }
  Random random{options.seed};
  Pair pair{options, random, true};
  std::unique_ptr<SmallDisk> venue, desk;
  try {
    venue = std::make_unique<SmallDisk>(pair.exchange_options.folder / "disk", little);
    desk = std::make_unique<SmallDisk>(pair.trader_options.folder / "disk", little);
  } catch (const std::system_error& error) {
    why_not = error.what();
    return false;
  }
  pair.exchange_options.store = pair.exchange_options.folder / "disk" / "store";
  pair.trader_options.store = pair.trader_options.folder / "disk" / "store";
  for (std::uint32_t cycle = 1; cycle <= options.cycles; ++cycle) {
    const bool at_exchange = random() % 2 == 0;
    SmallDisk& tight = at_exchange ? *venue : *desk;
    // Reports are short and orders long, so that the exchange's disk fills first only if the trader's is large.
    tight.leave(at_exchange ? mib : little);
    (at_exchange ? *desk : *venue).leave(plenty);
    pair.trader_options.orders = 4'000'000'000;
    pair.trader_options.text_size = at_exchange ? 0 : 1000;
    pair.start();
    pair.wait_for_logon();
    wait_until(pair, Word::store_trouble, "the disk is full and no session reports it");
    // Whether a send is refused depends on timing: a session that cannot store reads no answers either, and the trader
    // may only have a limited number of orders without one.
    tight.leave(plenty);
    wait_until(pair, Word::store_recovered, "the disk has space again and the session does not continue");
    pair.trader.stop(in(std::chrono::seconds{30}));
    pair.trader_options.orders = 30;
    const AuditCounts counts = pair.settle_and_audit();
    if (options.quiet) continue;
    std::printf("cycle %u: the %s disk was full; %llu orders, each executed and confirmed once; %llu sends refused\n",
                cycle, at_exchange ? "exchange's" : "trader's", static_cast<unsigned long long>(counts.orders),
                static_cast<unsigned long long>(counts.refused));
    std::fflush(stdout);
  }
  return true;
}

}  // namespace nfx::crash
