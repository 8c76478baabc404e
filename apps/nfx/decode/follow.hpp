// The messages of logs that grow and are rotated, as they are written. A log that is renamed is read to its end, also
// after its successor has begun; generations that came and went in between are read too. A log that is truncated is
// read from its beginning.
// Thread: one owner. Cost: waits in the kernel; without a notification (file systems of a network) it looks every 250
// ms. Lifetime: as of MessageSource; it never ends. Bounds: max_retired generations of each log stay open.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "decode/log_reader.hpp"

namespace nfx::app {

class FollowSource final : public MessageSource {
 public:
  static constexpr std::size_t max_retired = 2;

  FollowSource(std::vector<LogFile> files, LogReaderOptions options);
  ~FollowSource() override;

  bool next(LogMessage& message) override;

 private:
  struct Generation {
    int file = -1;
    std::uint64_t inode = 0, offset = 0;
    MessageScanner scanner;
    MessageTimes times;
    bool settled = false;
    bool finished = false;

    explicit Generation(int opened, std::uint64_t number) : file(opened), inode(number) {}
    ~Generation();
    Generation(const Generation&) = delete;
    Generation& operator=(const Generation&) = delete;
  };
  struct Log {
    std::string path, folder, base;
    std::set<std::uint64_t> known;                        // inodes that need not be read, or were
    std::deque<std::unique_ptr<Generation>> generations;  // oldest first
  };

  [[nodiscard]] bool look(Log& log);
  bool add_generation(Log& log, const std::string& path);
  void add_missed(Log& log, std::uint64_t current);
  // Whether the generation had more bytes.
  [[nodiscard]] bool read_more(Log& log, Generation& generation);
  void wait();

  std::deque<Log> logs_;
  LogReaderOptions options_;
  int notify_ = -1;
  bool on_network_ = false;
  std::size_t log_ = 0;  // whose generation is read
  std::size_t generation_ = 0;
  bool progressed_ = false;  // since the first log was read
  std::vector<char> buffer_ = std::vector<char>(256 * 1024);
};

}  // namespace nfx::app
