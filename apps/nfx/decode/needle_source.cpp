// Searches a mapped file block by block, then reads the messages around what was found.
#include "decode/needle_source.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/error_text.hpp"
#include "base/text_encoding.hpp"
#include "decode/log_time.hpp"
#include "decode/text_form.hpp"

namespace nfx::app {
namespace {

constexpr std::size_t block_size = 64 * 1024;
constexpr std::size_t slice_size = 32 * 1024 * 1024;  // for one thread
constexpr std::size_t shortest_needle = 4;
constexpr std::string_view start_text = "8=FIX";

bool is_word(char c) noexcept { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
bool is_plain(char c) noexcept { return is_word(c) || c == '-' || c == '_' || c == '.' || c == ':'; }

using Vector = std::uint8_t __attribute__((vector_size(16)));

Vector load(const char* at) noexcept {
  Vector vector;
  std::memcpy(&vector, at, sizeof vector);
  return vector;
}
Vector every(char c) noexcept { return Vector{} + static_cast<std::uint8_t>(c); }
bool any(Vector vector) noexcept {
  std::array<std::uint64_t, 2> halves;
  std::memcpy(halves.data(), &vector, sizeof vector);
  return (halves[0] | halves[1]) != 0;
}

// A needle with the '=' before it. Three of its bytes decide whether the rest is compared.
class Needle {
 public:
  explicit Needle(const std::string& value) : text_("=" + value), middle_(text_.size() / 2), last_(text_.size() - 1) {}

  // Appends where the value begins, for each '=' in [begin, end). The text ends at `limit`.
  void find(const char* base, std::size_t begin, std::size_t end, std::size_t limit,
            std::vector<std::uint64_t>& hits) const {
    constexpr std::size_t step = 4 * sizeof(Vector);
    const Vector equals = every('='), middle = every(text_[middle_]), last = every(text_[last_]);
    std::size_t at = begin;
    for (; at < end && at + step + text_.size() <= limit; at += step) {
      Vector found{};
      for (std::size_t i = 0; i < step; i += sizeof(Vector)) {
        const char* here = base + at + i;
        found |= (load(here) == equals) & (load(here + middle_) == middle) & (load(here + last_) == last);
      }
      if (any(found)) [[unlikely]]
        compare(base, at, std::min(at + step, end), limit, hits);
    }
    compare(base, at, end, limit, hits);
  }

 private:
  void compare(const char* base, std::size_t begin, std::size_t end, std::size_t limit,
               std::vector<std::uint64_t>& hits) const {
    for (std::size_t at = begin; at < end && at + text_.size() <= limit; ++at) {
      if (std::memcmp(base + at, text_.data(), text_.size()) != 0) continue;
      const std::size_t after = at + text_.size();
      if (after == limit || !is_word(base[after])) hits.push_back(at + 1);
    }
  }

  std::string text_;
  std::size_t middle_, last_;
};

std::uint64_t count_lines(const char* at, std::size_t size) noexcept {
  return static_cast<std::uint64_t>(std::count(at, at + size, '\n'));
}

class MappedFile {
 public:
  MappedFile(int file, std::size_t size) : size_(size) {
    void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped == MAP_FAILED) return;
    data_ = static_cast<const char*>(mapped);
    ::madvise(mapped, size, MADV_SEQUENTIAL);
  }
  ~MappedFile() {
    if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] const char* data() const noexcept { return data_; }
  [[nodiscard]] std::string_view text() const noexcept { return {data_, size_}; }

 private:
  const char* data_ = nullptr;
  std::size_t size_;
};

class NeedleSource final : public MessageSource {
 public:
  NeedleSource(std::unique_ptr<MappedFile> file, std::string name, const Needles& needles, const LogReaderHooks& hooks)
      : file_(std::move(file)), name_(std::move(name)), hooks_(hooks) {
    for (const std::string& each : needles) needles_.emplace_back(each);
    slices_.resize(std::clamp(std::thread::hardware_concurrency(), 1U, 8U));
  }

  bool next(LogMessage& message) override {
    for (;;) {
      while (hit_ < hits_.size()) {
        const std::uint64_t hit = hits_[hit_++];
        if (hit >= message_end_ && read_message(hit, message)) return true;
      }
      if (searched_ == file_->text().size()) return false;
      search();
    }
  }

 private:
  struct Slice {
    std::vector<std::uint64_t> hits;
    std::uint64_t lines = 0;
  };

  void search_slice(std::size_t begin, std::size_t end, Slice& slice) const {
    slice.hits.clear();
    slice.lines = 0;
    const std::string_view text = file_->text();
    for (std::size_t at = begin; at < end; at += block_size) {
      const std::size_t block_end = std::min(at + block_size, end);
      slice.lines += count_lines(text.data() + at, block_end - at);
      for (const Needle& each : needles_) each.find(text.data(), at, block_end, text.size(), slice.hits);
    }
    std::ranges::sort(slice.hits);
  }

