// A folder for the files of one run, removed by its destructor.
#pragma once

#include <filesystem>
#include <string>

namespace nfx::bench {

class ScratchFolder {
 public:
  // Creates "nexusfix-NAME-PID" below `below`; empty: below the temporary folder. Throws
  // std::filesystem::filesystem_error.
  ScratchFolder(const std::string& name, const std::filesystem::path& below);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  // The folder and its file system: "/tmp/nexusfix-store-4711 (btrfs)"; for tmpfs with a warning that there is no disk.
  [[nodiscard]] std::string describe() const;

 private:
  std::filesystem::path path_;
};

}  // namespace nfx::bench
