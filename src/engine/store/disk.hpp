// What a journal needs of a file system: a seam, so that tests can tear, drop, fill and fail what a real disk keeps.
// Thread: any one at a time per file. Cost: a virtual call around a system call; never on the thread that serves
// sessions, but for reading back messages that are no longer in memory. Errors: DiskError, which names operation and
// path. Lifetime: a Disk outlives its files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nexusfix/base/language.hpp"

namespace nfx {

struct DiskError {
  int code = 0;           // an errno value
  std::string operation;  // what failed, with its path: "write /var/lib/x/00000001.nfxj"

  // "write /var/lib/x/00000001.nfxj: No space left on device"
  [[nodiscard]] std::string text() const;
};

template <class T>
using DiskResult = std::expected<T, DiskError>;

// An open file. Closed by the destructor.
class DiskFile {
 public:
  virtual ~DiskFile() = default;
  [[nodiscard]] virtual DiskResult<std::uint64_t> size() = 0;
  // Bytes read: fewer than requested at the end of the file alone.
  [[nodiscard]] virtual DiskResult<std::size_t> read(std::uint64_t offset, std::span<char> into) = 0;
  // All or an error; after an error any part may have been written.
  [[nodiscard]] virtual DiskResult<void> write(std::uint64_t offset, std::span<const char> bytes) = 0;
  [[nodiscard]] virtual DiskResult<void> truncate(std::uint64_t size) = 0;
  // The file has at least `size` bytes and the blocks for them: no write to them meets a full disk. What it had stays,
  // new bytes are zero. Durable with the next sync. After an error it may have grown by a part.
  [[nodiscard]] virtual DiskResult<void> reserve(std::uint64_t size) = 0;
  // fdatasync: what was written before is on the medium when this returns without an error. After an error its state is
  // unknown, and a second sync does not report it: the kernel does not remember what failed.
  [[nodiscard]] virtual DiskResult<void> sync() = 0;
};

enum class OpenMode : std::uint8_t {
  read,    // must exist
  write,   // must exist
  create,  // must not exist; mode 0600
};

// Memory that outlives the process: pages of a shared memory file, of a size that never changes. `bytes` is followed by
// a second view of all but its first page, so that a range that runs beyond the end continues at the second page: a
// ring without a seam after a header page. Only pages that provide() has allocated, now or in the process that made
// them, may be touched: an access to others ends the process when no memory is left.
class SharedMemory {
 public:
  virtual ~SharedMemory() = default;
  [[nodiscard]] virtual std::span<char> bytes() noexcept = 0;  // header page and ring; the second view follows it
  [[nodiscard]] virtual bool fresh() const noexcept = 0;       // made now: all zero, and no page allocated
  // Allocates the pages of bytes() from `begin` to `end`, which no thread uses yet, and maps them in both views, so
  // that no access meets a page fault. Thread: any one; others may use other pages meanwhile.
  [[nodiscard]] virtual DiskResult<void> provide(std::size_t begin, std::size_t end) = 0;
};

enum class FolderKind : std::uint8_t {
  configured,  // an operator named it: it may be a symbolic link, and its files are not checked
  own,         // made by us: a symbolic link is refused, and all its files are checked
};

class Disk {
 public:
  virtual ~Disk() = default;
  [[nodiscard]] virtual DiskResult<std::unique_ptr<DiskFile>> open(const std::filesystem::path& path,
                                                                   OpenMode mode) = 0;
  [[nodiscard]] virtual bool exists(const std::filesystem::path& path) = 0;
  // Names, sorted; not the folders "." and "..".
  [[nodiscard]] virtual DiskResult<std::vector<std::string>> list(const std::filesystem::path& folder) = 0;
  // Refuses (EPERM) a folder that another user but root owns, that others may write to, or that one of the folders
  // above it lets others replace. A file in it that others may open gets mode 0600; a line for each is returned. What
  // cannot be made safe is an error that names the fix.
  [[nodiscard]] virtual DiskResult<std::vector<std::string>> secure_folder(const std::filesystem::path& folder,
                                                                           FolderKind kind) = 0;
  // With its parents, mode 0700; no error when it is there.
  [[nodiscard]] virtual DiskResult<void> make_folder(const std::filesystem::path& folder) = 0;
  [[nodiscard]] virtual DiskResult<void> rename(const std::filesystem::path& from, const std::filesystem::path& to) = 0;
  [[nodiscard]] virtual DiskResult<void> remove(const std::filesystem::path& path) = 0;
  // An empty one; the error of one that is not has code ENOTEMPTY.
  [[nodiscard]] virtual DiskResult<void> remove_folder(const std::filesystem::path& folder) = 0;
  // Makes creations, renames and removals in this folder durable.
  [[nodiscard]] virtual DiskResult<void> sync_folder(const std::filesystem::path& folder) = 0;
  // Takes the lock file `path` until the result is destroyed or the process ends, however it ends. The error of one
  // that is held already has code EWOULDBLOCK and its text names the holder's pid. Its holder may remove the file.
  [[nodiscard]] virtual DiskResult<std::unique_ptr<DiskFile>> lock(const std::filesystem::path& path) = 0;
  // Opens or makes it, header page included in `size` (a page and a power of two of pages). One of another size, owner
  // or kind is an error. `unmap` leaves the file; remove() takes it away.
  [[nodiscard]] virtual DiskResult<std::unique_ptr<SharedMemory>> map_shared(const std::filesystem::path& path,
                                                                             std::size_t size) = 0;
  // Whether some process has this shared memory mapped now.
  [[nodiscard]] virtual DiskResult<bool> is_mapped(const std::filesystem::path& path) = 0;
  // Distinguishes boots of the machine: shared memory of another boot is not to be trusted.
  [[nodiscard]] virtual std::string boot_id() = 0;
};

// The real one. Files are opened close-on-exec, and never through a symbolic link.
[[nodiscard]] Disk& posix_disk();

}  // namespace nfx
