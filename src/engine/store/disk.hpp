// The file system operations of a journal. An interface, so that tests can simulate torn writes, lost writes, full
// disks and errors.
// Thread: any one at a time per file. Cost: a virtual call around a system call; never on the thread that serves
// sessions, except to read back messages that are no longer in memory. Errors: DiskError, which names operation and
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
  int code = 0;           // an errno value; 0: `operation` is the whole text
  std::string operation;  // the failed operation and its path: "write /var/lib/x/00000001.nfxj"

  // "cannot write /var/lib/x/00000001.nfxj: No space left on device"
  [[nodiscard]] std::string text() const;
};

template <class T>
using DiskResult = std::expected<T, DiskError>;

// An open file. Closed by the destructor.
class DiskFile {
 public:
  virtual ~DiskFile() = default;
  [[nodiscard]] virtual DiskResult<std::uint64_t> size() = 0;
  // Returns the number of bytes read, which is less than requested only at the end of the file.
  [[nodiscard]] virtual DiskResult<std::size_t> read(std::uint64_t offset, std::span<char> into) = 0;
  // Writes all bytes or returns an error; after an error any part may have been written.
  [[nodiscard]] virtual DiskResult<void> write(std::uint64_t offset, std::span<const char> bytes) = 0;
  [[nodiscard]] virtual DiskResult<void> truncate(std::uint64_t size) = 0;
  // Makes the file at least `size` bytes long and allocates its blocks, so that later writes to them cannot meet a full
  // disk. Existing content is kept, new bytes are zero. Durable with the next sync. After an error the file may have
  // grown partly.
  [[nodiscard]] virtual DiskResult<void> reserve(std::uint64_t size) = 0;
  // fdatasync: on success, all earlier writes are durable. After an error their state is unknown, and a second sync
  // does not report it, because the kernel forgets the failure.
  [[nodiscard]] virtual DiskResult<void> sync() = 0;
};

enum class OpenMode : std::uint8_t {
  read,    // must exist
  write,   // must exist
  create,  // must not exist; mode 0600
};

// Memory that outlives the process: pages of a shared memory file of fixed size. After `bytes` follows a second mapping
// of all but its first page, so that a range beyond the end continues at the second page: a ring without a seam after a
// header page. Only pages that provide() has allocated, in this process or the one that created the file, may be
// touched. Touching others kills the process if no memory is left.
class SharedMemory {
 public:
  virtual ~SharedMemory() = default;
  [[nodiscard]] virtual std::span<char> bytes() noexcept = 0;  // header page and ring; the second mapping follows it
  [[nodiscard]] virtual bool fresh() const noexcept = 0;       // newly created: all zero, no page allocated
  // Allocates the pages of bytes() from `begin` to `end`, which no thread uses yet, and maps them in both views, so
  // that no access causes a page fault. Thread: any one; others may use other pages meanwhile.
  [[nodiscard]] virtual DiskResult<void> provide(std::size_t begin, std::size_t end) = 0;
};

enum class FolderKind : std::uint8_t {
  configured,  // named by an operator: may be a symbolic link, and its files are not checked
  own,         // created by us: a symbolic link is refused, and all its files are checked
};

class Disk {
 public:
  virtual ~Disk() = default;
  [[nodiscard]] virtual DiskResult<std::unique_ptr<DiskFile>> open(const std::filesystem::path& path,
                                                                   OpenMode mode) = 0;
  [[nodiscard]] virtual bool exists(const std::filesystem::path& path) = 0;
  // Sorted names, without the folders "." and "..".
  [[nodiscard]] virtual DiskResult<std::vector<std::string>> list(const std::filesystem::path& folder) = 0;
  // Refuses (EPERM) a folder that is owned by another user, except root, that others may write to, or that others may
  // replace because of a parent folder. Changes files in it that others may open to mode 0600, and returns a line for
  // each. Returns an error that names the fix if something cannot be made safe.
  [[nodiscard]] virtual DiskResult<std::vector<std::string>> secure_folder(const std::filesystem::path& folder,
                                                                           FolderKind kind) = 0;
  // Creates it with its parents, mode 0700; no error if it exists.
  [[nodiscard]] virtual DiskResult<void> make_folder(const std::filesystem::path& folder) = 0;
  [[nodiscard]] virtual DiskResult<void> rename(const std::filesystem::path& from, const std::filesystem::path& to) = 0;
  [[nodiscard]] virtual DiskResult<void> remove(const std::filesystem::path& path) = 0;
  // Removes an empty folder; the error for a non-empty one has code ENOTEMPTY.
  [[nodiscard]] virtual DiskResult<void> remove_folder(const std::filesystem::path& folder) = 0;
  // Makes file creations, renames and removals in this folder durable.
  [[nodiscard]] virtual DiskResult<void> sync_folder(const std::filesystem::path& folder) = 0;
  // Takes the lock file `path` until the result is destroyed or the process ends, however it ends. If it is already
  // held, the error has code EWOULDBLOCK and its text names the holder's pid. The holder may remove the file.
  [[nodiscard]] virtual DiskResult<std::unique_ptr<DiskFile>> lock(const std::filesystem::path& path) = 0;
  // Opens or creates it; `size` includes the header page (a page and a power of two of pages). A file of another size,
  // owner or kind is an error. `unmap` keeps the file; remove() deletes it.
  [[nodiscard]] virtual DiskResult<std::unique_ptr<SharedMemory>> map_shared(const std::filesystem::path& path,
                                                                             std::size_t size) = 0;
  // Whether some process has this shared memory mapped now.
  [[nodiscard]] virtual DiskResult<bool> is_mapped(const std::filesystem::path& path) = 0;
  // Identifies a boot of the machine. Shared memory from another boot must not be trusted.
  [[nodiscard]] virtual std::string boot_id() = 0;
};

// The real file system. Opens files close-on-exec, and never through a symbolic link.
[[nodiscard]] Disk& posix_disk();

}  // namespace nfx
