// A disk in memory that forgets unsynced data, as a real one may: for tests of crash recovery.
// Thread: one; shared memory may be used from any. Lifetime: outlives everything opened on it, including kills and
// crashes.
//
//   die_at(n)    (die_now: n is zero) the n-th change from now on and all later ones fail with EIO and change nothing:
//                the process is dead from there, and its further operations reach neither files nor shared memory
//   kill()       a new process: locks are free, files and shared memory are as at its death
//   crash(keep)  a new boot: shared memory is gone, and of the unsynced data nothing, all or a part remains; a part
//                may end within a write, at 512 bytes
//   provide_up_to(bytes)  memory of each ring, its header page included; ENOSPC beyond
//   fill(bytes)  the space for new bytes; ENOSPC beyond. fail_sync_after(n), fail_write_after(n): EIO, once
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/disk.hpp"

namespace nfx::test {

// The session whose journal is on the disk.
inline constexpr std::string_view session_name = "FIX.4.4:US->THEM";

class MemoryDisk final : public Disk {
 public:
  enum class Keep : std::uint8_t { none, all, part };

  static constexpr std::uint64_t never = UINT64_MAX;

  // Faults.

  void die_at(std::uint64_t changes) { life_ = changes; }
  [[nodiscard]] bool dead() const noexcept { return dead_; }
  [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }
  void die_now() {
    if (!dead_) die();
  }
  void fill(std::uint64_t bytes) { limit_ = bytes == never ? never : used() + bytes; }
  void provide_up_to(std::uint64_t bytes) { memory_ = bytes; }
  void fail_sync_after(std::uint64_t syncs) { syncs_left_ = syncs; }
  void fail_write_after(std::uint64_t writes) { writes_left_ = writes; }

  void kill() {
    die_now();
    for (auto& [path, ring] : frozen_) {
      const auto shared = shared_.find(path);
      if (shared != shared_.end()) std::copy(ring.begin(), ring.end(), shared->second->pages());
    }
    revive();
  }

  void crash(Keep keep, std::uint64_t seed = 0) {
    std::mt19937_64 random(seed);
    shared_.clear();
    ++boot_;
    std::size_t names_kept = keep == Keep::all ? journal_.size() : 0;
    if (keep == Keep::part) names_kept = random() % (journal_.size() + 1);
    for (std::size_t i = 0; i < names_kept; ++i) journal_[i].apply(durable_names_);
    journal_.clear();
    names_ = durable_names_;
    for (auto& [path, file] : names_) file->crash(keep, random);
    revive();
  }

  // The current bytes of a file, for tests that damage it.
  [[nodiscard]] std::string& bytes(const std::filesystem::path& path) {
    Bytes& bytes = *names_.at(path.string());
    bytes.touch(0, never);
    return bytes.now;
  }
  [[nodiscard]] std::uint64_t used() const {
    std::uint64_t sum = 0;
    for (const auto& [path, file] : names_) sum += file->now.size();
    return sum;
  }

  // Disk.

  DiskResult<std::unique_ptr<DiskFile>> open(const std::filesystem::path& path, OpenMode mode) override {
    const std::string name = path.string();
    const auto found = names_.find(name);
    if (mode != OpenMode::create) {
      if (const auto shared = shared_.find(name); shared != shared_.end()) {
        return std::make_unique<File>(*this, std::make_shared<Bytes>(std::string(shared->second->view())), name,
                                      life_id_);
      }
      if (found == names_.end()) return error(ENOENT, "open", name);
      return std::make_unique<File>(*this, found->second, name, life_id_);
    }
    if (found != names_.end()) return error(EEXIST, "create", name);
    if (!change()) return error(EIO, "create", name);
    auto bytes = std::make_shared<Bytes>();
    note({.added = name, .removed = {}, .bytes = bytes});
    return std::make_unique<File>(*this, bytes, name, life_id_);
  }

  bool exists(const std::filesystem::path& path) override {
    return names_.contains(path.string()) || shared_.contains(path.string()) || folders_.contains(path.string());
  }

