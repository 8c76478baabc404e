// A disk that forwards to another one: the base class for disks that count, delay or interrupt calls.
// Thread: as the inner disk. Lifetime: the inner disk outlives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "store/disk.hpp"

namespace nfx {

class ForwardingFile : public DiskFile {
 public:
  explicit ForwardingFile(std::unique_ptr<DiskFile> inner) noexcept : inner_(std::move(inner)) {}
  DiskResult<std::uint64_t> size() override { return inner_->size(); }
  DiskResult<std::size_t> read(std::uint64_t offset, std::span<char> into) override {
    return inner_->read(offset, into);
  }
  DiskResult<void> write(std::uint64_t offset, std::span<const char> bytes) override {
    return inner_->write(offset, bytes);
  }
  DiskResult<void> truncate(std::uint64_t size) override { return inner_->truncate(size); }
  DiskResult<void> reserve(std::uint64_t size) override { return inner_->reserve(size); }
  DiskResult<void> sync() override { return inner_->sync(); }

 private:
  std::unique_ptr<DiskFile> inner_;
};

class ForwardingDisk : public Disk {
 public:
  explicit ForwardingDisk(Disk& inner) noexcept : inner_(inner) {}

  DiskResult<std::unique_ptr<DiskFile>> open(const std::filesystem::path& path, OpenMode mode) override {
    return inner_.open(path, mode);
  }
  bool exists(const std::filesystem::path& path) override { return inner_.exists(path); }
  DiskResult<std::vector<std::string>> list(const std::filesystem::path& folder) override {
    return inner_.list(folder);
  }
  DiskResult<std::vector<std::string>> secure_folder(const std::filesystem::path& folder, FolderKind kind) override {
    return inner_.secure_folder(folder, kind);
  }
  DiskResult<void> make_folder(const std::filesystem::path& folder) override { return inner_.make_folder(folder); }
  DiskResult<void> rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    return inner_.rename(from, to);
  }
  DiskResult<void> remove(const std::filesystem::path& path) override { return inner_.remove(path); }
  DiskResult<void> remove_folder(const std::filesystem::path& folder) override { return inner_.remove_folder(folder); }
  DiskResult<void> sync_folder(const std::filesystem::path& folder) override { return inner_.sync_folder(folder); }
  DiskResult<std::unique_ptr<DiskFile>> lock(const std::filesystem::path& path) override { return inner_.lock(path); }
  DiskResult<std::unique_ptr<SharedMemory>> map_shared(const std::filesystem::path& path, std::size_t size) override {
    return inner_.map_shared(path, size);
  }
  DiskResult<bool> is_mapped(const std::filesystem::path& path) override { return inner_.is_mapped(path); }
  std::string boot_id() override { return inner_.boot_id(); }

 private:
  Disk& inner_;
};

}  // namespace nfx
