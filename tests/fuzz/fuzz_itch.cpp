// Whatever the bytes of an ITCH message are, it gives at most one event or a counted error, nothing outside it is read,
// and the books that receive the events stay consistent. A file in pieces has the same messages as the whole file. Each
// line of the input is a message; the whole input is also read as a file with lengths, in chunks of any size.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "fuzz_target.hpp"
#include "nexusfix/market/itch_parser.hpp"
#include "nexusfix/market/order_book.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text, .mutations = 20000};

namespace {

using namespace nfx::market;
using nfx::fuzz::require;

std::unique_ptr<std::byte[]> copy_of(std::string_view text) {
  auto bytes = std::make_unique<std::byte[]>(text.size());
  std::ranges::transform(text, bytes.get(), [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

class Checks {
 public:
  void message(std::string_view text) {
    // A separate copy, so that a sanitizer detects reads after it.
    const auto bytes = copy_of(text);
    std::size_t events = 0;
    const auto sink = [&](const Event& event) {
      ++events;
      require(event.kind != EventKind::none && event.last(), "an event has a kind and ends what happened", text);
      // 16 books for all stocks.
      books_.apply(InstrumentIndex{std::to_underlying(event.instrument) % 16}, event);
    };
    const itch::ParseStatus status = parser_.message({bytes.get(), text.size()}, {++sequence_, {}, 0}, sink);
    const std::size_t right = text.empty() ? 0 : itch::message_sizes[static_cast<unsigned char>(text.front())];
    require((status == itch::ParseStatus::ok) == (right != 0 && right == text.size()),
            "a message of the length of its type is read, and no other", text);
    require(events <= 1, "a message is one event at most", text);
    require(events == 0 || status == itch::ParseStatus::ok, "an error gives no event", text);
    ignored_ += status == itch::ParseStatus::ok ? 0 : 1;
  }

  void done(std::string_view text) const {
    const ItchCounters& counters = parser_.counters();
    require(counters.unknown_type + counters.wrong_length == ignored_, "what is ignored is counted", text);
    require(books_.consistent(), "the books are consistent", text);
    require(parser_.directory().size() <= sequence_, "a message makes one stock at most", text);
  }

 private:
  ItchParser parser_{nfx::UtcTime{}};
  OrderBooks books_{{.instruments = 16, .orders = 64, .levels = 64, .orders_expected = 16, .expected_from = 0}};
  std::uint64_t sequence_ = 0;
  std::uint64_t ignored_ = 0;
};

void check_file(std::string_view text) {
  const auto sizes_of = [](std::span<const std::byte> bytes, std::size_t& taken) {
    std::vector<std::size_t> sizes;
    taken =
        itch::for_each_framed(bytes, [&sizes](std::span<const std::byte> message) { sizes.push_back(message.size()); });
    return sizes;
  };
  const auto bytes = copy_of(text);
  const std::span<const std::byte> whole{bytes.get(), text.size()};
  std::size_t taken = 0;
  const auto wanted = sizes_of(whole, taken);
  require(taken <= text.size(), "no more is taken than there is", text);
  // Cut in the middle, and continued with the rest.
  const auto first = copy_of(text.substr(0, text.size() / 2));
  std::size_t taken_first = 0, taken_rest = 0;
  auto found = sizes_of({first.get(), text.size() / 2}, taken_first);
  const auto rest = sizes_of(whole.subspan(taken_first), taken_rest);
  found.insert(found.end(), rest.begin(), rest.end());
  require(found == wanted && taken_first + taken_rest == taken, "pieces have the messages of the whole", text);
}

// The reader of files, whose chunks end anywhere.
void check_reader(std::string_view text) {
  struct Result {
    std::vector<std::uint64_t> sequences;
    ItchFileError error;
    std::uint64_t offset = 0;
    bool whole = false;
  };
  const auto read = [&](std::size_t chunk) {
    Result result;
    ItchFileReader reader{nfx::UtcTime{}};
    const auto take = [&](const Event& event) {
      result.sequences.push_back(event.sequence);
      return true;
    };
    for (std::size_t at = 0; at < text.size(); at += chunk) {
      const auto part = copy_of(text.substr(at, chunk));
      if (!reader.read({part.get(), std::min(chunk, text.size() - at)}, take)) break;
    }
    result.whole = reader.finish();
    result.error = reader.error();
    result.offset = reader.offset();
    return result;
  };
  const Result all = read(std::max<std::size_t>(text.size(), 1));
  require(all.whole == (all.error.problem == ItchFileProblem::none), "an end that is not whole is an error", text);
  require(!all.whole || all.offset == text.size(), "a whole file is read to its end", text);
  require(all.offset <= text.size() && all.error.offset <= text.size(), "places are in the file", text);
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{7}, text.size() / 2 + 1}) {
    const Result parts = read(chunk);
    require(parts.sequences == all.sequences && parts.error.problem == all.error.problem &&
                parts.error.offset == all.error.offset && parts.offset == all.offset,
            "chunks do not change what is read", text);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = nfx::fuzz::text_of(data, size);
  Checks checks;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    checks.message(text.substr(begin, end - begin));
    begin = end + 1;
  }
  checks.done(text);
  check_file(text);
  check_reader(text);
  return 0;
}
