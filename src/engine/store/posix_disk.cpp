// The real file system as a Disk.
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/error_text.hpp"
#include "base/private_files.hpp"
#include "nexusfix/base/assert.hpp"
#include "store/disk.hpp"

namespace nfx {

std::string DiskError::text() const { return code == 0 ? operation : "cannot " + operation + ": " + system_text(code); }

namespace {

namespace fs = std::filesystem;

constexpr std::size_t page_size = 4096;

std::unexpected<DiskError> error(int code, const char* what, const fs::path& path) {
  return std::unexpected(DiskError{code, std::string{what} + ' ' + path.string()});
}

std::unexpected<DiskError> error(const char* what, const fs::path& path) { return error(errno, what, path); }

template <class Call>
auto again_when_interrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// Owns a descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  int fd_;
};

class PosixFile : public DiskFile {
 public:
  PosixFile(Descriptor fd, fs::path path) : fd_(std::move(fd)), path_(std::move(path)) {}

  DiskResult<std::uint64_t> size() override {
    struct stat facts{};
    if (::fstat(fd_.get(), &facts) != 0) return error("stat", path_);
    return static_cast<std::uint64_t>(facts.st_size);
  }

  DiskResult<std::size_t> read(std::uint64_t offset, std::span<char> into) override {
    std::size_t done = 0;
    while (done < into.size()) {
      const auto got = again_when_interrupted([&] {
        return ::pread(fd_.get(), into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
      });
      if (got < 0) return error("read", path_);
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    NFX_ASSERT(done <= into.size());
    return done;
  }

  DiskResult<void> write(std::uint64_t offset, std::span<const char> bytes) override {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const auto put = again_when_interrupted([&] {
        return ::pwrite(fd_.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
      });
      if (put < 0) return error("write", path_);
      if (put == 0) return error(EIO, "write", path_);
      done += static_cast<std::size_t>(put);
    }
    return {};
  }

  DiskResult<void> truncate(std::uint64_t size) override {
    if (::ftruncate(fd_.get(), static_cast<off_t>(size)) != 0) return error("truncate", path_);
    return {};
  }

  DiskResult<void> reserve(std::uint64_t size) override {
    if (const int code = ::posix_fallocate(fd_.get(), 0, static_cast<off_t>(size)); code != 0) {
      return error(code, "reserve space for", path_);
    }
    return {};
  }

  DiskResult<void> sync() override {
    if (::fdatasync(fd_.get()) != 0) return error("sync", path_);
    return {};
  }

 private:
  Descriptor fd_;
  fs::path path_;
};

// A lock on the open file and on its folder, which the kernel releases however the process ends. The file contains the
// holder's pid; it is empty after an orderly end. Should somebody remove the file, the folder is still locked.
class LockFile final : public PosixFile {
 public:
  LockFile(Descriptor fd, Descriptor folder, fs::path path)
      : PosixFile(std::move(fd), std::move(path)), folder_(std::move(folder)) {}
  ~LockFile() override { (void)truncate(0); }

 private:
  Descriptor folder_;
};

// Holds the file open with a shared lock, which shows other processes that it is in use.
class PosixSharedMemory final : public SharedMemory {
 public:
  PosixSharedMemory(Descriptor fd, fs::path path, char* pages, std::size_t size, bool fresh)
      : fd_(std::move(fd)), path_(std::move(path)), pages_(pages), size_(size), fresh_(fresh) {}
  PosixSharedMemory(const PosixSharedMemory&) = delete;
  PosixSharedMemory& operator=(const PosixSharedMemory&) = delete;
  ~PosixSharedMemory() override { ::munmap(pages_, size_ + size_ - page_size); }
  std::span<char> bytes() noexcept override { return {pages_, size_}; }
  bool fresh() const noexcept override { return fresh_; }

  DiskResult<void> provide(std::size_t begin, std::size_t end) override {
    NFX_REQUIRE(begin <= end && end <= size_);
    begin = begin / page_size * page_size;
    end = (end + page_size - 1) / page_size * page_size;
    if (begin == end) return {};
    if (const int code = ::posix_fallocate(fd_.get(), static_cast<off_t>(begin), static_cast<off_t>(end - begin));
        code != 0) {
      return error(code, ("allocate " + std::to_string(end - begin) + " bytes of").c_str(), path_);
    }
    map_pages(pages_ + begin, end - begin);
    // The same pages in the second view, which begins with the second page.
    if (end > page_size) {
      const std::size_t from = std::max(begin, page_size);
      map_pages(pages_ + size_ - page_size + from, end - from);
    }
    return {};
  }

 private:
  // Fills the page table. If the kernel cannot, the first access to each page does.
  static void map_pages(char* pages, std::size_t size) noexcept {
#ifdef MADV_POPULATE_WRITE
    static_cast<void>(::madvise(pages, size, MADV_POPULATE_WRITE));
#else
    static_cast<void>(pages);
    static_cast<void>(size);
#endif
  }

  Descriptor fd_;
  fs::path path_;
  char* pages_;
  std::size_t size_;
  bool fresh_;
};

// Why a file must not be trusted as a ring; empty if it may be.
std::string what_is_wrong_with(const struct stat& facts) {
  if (!S_ISREG(facts.st_mode)) return " (not a regular file)";
  if (facts.st_uid != ::geteuid()) return " (it belongs to another user)";
  if ((facts.st_mode & 077) != 0) return " (others may open it; its mode must be 0600)";
  return {};
}

class PosixDisk final : public Disk {
 public:
  DiskResult<std::unique_ptr<DiskFile>> open(const fs::path& path, OpenMode mode) override {
    // Non-blocking, because opening a FIFO in a file's place would block.
    int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    switch (mode) {
      case OpenMode::read: flags |= O_RDONLY; break;
      case OpenMode::write: flags |= O_RDWR; break;
      case OpenMode::create: flags |= O_RDWR | O_CREAT | O_EXCL; break;
    }
    Descriptor fd(again_when_interrupted([&] { return ::open(path.c_str(), flags, 0600); }));
    if (fd.get() < 0) return error(mode == OpenMode::create ? "create" : "open", path);
    struct stat facts{};
    if (::fstat(fd.get(), &facts) != 0) return error("query", path);
    if (!S_ISREG(facts.st_mode))
      return std::unexpected(DiskError{EINVAL, "open " + path.string() + " (not a regular file)"});
    return std::make_unique<PosixFile>(std::move(fd), path);
  }

  bool exists(const fs::path& path) override {
    struct stat facts{};
    return ::lstat(path.c_str(), &facts) == 0;
  }

  DiskResult<std::vector<std::string>> list(const fs::path& folder) override {
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(folder.c_str()), ::closedir);
    if (stream == nullptr) return error("list", folder);
    std::vector<std::string> names;
    for (;;) {
      errno = 0;
      const dirent* const entry = ::readdir(stream.get());
      if (entry == nullptr) break;
      std::string name = entry->d_name;
      if (name != "." && name != "..") names.push_back(std::move(name));
    }
    if (errno != 0) return error("list", folder);
    std::ranges::sort(names);
    return names;
  }

  DiskResult<std::vector<std::string>> secure_folder(const fs::path& folder, FolderKind kind) override {
    FolderCheck check;
    switch (kind) {
      case FolderKind::configured: check.problem = folder_problem(folder, FolderLink::allowed); break;
      case FolderKind::own: check = make_files_private(folder); break;
    }
    if (!check.problem.empty()) return std::unexpected(DiskError{0, check.problem});
    return std::move(check.corrected);
  }

  DiskResult<void> make_folder(const fs::path& folder) override {
    if (folder.empty() || ::mkdir(folder.c_str(), 0700) == 0) return {};
    if (errno == ENOENT && folder.has_parent_path() && folder.parent_path() != folder) {
      if (auto made = make_folder(folder.parent_path()); !made) return made;
      if (::mkdir(folder.c_str(), 0700) == 0) return sync_folder(folder.parent_path());
    }
    if (errno != EEXIST) return error("make folder", folder);
    struct stat facts{};
    if (::stat(folder.c_str(), &facts) != 0) return error("stat", folder);
    if (!S_ISDIR(facts.st_mode)) return error(ENOTDIR, "make folder", folder);
    return {};
  }

  DiskResult<void> rename(const fs::path& from, const fs::path& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) return error(("rename " + from.string() + " to").c_str(), to);
    return {};
  }

