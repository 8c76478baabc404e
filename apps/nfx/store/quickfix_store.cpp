// Parses the files of the three QuickFIX implementations: body, header, sequence numbers and creation time.
#include "store/quickfix_store.hpp"

#include <algorithm>
#include <charconv>
#include <iomanip>
#include <set>
#include <system_error>

#include "base/error_text.hpp"
#include "base/text.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/dictionary/version.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx::app::store {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_small_file = 4096;

constexpr int longest_entry = 64;  // for a text header: three numbers

// Opening a FIFO would block, and a device has no end.
std::ifstream open_file(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw ConfigError(cannot("read", path, "it is not a regular file") + "; copy the store again");
  return std::ifstream{path, std::ios::binary};
}

// Reads a small file; nothing if there is none.
std::optional<std::string> read_small(const fs::path& path) {
  std::ifstream in = open_file(path);
  if (!in) {
    std::error_code error;
    if (!fs::exists(path, error)) return std::nullopt;
    throw ConfigError("cannot read " + path.string() + "; run as a user who may read it");
  }
  std::string text(max_small_file, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

// Also removes the zeros at the end of its files.
std::string_view without_padding(std::string_view text) { return trimmed(text, {" \t\r\n\0", 5}); }

std::optional<std::uint64_t> read_number(std::string_view text) {
  std::uint64_t number = 0;
  text = without_padding(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char c : bytes) number = number << 8 | static_cast<unsigned char>(c);
  return number;
}

// Parses the format of Java's writeUTF: two bytes of length, then the text.
std::optional<std::string> java_text(std::string_view bytes) {
  if (bytes.size() < 2) return std::nullopt;
  const std::size_t size = big_endian(bytes.substr(0, 2));
  if (bytes.size() < 2 + size) return std::nullopt;
  return std::string{bytes.substr(2, size)};
}

std::uint64_t sequence_number(const fs::path& path, std::optional<std::uint64_t> number) {
  if (number && *number != 0) return *number;
  throw ConfigError(path.string() + ": has no sequence number; give a QuickFIX store whose engine is stopped");
}

// "2026-11-21T23:08:43.5+01:00", Go's time format.
std::optional<UtcTime> rfc3339(std::string_view text) {
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || text[10] != 'T') return std::nullopt;
  const std::size_t zone = text.find_first_of("Z+-", 19);
  if (zone == std::string_view::npos || text.size() != zone + (text[zone] == 'Z' ? 1 : 6)) return std::nullopt;
  std::string fix{text.substr(0, 4)};
  fix.append(text.substr(5, 2)).append(text.substr(8, 2)).append("-").append(text.substr(11, zone - 11));
  const auto local = parse_utc_timestamp(fix);
  if (!local) return std::nullopt;
  if (text[zone] == 'Z') return local->time;
  const auto hours = read_number(text.substr(zone + 1, 2)), minutes = read_number(text.substr(zone + 4));
  if (!hours || !minutes) return std::nullopt;
  const auto offset = std::chrono::minutes{*hours * 60 + *minutes};
  return text[zone] == '+' ? local->time - offset : local->time + offset;
}

void read_numbers(QuickfixStore& store) {
  const fs::path both = store.file("seqnums");
  if (store.kind == QuickfixKind::quickfix) {
    const std::string text = read_small(both).value_or("");
    const std::size_t colon = text.find(':');
    const bool split = colon != std::string::npos;
    store.next_out = sequence_number(both, split ? read_number(std::string_view{text}.substr(0, colon)) : std::nullopt);
    store.next_in = sequence_number(both, split ? read_number(std::string_view{text}.substr(colon + 1)) : std::nullopt);
    return;
  }
  for (const bool out : {true, false}) {
    const fs::path path = store.file(out ? "senderseqnums" : "targetseqnums");
    const std::string bytes = read_small(path).value_or("");
    // QuickFIX/J writes a number only when it first changes.
    std::uint64_t number = 1;
    if (!bytes.empty()) {
      const auto text = store.kind == QuickfixKind::quickfixj ? java_text(bytes) : std::optional{bytes};
      number = sequence_number(path, text ? read_number(*text) : std::nullopt);
    }
    (out ? store.next_out : store.next_in) = number;
  }
}

void read_creation_time(QuickfixStore& store) {
  const auto bytes = read_small(store.file("session"));
  if (bytes) {
    const auto text = store.kind == QuickfixKind::quickfixj ? java_text(*bytes) : bytes;
    const std::string_view time = text ? without_padding(*text) : std::string_view{};
    if (const auto parsed = parse_utc_timestamp(time)) store.created = parsed->time;
    if (!store.created) store.created = rfc3339(time);
  }
  if (!store.created) {
    store.notes.push_back(store.file("session").string() + " has no creation time: a schedule counts from now");
  }
}

void add_message(QuickfixStore& store, std::uint64_t number, std::uint64_t offset, std::uint64_t size) {
  if (number == 0 || size == 0 || size > QuickfixStore::max_message_size) {
    throw ConfigError(store.file("header").string() + ": has an entry with sequence number " + std::to_string(number) +
                      " and size " + std::to_string(size) + ", which is invalid: the file is damaged");
  }
  store.messages[number] = {offset, static_cast<std::uint32_t>(size)};
}

void read_binary_header(QuickfixStore& store, std::ifstream& in) {
  constexpr std::size_t entry_size = 16;
  std::string entry(entry_size, '\0');
  while (in.read(entry.data(), entry_size)) {
    const std::string_view bytes = entry;
    add_message(store, big_endian(bytes.substr(0, 4)), big_endian(bytes.substr(4, 8)), big_endian(bytes.substr(12, 4)));
  }
  if (in.gcount() != 0) store.notes.push_back(store.file("header").string() + ": the last entry is cut off");
}

void read_text_header(QuickfixStore& store, std::ifstream& in) {
  std::string entry;
  while (in >> std::setw(longest_entry) >> entry) {
    const std::string_view text = entry;
    const std::size_t first = text.find(','), second = text.find(',', first + 1);
    const bool three = first != std::string_view::npos && second != std::string_view::npos;
    const auto number = three ? read_number(text.substr(0, first)) : std::nullopt;
    const auto offset = three ? read_number(text.substr(first + 1, second - first - 1)) : std::nullopt;
    const auto size = three ? read_number(text.substr(second + 1)) : std::nullopt;
    if (number && offset && size) {
      add_message(store, *number, *offset, *size);
    } else if ((in >> std::ws).eof()) {
      store.notes.push_back(store.file("header").string() + ": the last entry is cut off");
    } else {
      throw ConfigError(store.file("header").string() + ": \"" + entry.substr(0, 60) +
                        "\" is not an entry NUMBER,OFFSET,SIZE: the file is damaged");
    }
  }
}

void read_header(QuickfixStore& store) {
  std::ifstream in = open_file(store.file("header"));
  if (!in) {
    store.notes.push_back("cannot read " + store.file("header").string() + ": no message is imported");
  } else if (store.kind == QuickfixKind::quickfixj) {
    read_binary_header(store, in);
  } else {
    read_text_header(store, in);
  }
}

// The spelling of QuickFIX/J in file names.
std::string trusted(std::string_view text) {
  std::string out{text};
  for (char& c : out) {
    const bool plain =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' || c == '-';
    if (!plain) c = '_';
  }
  return out;
}

bool take(std::string_view& text, std::string_view front) {
  if (!text.starts_with(front)) return false;
  text.remove_prefix(front.size());
  return true;
}

// In the engine's format, so that the session finds the imported messages.
std::string identity_text(std::string_view begin_string, std::string_view sender, std::string_view target,
                          std::string_view qualifier) {
  SessionConfig session;
  session.begin_string = begin_string;
  session.sender_comp_id = sender;
  session.target_comp_id = target;
  session.session_qualifier = qualifier;
  return identity(session);
}

// A CompID in an identity, without identity()'s escapes.
std::string unescaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    if (take(text, "%25")) {
      out += '%';
    } else if (take(text, "%3A")) {
      out += ':';
    } else if (take(text, "%3E")) {
      out += '>';
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

// The identity from the first message with the CompIDs of its session.
std::optional<std::string> identity_by_messages(const QuickfixStore& store) {
  constexpr std::size_t tries = 100;
  QuickfixBody body{store};
  MessageView view{32768};
  std::size_t tried = 0;
  for (auto at = store.messages.rbegin(); at != store.messages.rend() && tried < tries; ++at, ++tried) {
    if (view.parse(body.read(at->second)) != WireError::none) continue;
    const CompIds ids{view.begin_string(), view.get_view(Tag::SenderCompID), view.get_view(Tag::TargetCompID)};
    if (!is_begin_string(ids.begin_string) || ids.sender.empty() || ids.target.empty()) continue;
    if (const auto qualifier = qualifier_in_name(store, ids)) {
      return identity_text(ids.begin_string, ids.sender, ids.target, *qualifier);
    }
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(QuickfixKind kind) noexcept {
  switch (kind) {
    case QuickfixKind::quickfix: return "QuickFIX";
    case QuickfixKind::quickfixj: return "QuickFIX/J";
    case QuickfixKind::quickfixgo: return "QuickFIX/Go";
  }
  return "?";
}

std::filesystem::path QuickfixStore::file(std::string_view extension) const {
  return folder / (name + '.' + std::string{extension});
}

std::vector<QuickfixStore> find_quickfix_stores(const std::filesystem::path& folder) {
  std::error_code error;
  std::set<std::string> one_file, two_files;
  for (const auto& entry : fs::directory_iterator{folder, error}) {
    const fs::path name = entry.path().filename();
    if (name.extension() == ".seqnums") one_file.insert(name.stem().string());
    if (name.extension() == ".senderseqnums") two_files.insert(name.stem().string());
  }
  if (error) throw ConfigError(cannot("read", folder, error.value()) + "; give the FileStorePath of QuickFIX");
  std::vector<QuickfixStore> stores;
  const auto add = [&](const std::string& name, QuickfixKind kind) {
    QuickfixStore& store = stores.emplace_back();
    store.folder = folder;
    store.name = name;
    store.kind = kind;
    read_numbers(store);
    read_creation_time(store);
    read_header(store);
  };
  for (const std::string& name : one_file) add(name, QuickfixKind::quickfix);
  for (const std::string& name : two_files) {
    if (one_file.contains(name)) {
      throw ConfigError((folder / name).string() +
                        ": has .seqnums and .senderseqnums, of two engines: move the files of one away");
    }
    // Java starts a text with its length, whose first byte is zero; Go writes only digits.
    const std::string bytes = read_small(folder / (name + ".senderseqnums")).value_or("");
    const std::string session = read_small(folder / (name + ".session")).value_or("");
    const std::string& telling = bytes.empty() ? session : bytes;
    add(name, telling.starts_with('\0') ? QuickfixKind::quickfixj : QuickfixKind::quickfixgo);
  }
  if (stores.empty()) {
    throw ConfigError(folder.string() +
                      ": is not a QuickFIX file store: there is no NAME.seqnums (QuickFIX) and no "
                      "NAME.senderseqnums (QuickFIX/J, QuickFIX/Go) in it; give the FileStorePath");
  }
  std::ranges::sort(stores, {}, &QuickfixStore::name);
  return stores;
}

QuickfixBody::QuickfixBody(const QuickfixStore& store) : in_(open_file(store.file("body"))) {
  if (!in_ && !store.messages.empty()) {
    throw ConfigError("cannot read " + store.file("body").string() + ", whose messages " +
                      store.file("header").string() + " lists; copy it next to the other files");
  }
  if (in_ && in_.seekg(0, std::ios::end)) file_size_ = static_cast<std::uint64_t>(in_.tellg());
}

std::string_view QuickfixBody::read(const QuickfixStore::Message& message) {
  // A damaged header may claim more bytes than exist, and do so for each message.
  if (message.offset > file_size_ || message.size > file_size_ - message.offset) return {};
  bytes_.resize(message.size);
  in_.clear();
  in_.seekg(static_cast<std::streamoff>(message.offset));
  if (!in_.read(bytes_.data(), static_cast<std::streamsize>(message.size))) return {};
  return bytes_;
}

std::optional<std::string> qualifier_in_name(const QuickfixStore& store, const CompIds& ids) {
  const bool java = store.kind == QuickfixKind::quickfixj;
  const auto spelled = [java](std::string_view id) { return java ? trusted(id) : std::string{id}; };
  const bool has_sub_ids = store.kind != QuickfixKind::quickfix;
  std::string_view rest = store.name;
  if (!take(rest, spelled(ids.begin_string) + '-') || !take(rest, spelled(ids.sender))) return std::nullopt;
  const std::string target = '-' + spelled(ids.target);
  if (has_sub_ids && rest.starts_with('_')) rest.remove_prefix(std::min(rest.size(), rest.find(target)));
  if (!take(rest, target)) return std::nullopt;
  if (has_sub_ids && rest.starts_with('_')) rest.remove_prefix(std::min(rest.size(), rest.find('-')));
  if (rest.empty()) return "";
  if (!take(rest, "-") || rest.empty()) return std::nullopt;
  return std::string{rest};
}

// Parsed from the left, as identity() documents.
bool may_be(const QuickfixStore& store, std::string_view identity) {
  const std::size_t colon = identity.find(':');
  const std::size_t arrow = colon == std::string_view::npos ? colon : identity.find("->", colon + 1);
  if (arrow == std::string_view::npos) return false;
  const std::string sender = unescaped(identity.substr(colon + 1, arrow - colon - 1));
  const std::size_t end = std::min(identity.find(':', arrow), identity.size());
  const std::string target = unescaped(identity.substr(arrow + 2, end - arrow - 2));
  const std::string_view wanted = identity.substr(std::min(end + 1, identity.size()));
  const auto qualifier = qualifier_in_name(store, {identity.substr(0, colon), sender, target});
  if (!qualifier) return false;
  return *qualifier == wanted || (store.kind == QuickfixKind::quickfixj && *qualifier == trusted(wanted));
}

std::string identity_of(const QuickfixStore& store) {
  if (const auto identity = identity_by_messages(store)) return *identity;
  std::vector<std::string_view> parts;
  for (std::string_view rest = store.name;;) {
    const std::size_t hyphen = rest.find('-');
    parts.push_back(rest.substr(0, hyphen));
    if (hyphen == std::string_view::npos) break;
    rest.remove_prefix(hyphen + 1);
  }
  const std::string file = (store.folder / store.name).string();
  if (parts.size() < 3 || std::ranges::count(parts, std::string_view{}) != 0 || !is_begin_string(parts[0])) {
    throw ConfigError(file +
                      ".*: the name is not BeginString-SenderCompID-TargetCompID; name the "
                      "session with --session 'FIX.4.4:SENDER->TARGET'");
  }
  const bool sub_ids = store.kind != QuickfixKind::quickfix && store.name.find('_') != std::string::npos;
  if (parts.size() == 3 && !sub_ids) return identity_text(parts[0], parts[1], parts[2], "");
  // Hyphens in CompIDs, a qualifier or sub IDs make the name alone ambiguous.
  const auto joined = [&](std::size_t begin, std::size_t end) {
    std::string text{parts[begin]};
    for (std::size_t i = begin + 1; i < end; ++i) text.append("-").append(parts[i]);
    return text;
  };
  std::string readings;
  for (std::size_t i = 2; i < parts.size() && i < 6; ++i) {
    if (!readings.empty()) readings += ", ";
    readings += '\'' + identity_text(parts[0], joined(1, i), joined(i, parts.size()), "") + '\'';
  }
  if (parts.size() == 4) readings += ", '" + identity_text(parts[0], parts[1], parts[2], parts[3]) + '\'';
  throw ConfigError(file +
                    ".*: no message in it has the session's CompIDs, and the name is ambiguous: name the "
                    "session with --session, such as " +
                    readings);
}

}  // namespace nfx::app::store
