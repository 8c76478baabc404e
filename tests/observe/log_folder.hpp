// What tests of logs need: a folder of their own, its files' text, and a disk that is full.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace nfx {

class LogFolder {
 public:
  LogFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "nfx-log-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~LogFolder() { std::filesystem::remove_all(path_); }
  LogFolder(const LogFolder&) = delete;
  LogFolder& operator=(const LogFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& each : std::filesystem::directory_iterator{path_})
      names.push_back(each.path().filename().string());
    std::ranges::sort(names);
    return names;
  }
  [[nodiscard]] std::string text(const std::string& file) const {
    std::ifstream in{path_ / file, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  // Of all files, oldest first.
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const std::string& file : files()) all += text(file);
    return all;
  }

 private:
  std::filesystem::path path_;
};

// While it lives, no file of this process grows beyond so many bytes: writes are cut short and then fail.
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
