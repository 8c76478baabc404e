// For tests of logs: a folder of their own, its files' text, and a full disk.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "temporary_folder.hpp"

namespace nfx {

class LogFolder : public test::TemporaryFolder {
 public:
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& each : std::filesystem::directory_iterator{path()})
      names.push_back(each.path().filename().string());
    std::ranges::sort(names);
    return names;
  }
  [[nodiscard]] std::string text(const std::string& file) const {
    std::ifstream in{path() / file, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  // The text of all files, oldest first.
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const std::string& file : files()) all += text(file);
    return all;
  }
};

// During its lifetime no file of this process grows beyond this size: writes are cut short and then fail.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    before_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, before_handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*before_handler_)(int) = nullptr;
};

}  // namespace nfx