  // The next part of the file, a slice for each processor.
  void search() {
    const std::size_t size = file_->text().size();
    std::vector<std::thread> threads;
    std::size_t begin = searched_;
    for (Slice& slice : slices_) {
      const std::size_t end = std::min(begin + slice_size, size);
      if (&slice == &slices_.back()) {
        search_slice(begin, end, slice);
      } else {
        threads.emplace_back([this, begin, end, &slice] { search_slice(begin, end, slice); });
      }
      begin = end;
    }
    for (std::thread& each : threads) each.join();
    hits_.clear();
    hit_ = 0;
    lines_before_ = lines_after_;
    counted_ = searched_;
    for (const Slice& slice : slices_) {
      hits_.insert(hits_.end(), slice.hits.begin(), slice.hits.end());
      lines_after_ += slice.lines;
    }
    if (hooks_.on_read) hooks_.on_read(begin - searched_);
    searched_ = begin;
  }

  // The message that contains this byte. It begins at the last "8=FIX" before it, or at an earlier one if that is part
  // of a value.
  bool read_message(std::uint64_t hit, LogMessage& message) {
    const std::string_view text = file_->text();
    std::size_t start = hit;
    for (int attempt = 0; attempt < 4; ++attempt) {
      if (start == 0) return false;
      start = text.rfind(start_text, start - 1);
      if (start == std::string_view::npos || start < message_end_ ||
          hit - start > MessageScanner::default_max_message_size)
        return false;
      const std::size_t line = text.rfind('\n', start);
      std::size_t begin = line == std::string_view::npos ? 0 : line + 1;
      // Without lines, or after another message on the line, what comes before is no prefix.
      constexpr std::size_t longest_prefix = 4096;
      if (begin < message_end_) begin = message_end_;
      if (start - begin > longest_prefix) begin = start;
      if (scan(begin, hit, message)) return true;
    }
    return false;
  }

  bool scan(std::size_t begin, std::uint64_t hit, LogMessage& message) {
    const std::string_view text = file_->text();
    scanner_ = MessageScanner{};
    std::size_t fed = begin;
    bool ended = false;
    for (;;) {
      while (const auto found = scanner_.next()) {
        const std::uint64_t offset = begin + found->offset;
        if (offset > hit) return false;
        if (hit >= offset + found->size) continue;
        message.found = *found;
        message.found.offset = offset;
        message.found.line = line_of(offset);
        message.source = name_;
        message.time = times_.of(*found);
        message_end_ = offset + found->size;
        return true;
      }
      if (ended) return false;
      const std::string_view more = text.substr(fed, 4096);
      scanner_.feed(more);
      fed += more.size();
      ended = fed == text.size();
      if (ended) scanner_.finish();
    }
  }

  // Line number of a byte; offsets do not decrease.
  std::uint64_t line_of(std::uint64_t offset) {
    if (offset < counted_) return lines_before_ + 1 - count_lines(file_->data() + offset, counted_ - offset);
    lines_before_ += count_lines(file_->data() + counted_, offset - counted_);
    counted_ = offset;
    return lines_before_ + 1;
  }

  std::unique_ptr<MappedFile> file_;
  std::string name_;
  const LogReaderHooks& hooks_;
  std::vector<Needle> needles_;
  std::vector<Slice> slices_;
  std::vector<std::uint64_t> hits_;  // in the part that was searched last
  std::size_t hit_ = 0;
  std::size_t searched_ = 0;        // bytes
  std::uint64_t lines_before_ = 0;  // line ends before counted_
  std::uint64_t counted_ = 0;
  std::uint64_t lines_after_ = 0;  // line ends before searched_
  std::uint64_t message_end_ = 0;  // of the last message
  MessageScanner scanner_;
  MessageTimes times_;
};

bool in_usual_form(std::string_view begin) {
  TextForm form;
  return text_encoding(begin.substr(0, 4)) == TextEncoding::bytes && form.convert(begin).data() == begin.data() &&
         begin.contains(start_text) && !begins_capture(begin);
}

}  // namespace

std::unique_ptr<MessageSource> open_needle_source(const LogFile& file, const Needles& needles,
                                                  const LogReaderHooks& hooks) {
  if (needles.empty() || file.archived || file.path == "-" ||
      !std::ranges::all_of(needles, [](const std::string& each) {
        return each.size() >= shortest_needle && std::ranges::all_of(each, is_plain);
      }))
    return nullptr;
  const int opened = ::open(file.path.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened < 0) throw std::runtime_error(cannot("read", file.path, errno));
  struct stat status{};
  std::unique_ptr<MappedFile> mapped;
  if (::fstat(opened, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
    mapped = std::make_unique<MappedFile>(opened, static_cast<std::size_t>(status.st_size));
  ::close(opened);
  if (!mapped || mapped->data() == nullptr || !in_usual_form(mapped->text().substr(0, 256 * 1024))) return nullptr;
  return std::make_unique<NeedleSource>(std::move(mapped), file.name, needles, hooks);
}

}  // namespace nfx::app