  DiskResult<std::vector<std::string>> list(const std::filesystem::path& folder) override {
    if (!folders_.contains(folder.string())) return error(ENOENT, "list", folder.string());
    std::vector<std::string> found;
    const auto take = [&](const std::filesystem::path& path) {
      if (path.parent_path() == folder) found.push_back(path.filename().string());
    };
    for (const auto& [name, file] : names_) take(name);
    for (const auto& [name, memory] : shared_) take(name);
    for (const std::string& name : folders_) take(name);
    std::ranges::sort(found);
    return found;
  }

  // There are no other users here.
  DiskResult<std::vector<std::string>> secure_folder(const std::filesystem::path&, FolderKind) override {
    return std::vector<std::string>{};
  }
  // Folders are durable immediately.
  DiskResult<void> make_folder(const std::filesystem::path& folder) override {
    for (std::filesystem::path at = folder; !at.empty() && folders_.insert(at.string()).second;) at = at.parent_path();
    return {};
  }

  DiskResult<void> rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    const auto found = names_.find(from.string());
    if (found == names_.end()) return error(ENOENT, "rename", from.string());
    if (!change()) return error(EIO, "rename", from.string());
    note({.added = to.string(), .removed = from.string(), .bytes = found->second});
    return {};
  }

  DiskResult<void> remove(const std::filesystem::path& path) override {
    const std::string name = path.string();
    if (!names_.contains(name) && !shared_.contains(name)) return error(ENOENT, "remove", name);
    if (!change()) return error(EIO, "remove", name);
    if (shared_.erase(name) == 0) note({.added = {}, .removed = name, .bytes = nullptr});
    return {};
  }

  DiskResult<void> remove_folder(const std::filesystem::path& folder) override {
    const auto names = list(folder);
    if (!names) return error(ENOENT, "remove folder", folder.string());
    if (!names->empty()) return error(ENOTEMPTY, "remove folder", folder.string());
    if (!change()) return error(EIO, "remove folder", folder.string());
    folders_.erase(folder.string());
    return {};
  }

  DiskResult<void> sync_folder(const std::filesystem::path& folder) override {
    if (!change()) return error(EIO, "sync", folder.string());
    std::erase_if(journal_, [&](const NameChange& change) {
      const bool here = std::filesystem::path(change.added).parent_path() == folder ||
                        std::filesystem::path(change.removed).parent_path() == folder;
      if (here) change.apply(durable_names_);
      return here;
    });
    return {};
  }

  DiskResult<std::unique_ptr<DiskFile>> lock(const std::filesystem::path& path) override {
    const std::string name = path.string();
    if (locks_.contains(name)) {
      const std::string pid = std::to_string(::getpid());
      return error(EWOULDBLOCK, "lock", name + " (held by process " + pid + ")");
    }
    auto& bytes = names_[name];
    if (bytes == nullptr) bytes = std::make_shared<Bytes>();
    durable_names_[name] = bytes;
    bytes->now = std::to_string(::getpid());
    bytes->touch(0, never);
    locks_.insert(name);
    return std::make_unique<Lock>(*this, bytes, name, life_id_);
  }

  DiskResult<std::unique_ptr<SharedMemory>> map_shared(const std::filesystem::path& path, std::size_t size) override {
    const std::string name = path.string();
    const bool fresh = !shared_.contains(name);
    if (fresh && !change()) return error(EIO, "map", name);
    auto& pages = shared_[name];
    if (fresh) pages = std::make_shared<Pages>(size);
    if (pages->view().size() != size) return error(EINVAL, "map", name);
    return std::make_unique<Mapped>(*this, pages, fresh);
  }

  DiskResult<bool> is_mapped(const std::filesystem::path& path) override {
    const auto found = shared_.find(path.string());
    if (found == shared_.end()) return error(ENOENT, "open", path.string());
    return found->second.use_count() > 1;
  }

  std::string boot_id() override { return "boot " + std::to_string(boot_); }

 private:
  static constexpr std::size_t sector = 512;