  DiskResult<void> remove(const fs::path& path) override {
    if (::unlink(path.c_str()) != 0) return error("remove", path);
    return {};
  }

  DiskResult<void> remove_folder(const fs::path& folder) override {
    if (::rmdir(folder.c_str()) != 0) return error("remove folder", folder);
    return {};
  }

  DiskResult<void> sync_folder(const fs::path& folder) override {
    const Descriptor fd(again_when_interrupted(
        [&] { return ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
    if (fd.get() < 0) return error("open", folder);
    if (::fsync(fd.get()) != 0) return error("sync", folder);
    return {};
  }

  DiskResult<std::unique_ptr<DiskFile>> lock(const fs::path& path) override {
    Descriptor fd(
        again_when_interrupted([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600); }));
    if (fd.get() < 0) return error("lock", path);
    int locked = again_when_interrupted([&] { return ::flock(fd.get(), LOCK_EX | LOCK_NB); });
    if (locked != 0 && errno != EWOULDBLOCK) return error("lock", path);
    const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path{"."};
    Descriptor folder(
        again_when_interrupted([&] { return ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
    if (folder.get() < 0) return error("open", parent);
    // Some file systems, such as NFS, lock no folder: there the file alone counts.
    if (locked == 0 && again_when_interrupted([&] { return ::flock(folder.get(), LOCK_EX | LOCK_NB); }) != 0)
      locked = errno == EWOULDBLOCK ? -1 : 0;
    if (locked != 0) {
      char pid[24] = {};
      const auto size = ::pread(fd.get(), pid, sizeof pid - 1, 0);
      // The holder's file may have been removed; this one is new.
      const std::string holder =
          size > 0 ? "process " + std::string(pid, static_cast<std::size_t>(size)) : "another process";
      return error(EWOULDBLOCK, "lock", path.string() + " (held by " + holder + ")");
    }
    // The last holder removed the file after it was opened here; the next process would lock another file.
    struct stat facts{};
    if (::fstat(fd.get(), &facts) != 0) return error("stat", path);
    if (facts.st_nlink == 0)
      return error(EWOULDBLOCK, "lock", path.string() + " (another process removed it; try again)");
    auto file = std::make_unique<LockFile>(std::move(fd), std::move(folder), path);
    const std::string pid = std::to_string(::getpid());
    if (auto emptied = file->truncate(0); !emptied) return std::unexpected(emptied.error());
    if (auto written = file->write(0, pid); !written) return std::unexpected(written.error());
    return file;
  }

  DiskResult<std::unique_ptr<SharedMemory>> map_shared(const fs::path& path, std::size_t size) override {
    if (size < 2 * page_size || size % page_size != 0) return error(EINVAL, "map", path);
    Descriptor fd(
        again_when_interrupted([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600); }));
    if (fd.get() < 0) return error("open", path);
    // Refused only while is_mapped() checks. A file system without locks refuses nothing, and is_mapped() reports that.
    if (again_when_interrupted([&] { return ::flock(fd.get(), LOCK_SH | LOCK_NB); }) != 0 && errno == EWOULDBLOCK) {
      return error("map", path.string() + " (another process checks whether it is in use; try again)");
    }
    struct stat facts{};
    if (::fstat(fd.get(), &facts) != 0) return error("stat", path);
    if (const std::string wrong = what_is_wrong_with(facts); !wrong.empty()) {
      return error(EPERM, "map", path.string() + wrong);
    }
    const bool fresh = facts.st_size == 0;
    if (fresh) {
      if (::ftruncate(fd.get(), static_cast<off_t>(size)) != 0) return error("size", path);
    } else if (static_cast<std::uint64_t>(facts.st_size) != size) {
      return error(
          EINVAL, "map",
          path.string() + " (it has " + std::to_string(facts.st_size) + " bytes, not " + std::to_string(size) + ")");
    }
    return map_twice(std::move(fd), path, size, fresh);
  }

  DiskResult<bool> is_mapped(const fs::path& path) override {
    const Descriptor fd(
        again_when_interrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW); }));
    if (fd.get() < 0) return error("open", path);
    if (again_when_interrupted([&] { return ::flock(fd.get(), LOCK_EX | LOCK_NB); }) == 0) return false;
    if (errno == EWOULDBLOCK) return true;
    return error("lock", path);
  }

  std::string boot_id() override {
    static const std::string id = read_boot_id();
    return id;
  }

 private:
  std::string read_boot_id() {
    const auto file = open("/proc/sys/kernel/random/boot_id", OpenMode::read);
    if (!file) return {};
    char text[64];
    const auto size = (*file)->read(0, text);
    std::string id(text, size.value_or(0));
    while (!id.empty() && id.back() == '\n') id.pop_back();
    return id;
  }

  static DiskResult<std::unique_ptr<SharedMemory>> map_twice(Descriptor file, const fs::path& path, std::size_t size,
                                                             bool fresh) {
    NFX_ASSERT(size >= 2 * page_size && size % page_size == 0);  // the second view begins at a page
    const std::size_t second = size - page_size;
    void* const place = ::mmap(nullptr, size + second, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) return error("map", path);
    auto* const pages = static_cast<char*>(place);
    const int fd = file.get();
    auto memory = std::make_unique<PosixSharedMemory>(std::move(file), path, pages, size, fresh);
    constexpr int access = PROT_READ | PROT_WRITE;
    constexpr int kind = MAP_SHARED | MAP_FIXED;
    if (::mmap(pages, size, access, kind, fd, 0) == MAP_FAILED ||
        ::mmap(pages + size, second, access, kind, fd, page_size) == MAP_FAILED) {
      return error("map", path);
    }
    return memory;
  }
};

}  // namespace

Disk& posix_disk() {
  static PosixDisk disk;
  return disk;
}

}  // namespace nfx
