// Creates and removes the folder of a run, and names its file system: on tmpfs a sync costs nothing.
#include "harness/scratch_folder.hpp"

#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>
#include <system_error>

namespace nfx::bench {

namespace {

constexpr unsigned long xfs_magic = 0x58465342;  // missing in the kernel's headers for programs

struct FileSystem {
  unsigned long magic;
  std::string_view name;
};

constexpr FileSystem known_ones[] = {
    {EXT4_SUPER_MAGIC, "ext4"},
    {xfs_magic, "xfs"},
    {BTRFS_SUPER_MAGIC, "btrfs"},
    {OVERLAYFS_SUPER_MAGIC, "overlay"},
    {TMPFS_MAGIC, "tmpfs: NO DISK: the times of syncs mean nothing"},
};

}  // namespace

ScratchFolder::ScratchFolder(const std::string& name, const std::filesystem::path& below)
    : path_((below.empty() ? std::filesystem::temp_directory_path() : below) /
            ("nexusfix-" + name + "-" + std::to_string(::getpid()))) {
  std::filesystem::create_directories(path_);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string ScratchFolder::describe() const {
  struct statfs facts{};
  if (::statfs(path_.c_str(), &facts) != 0) return path_.string();
  const auto magic = static_cast<unsigned long>(facts.f_type) & 0xffff'ffff;
  for (const FileSystem& each : known_ones) {
    if (each.magic == magic) return path_.string() + " (" + std::string{each.name} + ")";
  }
  char text[32];
  std::snprintf(text, sizeof text, " (file system 0x%lx)", magic);
  return path_.string() + text;
}

}  // namespace nfx::bench