  struct Bytes {
    std::string now;
    std::string synced;
    std::size_t dirty_from = 0;  // offset of the first unsynced byte
    std::size_t dirty_to = 0;

    void touch(std::size_t from, std::size_t to) {
      dirty_from = dirty_to == 0 ? from : std::min(dirty_from, from);
      dirty_to = std::max(dirty_to, to);
    }
    void sync() {
      synced.resize(now.size(), '\0');
      const std::size_t to = std::min(dirty_to, now.size());
      if (dirty_from < to) synced.replace(dirty_from, to - dirty_from, now, dirty_from, to - dirty_from);
      dirty_from = dirty_to = 0;
    }

    void crash(Keep keep, std::mt19937_64& random) {
      if (keep == Keep::none) now = synced;
      if (keep == Keep::part) {
        // Each unsynced sector has reached the medium or not, in any order.
        std::string left = synced;
        for (std::size_t at = 0; at < now.size(); at += sector) {
          const std::size_t size = std::min(sector, now.size() - at);
          if (random() % 2 == 0) continue;
          if (left.size() < at + size) left.resize(at + size, '\0');
          left.replace(at, size, now, at, size);
        }
        now = std::move(left);
      }
      synced = now;
      dirty_from = dirty_to = 0;
    }
  };

  using Names = std::map<std::string, std::shared_ptr<Bytes>>;

  struct NameChange {
    std::string added;
    std::string removed;
    std::shared_ptr<Bytes> bytes;

    void apply(Names& names) const {
      if (!removed.empty()) names.erase(removed);
      if (!added.empty()) names[added] = bytes;
    }
  };

  // A memory file, mapped as SharedMemory requires.
  class Pages {
   public:
    explicit Pages(std::size_t size) : size_(size) {
      const int fd = ::memfd_create("ring", MFD_CLOEXEC);
      void* place = ::mmap(nullptr, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(size)) != 0 || place == MAP_FAILED) {
        throw std::runtime_error("no shared memory for the test");
      }
      pages_ = static_cast<char*>(place);
      const std::size_t page = 4096;
      const void* first = ::mmap(pages_, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
      const void* second = ::mmap(pages_ + size, size - page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, page);
      ::close(fd);
      if (first == MAP_FAILED || second == MAP_FAILED) throw std::runtime_error("no shared memory for the test");
    }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    ~Pages() { ::munmap(pages_, 2 * size_); }
    [[nodiscard]] char* pages() noexcept { return pages_; }
    [[nodiscard]] std::string_view view() const noexcept { return {pages_, size_}; }

   private:
    std::size_t size_;
    char* pages_;
  };

  class Mapped final : public SharedMemory {
   public:
    Mapped(MemoryDisk& disk, std::shared_ptr<Pages> pages, bool fresh)
        : disk_(disk), pages_(std::move(pages)), fresh_(fresh) {}
    std::span<char> bytes() noexcept override { return {pages_->pages(), pages_->view().size()}; }
    [[nodiscard]] bool fresh() const noexcept override { return fresh_; }
    DiskResult<void> provide(std::size_t, std::size_t end) override {
      if (end > disk_.memory_) return error(ENOSPC, "allocate", "memory");
      return {};
    }

   private:
    MemoryDisk& disk_;
    std::shared_ptr<Pages> pages_;
    bool fresh_;
  };

  class File : public DiskFile {
   public:
    File(MemoryDisk& disk, std::shared_ptr<Bytes> bytes, std::string name, std::uint64_t life)
        : disk_(disk), bytes_(std::move(bytes)), name_(std::move(name)), life_(life) {}

