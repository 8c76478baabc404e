// Log files that start anew each day and at a size limit, and are removed by count and age.
#include "log/log_file.hpp"
#include "base/private_files.hpp"
#include "nexusfix/base/assert.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error_text.hpp"

namespace nfx {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t number_max = 9999;

std::unexpected<LogFileError> failed(const char* what, const fs::path& path, int code) {
  return std::unexpected(LogFileError{.code = code, .text = cannot(what, path, code), .written = 0});
}

struct FileName {
  std::chrono::sys_days day;
  std::uint32_t number;

  friend auto operator<=>(const FileName&, const FileName&) = default;
};

std::string file_name(const std::string& name, FileName file) {
  const std::chrono::year_month_day date{file.day};
  char text[40];
  std::snprintf(text, sizeof text, "-%04d%02u%02u-%04u.log", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), file.number);
  return name + text;
}

std::optional<FileName> read_file_name(std::string_view text, std::string_view name) {
  constexpr std::string_view shape = "-YYYYMMDD-NNNN.log";
  if (text.size() != name.size() + shape.size() || !text.starts_with(name) || !text.ends_with(".log")) {
    return std::nullopt;
  }
  text.remove_prefix(name.size());
  const auto number = [&](std::size_t begin, std::size_t size) -> std::optional<unsigned> {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data() + begin, text.data() + begin + size, value);
    if (error != std::errc{} || end != text.data() + begin + size) return std::nullopt;
    return value;
  };
  const auto year = number(1, 4), month = number(5, 2), day = number(7, 2), which = number(10, 4);
  if (!year || !month || !day || !which || text[0] != '-' || text[9] != '-') return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{static_cast<int>(*year)}, std::chrono::month{*month},
                                         std::chrono::day{*day}};
  if (!date.ok()) return std::nullopt;
  return FileName{std::chrono::sys_days{date}, *which};
}

// Oldest first; empty if the folder cannot be read.
std::vector<FileName> list_files(const LogFileOptions& options) {
  std::vector<FileName> files;
  std::error_code error;
  for (fs::directory_iterator each{options.folder, error}; !error && each != fs::directory_iterator{};
       each.increment(error)) {
    if (const auto file = read_file_name(each->path().filename().native(), options.name)) files.push_back(*file);
  }
  std::ranges::sort(files);
  return files;
}

// Creates missing folders for the owner only; existing ones are not changed.
void make_folder(const fs::path& folder) {
  fs::path path;
  for (const fs::path& part : folder) {
    path /= part;
    if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) continue;
    const int code = errno;
    if (fs::is_directory(path)) continue;
    throw std::runtime_error(cannot("make folder", path, code) + "; make it, or choose another");
  }
  const bool is_folder = fs::is_directory(folder);
  if (const std::string problem = is_folder ? folder_problem(folder, FolderLink::allowed) : ""; !problem.empty())
    throw std::runtime_error(problem);
  const int code = !is_folder ? ENOTDIR : ::access(folder.c_str(), W_OK | X_OK) != 0 ? errno : 0;
  if (code == 0) return;
  throw std::runtime_error(cannot("write", folder, code) + "; choose another folder");
}

}  // namespace

LogFile::LogFile(LogFileOptions options) : options_(std::move(options)) {
  const auto usable = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  };
  if (options_.name.empty() || !std::ranges::all_of(options_.name, usable)) {
    throw std::runtime_error("log name \"" + options_.name + "\": use letters, digits, '.', '_' and '-'");
  }
  if (options_.folder.empty()) throw std::runtime_error("log " + options_.name + ": name a folder for its files");
  if (options_.max_bytes == 0 || options_.keep_files == 0) {
    throw std::runtime_error("log " + options_.name + ": expected max_bytes and keep_files of at least 1");
  }
  make_folder(options_.folder);
}

LogFile::LogFile(int fd) : borrowed_(true), fd_(fd), path_("file descriptor " + std::to_string(fd)) {}

LogFile::~LogFile() { close(); }

void LogFile::close() noexcept {
  if (fd_ >= 0 && !borrowed_) ::close(fd_);
  if (!borrowed_) fd_ = -1;
}

std::expected<void, LogFileError> LogFile::append(UtcTime time, std::string_view lines) {
  if (!borrowed_) {
    if (const auto opened = open_for(std::max(day_of(time), day_), lines.size()); !opened) return opened;
  }
  if (torn_) {
    if (const auto repaired = write("\n", nullptr); !repaired) return repaired;
    torn_ = false;
  }
  NFX_ASSERT(fd_ >= 0);
  std::size_t written = 0;
  auto result = write(lines, &written);
  if (written != 0) torn_ = lines[written - 1] != '\n';
  if (!result) {
    result.error().written = written;
    // While repairing the disk, an operator may have replaced the file or the disk.
    close();
  }
  return result;
}

std::expected<void, LogFileError> LogFile::write(std::string_view bytes, std::size_t* written) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failed("write", path_, count < 0 ? errno : EIO);
    NFX_ASSERT(static_cast<std::size_t>(count) <= bytes.size());
    bytes.remove_prefix(static_cast<std::size_t>(count));
    size_ += static_cast<std::uint64_t>(count);
    if (written != nullptr) *written += static_cast<std::size_t>(count);
  }
  return {};
}

// Opens a file with space for `size` more bytes of this day: the current one, the last of the day, or the next one.
std::expected<void, LogFileError> LogFile::open_for(Day day, std::size_t size) {
  const auto fits = [&] { return size_ == 0 || size_ + size <= options_.max_bytes || number_ == number_max; };
  if (fd_ >= 0 && day == day_ && fits()) return {};
  if (fd_ < 0 || day != day_) {
    std::uint32_t last = 1;
    for (const FileName& file : list_files(options_)) {
      if (file.day == day) last = std::max(last, file.number);
    }
    if (const auto opened = open(day, last); !opened) return opened;
  }
  if (!fits()) {
    if (const auto opened = open(day, number_ + 1); !opened) return opened;
  }
  remove_old();
  return {};
}

std::expected<void, LogFileError> LogFile::open(Day day, std::uint32_t number) {
  const fs::path path = options_.folder / file_name(options_.name, {day, number});
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (fd < 0) return failed("write", path, errno);
  struct stat facts{};
  if (::fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    const int code = S_ISREG(facts.st_mode) ? errno : EINVAL;
    ::close(fd);
    return failed("write", path, code);
  }
  FileCheck check = make_private(fd, path, 0640);
  if (!check.problem.empty()) {
    ::close(fd);
    return std::unexpected(LogFileError{.code = EPERM, .text = check.problem, .written = 0});
  }
  corrected_ = std::move(check.corrected);
  close();
  fd_ = fd;
  ++opened_;
  path_ = path;
  day_ = day;
  number_ = number;
  size_ = static_cast<std::uint64_t>(facts.st_size);
  char last = '\n';
  torn_ = size_ != 0 && ::pread(fd_, &last, 1, facts.st_size - 1) == 1 && last != '\n';
  return {};
}

void LogFile::remove_old() {
  const std::vector<FileName> files = list_files(options_);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const FileName& file = files[i];
    if (file == FileName{day_, number_}) continue;
    const bool too_many = files.size() - i > options_.keep_files;
    const bool too_old = options_.keep_days != 0 && file.day + std::chrono::days{options_.keep_days} <= day_;
    if (!too_many && !too_old) continue;
    std::error_code error;
    if (!fs::remove(options_.folder / file_name(options_.name, file), error) && error) {
      removals_failed_.fetch_add(1, std::memory_order_relaxed);
    }
  }
}

}  // namespace nfx
