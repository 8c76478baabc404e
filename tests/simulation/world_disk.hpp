// A disk that belongs to the world: its content is not memory of the writing process, but the handles of open files
// are.
// Thread: one owner. Lifetime: the inner disk outlives it.
#pragma once

#include <memory>
#include <utility>

#include "simulation/holdings.hpp"
#include "store/disk.hpp"

namespace nfx::simulation {

class WorldDisk final : public Disk {
  template <class Call>
  static auto in_world(Call&& call) {
    const Holding world{Holder::world};
    return call();
  }

 public:
  explicit WorldDisk(Disk& inner) noexcept : inner_(inner) {}

  DiskResult<std::unique_ptr<DiskFile>> open(const std::filesystem::path& path, OpenMode mode) override {
    return handle(in_world([&] { return inner_.open(path, mode); }));
  }
  bool exists(const std::filesystem::path& path) override {
    return in_world([&] { return inner_.exists(path); });
  }
  DiskResult<std::vector<std::string>> list(const std::filesystem::path& folder) override {
    return in_world([&] { return inner_.list(folder); });
  }
  DiskResult<std::vector<std::string>> secure_folder(const std::filesystem::path& folder, FolderKind kind) override {
    return in_world([&] { return inner_.secure_folder(folder, kind); });
  }
  DiskResult<void> make_folder(const std::filesystem::path& folder) override {
    return in_world([&] { return inner_.make_folder(folder); });
  }
  DiskResult<void> rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    return in_world([&] { return inner_.rename(from, to); });
  }
  DiskResult<void> remove(const std::filesystem::path& path) override {
    return in_world([&] { return inner_.remove(path); });
  }
  DiskResult<void> remove_folder(const std::filesystem::path& folder) override {
    return in_world([&] { return inner_.remove_folder(folder); });
  }
  DiskResult<void> sync_folder(const std::filesystem::path& folder) override {
    return in_world([&] { return inner_.sync_folder(folder); });
  }
  DiskResult<std::unique_ptr<DiskFile>> lock(const std::filesystem::path& path) override {
    return handle(in_world([&] { return inner_.lock(path); }));
  }
  DiskResult<std::unique_ptr<SharedMemory>> map_shared(const std::filesystem::path& path, std::size_t size) override {
    return in_world([&] { return inner_.map_shared(path, size); });
  }
  DiskResult<bool> is_mapped(const std::filesystem::path& path) override {
    return in_world([&] { return inner_.is_mapped(path); });
  }
  std::string boot_id() override {
    return in_world([&] { return inner_.boot_id(); });
  }

 private:
  class Handle final : public DiskFile {
   public:
    explicit Handle(std::unique_ptr<DiskFile> inner) noexcept : inner_(std::move(inner)) {}
    DiskResult<std::uint64_t> size() override { return inner_->size(); }
    DiskResult<std::size_t> read(std::uint64_t offset, std::span<char> into) override {
      return in_world([&] { return inner_->read(offset, into); });
    }
    DiskResult<void> write(std::uint64_t offset, std::span<const char> bytes) override {
      return in_world([&] { return inner_->write(offset, bytes); });
    }
    DiskResult<void> truncate(std::uint64_t size) override {
      return in_world([&] { return inner_->truncate(size); });
    }
    DiskResult<void> reserve(std::uint64_t size) override {
      return in_world([&] { return inner_->reserve(size); });
    }
    DiskResult<void> sync() override {
      return in_world([&] { return inner_->sync(); });
    }

   private:
    std::unique_ptr<DiskFile> inner_;
  };

  static DiskResult<std::unique_ptr<DiskFile>> handle(DiskResult<std::unique_ptr<DiskFile>> opened) {
    if (!opened) return opened;
    return std::make_unique<Handle>(*std::move(opened));
  }

  Disk& inner_;
};

}  // namespace nfx::simulation