    DiskResult<std::uint64_t> size() override { return bytes_->now.size(); }
    DiskResult<std::size_t> read(std::uint64_t offset, std::span<char> into) override {
      if (offset >= bytes_->now.size()) return std::size_t{0};
      return bytes_->now.copy(into.data(), into.size(), offset);
    }
    DiskResult<void> write(std::uint64_t offset, std::span<const char> bytes) override {
      if (disk_.writes_left_ != never && disk_.writes_left_-- == 0) {
        disk_.writes_left_ = never;
        return error(EIO, "write", name_);
      }
      if (!alive()) return error(EIO, "write", name_);
      const std::uint64_t grown = std::max<std::uint64_t>(bytes_->now.size(), offset + bytes.size());
      const std::uint64_t more = grown - bytes_->now.size();
      if (more > 0 && disk_.limit_ != never && disk_.used() + more > disk_.limit_) {
        return error(ENOSPC, "write", name_);
      }
      bytes_->now.resize(grown, '\0');
      bytes_->touch(offset, offset + bytes.size());
      std::copy(bytes.begin(), bytes.end(), bytes_->now.begin() + static_cast<std::ptrdiff_t>(offset));
      return {};
    }
    DiskResult<void> truncate(std::uint64_t size) override {
      if (!alive()) return error(EIO, "truncate", name_);
      bytes_->touch(std::min<std::size_t>(size, bytes_->now.size()), std::max<std::size_t>(size, bytes_->now.size()));
      bytes_->now.resize(size, '\0');
      return {};
    }
    DiskResult<void> reserve(std::uint64_t size) override {
      if (size <= bytes_->now.size()) return {};
      if (!alive()) return error(EIO, "reserve", name_);
      const std::uint64_t more = size - bytes_->now.size();
      if (disk_.limit_ != never && disk_.used() + more > disk_.limit_) return error(ENOSPC, "reserve", name_);
      bytes_->now.resize(size, '\0');
      return {};
    }
    DiskResult<void> sync() override {
      if (disk_.syncs_left_ != never && disk_.syncs_left_-- == 0) {
        disk_.syncs_left_ = never;
        return error(EIO, "sync", name_);
      }
      if (!alive()) return error(EIO, "sync", name_);
      bytes_->sync();
      return {};
    }

   protected:
    // Files of a dead process change nothing, even if another process is alive.
    [[nodiscard]] bool alive() { return life_ == disk_.life_id_ && disk_.change(); }

    MemoryDisk& disk_;
    std::shared_ptr<Bytes> bytes_;
    std::string name_;
    std::uint64_t life_;
  };

  class Lock final : public File {
   public:
    using File::File;
    ~Lock() override {
      if (life_ != disk_.life_id_) return;
      disk_.locks_.erase(name_);
      if (!disk_.dead_) bytes_->now.clear(), bytes_->touch(0, never);
    }
  };

  static std::unexpected<DiskError> error(int code, const std::string& what, const std::string& name) {
    return std::unexpected(DiskError{code, what + ' ' + name});
  }

  // Counts a change; false if the process is dead.
  [[nodiscard]] bool change() {
    if (dead_) return false;
    if (life_ == 0) {
      die();
      return false;
    }
    if (life_ != never) --life_;
    ++changes_;
    return true;
  }

  void die() {
    dead_ = true;
    frozen_.clear();
    for (const auto& [path, pages] : shared_) frozen_[path] = std::string(pages->view());
  }

  void revive() {
    dead_ = false;
    life_ = never;
    ++life_id_;
    locks_.clear();
    frozen_.clear();
    syncs_left_ = never;
    writes_left_ = never;
  }

  void note(const NameChange& change) {
    change.apply(names_);
    journal_.push_back(change);
  }

  Names names_;
  Names durable_names_;
  std::vector<NameChange> journal_;  // name changes that are not yet durable, in order
  std::set<std::string> folders_;
  std::map<std::string, std::shared_ptr<Pages>> shared_;
  std::map<std::string, std::string> frozen_;
  std::set<std::string> locks_;
  std::uint64_t life_ = never;
  std::uint64_t life_id_ = 0;
  std::uint64_t boot_ = 1;
  std::uint64_t changes_ = 0;
  std::uint64_t limit_ = never;
  std::uint64_t memory_ = never;
  std::uint64_t syncs_left_ = never;
  std::uint64_t writes_left_ = never;
  bool dead_ = false;
};

}  // namespace nfx::test
