// Detects the format of a file, and selects the requested instruments.
#include "market/market_file.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <stdexcept>

#include "base/suggest.hpp"
#include "cli/progress.hpp"
#include "command.hpp"
#include "config/schedule_config.hpp"
#include "market/market.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "output.hpp"

namespace nfx::app::market {

using namespace nfx::market;

namespace {

std::optional<std::uint32_t> number_of(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "2019-01-30" or "20190130"; returns the start of that day in New York.
UtcTime midnight_of(const std::string& date) {
  std::string stamp = date;
  if (stamp.size() == 10 && stamp[4] == '-' && stamp[7] == '-')
    stamp = date.substr(0, 4) + date.substr(5, 2) + date.substr(8);
  const auto day = parse_utc_timestamp(stamp + "-00:00:00");
  if (!day) throw ConfigError("--date: \"" + date + "\" is not a date; write 2019-01-30");
  const auto since_1970 = std::chrono::floor<std::chrono::seconds>(day->time).time_since_epoch();
  return load_time_zone("America/New_York").to_utc(std::chrono::local_seconds{since_1970}).time;
}

// Names the type of a file that is neither DBN nor ITCH. Empty if unknown.
std::string known_as(std::span<const std::byte> first) {
  const auto begins = [&](std::initializer_list<unsigned char> bytes) {
    return first.size() >= bytes.size() && std::equal(bytes.begin(), bytes.end(), first.begin(),
                                                      [](unsigned char a, std::byte b) { return std::byte{a} == b; });
  };
  if (begins({0xD4, 0xC3, 0xB2, 0xA1}) || begins({0x4D, 0x3C, 0xB2, 0xA1}) || begins({0x0A, 0x0D, 0x0D, 0x0A})) {
    return "is a capture of packets, which is not read";
  }
  return {};
}

// Opens only files that contain bytes to read.
const std::string& checked(const std::string& path) {
  std::error_code ignored;
  if (path != "-" && std::filesystem::is_directory(path, ignored)) {
    throw std::runtime_error(path + ": is a folder; nfx market replay reads the folder of a recording");
  }
  return path;
}

}  // namespace

std::vector<cli::Option> with_file_options(FileOptions& options, std::vector<cli::Option> more) {
  std::vector<cli::Option> all{
      {.names = "FILE",
       .target = &options.path,
       .help = "Recording in Databento's binary encoding or file of ITCH 5.0 messages, compressed with Zstandard or "
               "gzip, or not; "
               "- for standard input",
       .required = true,
       .kind = cli::Kind::file},
      {.names = "--date",
       .target = &options.date,
       .help = "Day of an ITCH file, such as 2019-01-30; without it, times are since midnight",
       .value = "DATE"},
      {.names = "--instrument",
       .target = &options.instruments,
       .help = "Only this instrument: its name or its number in the file; several after commas",
       .value = "NAME",
       .separator = ','},
  };
  std::ranges::move(more, std::back_inserter(all));
  return all;
}

MarketFile::MarketFile(const FileOptions& options) : path_(options.path), input_(checked(options.path)) {
  for (const std::string& name : options.instruments) wanted_.push_back({name, number_of(name)});
  // A compressed file may begin with a short piece.
  constexpr std::size_t enough = 4;
  for (auto chunk = input_.next(); !chunk.empty(); chunk = input_.next()) {
    head_.insert(head_.end(), chunk.begin(), chunk.end());
    if (head_.size() >= enough) break;
  }
  if (ItchFileReader::begins_like_itch(head_)) {
    if (!options.date.empty()) midnight_ = midnight_of(options.date);
    itch_.emplace(midnight_);
  } else if (const std::string other = known_as(head_); !other.empty()) {
    throw std::runtime_error(path_ + ": " + other);
  } else if (!options.date.empty()) {
    throw ConfigError("--date is for ITCH files, whose messages have no date; " + path_ + " is not one");
  }
}

bool MarketFile::read(const std::function<bool(std::span<const std::byte>)>& read_chunk) {
  cli::Progress progress{"reading " + path_, cli::file_size_or_zero(path_)};
  std::string problem;
  bool stopped = false, names_checked = false;
  try {
    std::uint64_t before = 0;
    for (std::span<const std::byte> chunk{head_}; !chunk.empty() && !stopped; chunk = input_.next()) {
      progress.add(input_.bytes_read() - before);
      before = input_.bytes_read();
      stopped = !read_chunk(chunk);
      if (!names_checked && dbn_.metadata()) {
        check_wanted(false);  // checked before the whole file is read
        names_checked = true;
      }
    }
  } catch (const ConfigError&) {
    throw;
  } catch (const std::runtime_error& error) {
    if ((itch_ ? itch_->offset() : dbn_.offset()) == 0) throw;
    problem = error.what();
  }
  progress.end();
  return finish(problem, stopped);
}

bool MarketFile::finish(const std::string& problem, bool stopped) {
  const auto fail = [](const SafeText& text) {
    print_error(text);
    return false;
  };
  if (!problem.empty()) return fail(made("nfx market: {}; the output ends there\n", problem));
  const bool good = itch_ ? itch_->error().problem == ItchFileProblem::none && (stopped || itch_->finish())
                          : dbn_.error().problem == DbnProblem::none && (stopped || dbn_.finish());
  if (!good) {
    return fail(made("nfx market: {}: {}, at byte {} of its content; the output ends there\n", path_,
                     itch_ ? to_string(itch_->error().problem) : to_string(dbn_.error().problem),
                     itch_ ? itch_->error().offset : dbn_.error().offset));
  }
  check_wanted(!stopped);
  if (wants_events_ && !has_events() && !left_out().empty()) {
    std::string has;
    for (const Count& each : left_out())
      has.append(has.empty() ? "" : ", ").append(std::to_string(each.count)).append(" ").append(each.name);
    return fail(
        made("nfx market: {}: has no records by order (mbo), which books are built from, but {}; 'nfx market stats' "
             "and 'nfx market convert' show those\n",
             path_, has));
  }
  return true;
}

std::string MarketFile::format() const {
  if (itch_) return "ITCH 5.0, " + std::to_string(itch_->directory().size()) + " stocks";
  if (!dbn_.metadata()) return "DBN";
  return "DBN " + std::to_string(unsigned{dbn_.metadata()->version}) + ", " + dbn_.metadata()->dataset;
}

std::string_view MarketFile::symbol(InstrumentId instrument) const {
  if (itch_) {
    const auto locate = static_cast<std::uint16_t>(instrument);
    return InstrumentId{locate} == instrument ? itch_->directory().at(locate).symbol() : std::string_view{};
  }
  if (!dbn_.metadata()) return {};
  if (names_.empty()) {
    for (const auto& row : dbn_.metadata()->symbols) names_.try_emplace(std::to_underlying(row.instrument), row.name);
  }
  const auto found = names_.find(std::to_underlying(instrument));
  return found == names_.end() ? std::string_view{} : found->second;
}

std::map<std::string, InstrumentId, std::less<>> MarketFile::symbols() const {
  std::map<std::string, InstrumentId, std::less<>> all;
  if (itch_) {
    for (std::uint32_t locate = 0; locate <= itch_->directory().highest(); ++locate) {
      const std::string_view name = symbol(InstrumentId{locate});
      if (!name.empty()) all.try_emplace(std::string{name}, InstrumentId{locate});
    }
  } else if (dbn_.metadata()) {
    for (const auto& row : dbn_.metadata()->symbols) all.try_emplace(row.name, row.instrument);
  }
  return all;
}

std::optional<UtcTime> MarketFile::midnight() const noexcept { return itch_ ? std::optional{midnight_} : std::nullopt; }

bool MarketFile::has_name(InstrumentId instrument, std::string_view name) const {
  if (itch_) return symbol(instrument) == name;
  return dbn_.metadata() && std::ranges::any_of(dbn_.metadata()->symbols, [&](const DbnMetadata::Symbol& row) {
           return row.instrument == instrument && row.name == name;
         });
}

bool MarketFile::choose(InstrumentId instrument) {
  if (!itch_) {
    if (const auto known = chosen_.find(std::to_underlying(instrument)); known != chosen_.end()) return known->second;
  }
  bool chosen = false;
  for (Wanted& wanted : wanted_) {
    const bool is_it = wanted.number ? InstrumentId{*wanted.number} == instrument : has_name(instrument, wanted.name);
    wanted.found = wanted.found || is_it;
    chosen = chosen || is_it;
  }
  if (!itch_) chosen_[std::to_underlying(instrument)] = chosen;
  return chosen;
}

void MarketFile::check_wanted(bool numbers) const {
  constexpr std::size_t shown = 20;
  const auto missing = std::ranges::find_if(wanted_, [&](const Wanted& wanted) {
    if (wanted.found || (wanted.number && !numbers)) return false;
    return wanted.number ? symbol(InstrumentId{*wanted.number}).empty() : !symbols().contains(wanted.name);
  });
  if (missing == wanted_.end()) return;
  const auto known = symbols();
  std::vector<std::string_view> names;
  std::string list;
  for (const auto& [name, id] : known) {
    names.push_back(name);
    if (names.size() <= shown) {
      list += (list.empty() ? "; it has " : ", ") + name + " (" + std::to_string(std::to_underlying(id)) + ')';
    }
  }
  if (known.size() > shown) list += " and " + std::to_string(known.size() - shown) + " more";
  throw ConfigError("--instrument: " + path_ +
                    (missing->number ? " has no instrument with the number " : " has no instrument called ") +
                    missing->name + (list.empty() ? "; it has no names, so write a number" : list) +
                    (missing->number ? "" : did_you_mean(missing->name, names)));
}

std::vector<MarketFile::Count> MarketFile::left_out() const {
  std::vector<Count> all;
  std::uint64_t unknown = 0;
  if (itch_) {
    for (const itch::MessageRow& row : itch::message_rows) {
      const std::uint64_t count = itch_->without_event(row.type);
      if (count != 0) all.push_back({row.name, count});
    }
    unknown = itch_->parser().counters().unknown_type;
  } else {
    for (unsigned type = 0; type < 256; ++type) {
      const std::uint64_t count = dbn_.records(static_cast<std::uint8_t>(type));
      if (count == 0 || type == DbnReader::by_order) continue;
      const auto row = std::ranges::find(dbn_record_types(), type, &DbnRecordType::type);
      if (row != dbn_record_types().end()) {
        all.push_back({row->name, count});
      } else {
        unknown += count;
      }
    }
  }
  if (unknown != 0) all.push_back({"unknown", unknown});
  return all;
}

std::uint64_t MarketFile::undefined_records() const noexcept {
  return itch_ ? itch_->parser().counters().unknown_type + itch_->parser().counters().wrong_side
               : dbn_.unknown_actions();
}

}  // namespace nfx::app::market
