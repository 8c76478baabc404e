// Whatever a JSON file is that a command reads back: an earlier noise report is compared or refused with a text, and a
// record of changes is read or refused with one error that names its line; the output is fit for a terminal.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "fuzz_target.hpp"
#include "host/change_record.hpp"
#include "host/noise_report.hpp"
#include "text_check.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text, .mutations = 10000};

namespace {

using nfx::fuzz::require;

// In memory; removed with the process.
class RecordFile {
 public:
  RecordFile() {
    char name[] = "/dev/shm/nfx-fuzz-XXXXXX";
    const int fd = ::mkstemp(name);
    require(fd >= 0, "a file is made", name);
    ::close(fd);
    path_ = name;
  }
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;
  ~RecordFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

nfx::NoiseReport report_of_now() {
  nfx::NoiseReport report;
  report.kernel = "6.18.0";
  report.seconds = 1;
  nfx::CpuNoise cpu;
  cpu.hiccups.cpu = 1;
  cpu.hiccups.duration_ns = 1'000'000'000;
  cpu.hiccups.window_worst_ns = {1000, 2000, 50'000};
  cpu.summary = nfx::summarise(cpu.hiccups);
  report.cpus.push_back(cpu);
  return report;
}

void check_comparison(std::string_view json) {
  static const nfx::NoiseReport report = report_of_now();
  const auto compared = nfx::compare(report, json);
  const std::string& text = compared ? *compared : compared.error();
  require(!text.empty() && nfx::fuzz::lines_are_printable(text), "a comparison is fit for a terminal", text);
}

void check_record(std::string_view json) {
  static const RecordFile file;
  std::ofstream{file.path(), std::ios::binary} << json;
  try {
    const auto content = nfx::ChangeRecord::load(file.path());
    require(content.has_value(), "a file that is there has a content", json);
    require(content->bytes <= json.size() && (content->bytes == 0 || json[content->bytes - 1] == '\n'),
            "whole lines are read", json);
    for (const nfx::Change& change : content->changes) {
      static_cast<void>(nfx::same_content(change.compare, change.seen, change.wanted));
    }
    for (const auto& [index, outcome] : content->outcomes) {
      require(index < content->changes.size(), "an outcome is of a change that there is", json);
    }
  } catch (const nfx::ApplyError& error) {
    const std::size_t line = nfx::fuzz::line_in(error.what(), file.path().string());
    require(line > 0 && line <= nfx::fuzz::lines_of(json), "an error names a line of the record", error.what());
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view json = nfx::fuzz::text_of(data, size);
  check_comparison(json);
  check_record(json);
  return 0;
}
