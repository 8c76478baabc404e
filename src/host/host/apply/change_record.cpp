// The record of changes on disk, with the previous values, so that revert works after a crash and from another process.
#include "host/change_record.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/enumerator_name.hpp"
#include "base/error_text.hpp"
#include "base/text.hpp"
#include "host/apply/tasks.hpp"

namespace nfx {
namespace {

using nlohmann::json;

constexpr std::size_t max_record_size = 256U << 20;

// JSON holds text, but files hold bytes: each byte becomes the character with its number.
std::string to_characters(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      text += c;
    } else {
      text += static_cast<char>(0xC0 | (byte >> 6));
      text += static_cast<char>(0x80 | (byte & 0x3F));
    }
  }
  return text;
}

std::string to_bytes(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto first = static_cast<unsigned char>(text[i]);
    if (first >= 0xC0 && i + 1 < text.size()) {
      bytes += static_cast<char>(((first & 0x03) << 6) | (static_cast<unsigned char>(text[++i]) & 0x3F));
    } else {
      bytes += text[i];
    }
  }
  return bytes;
}

std::string bytes_of(const json& object, const char* name) { return to_bytes(object.value(name, "")); }

CpuSet cpus_of(const std::string& list) { return CpuSet::parse_list(list).value_or(CpuSet{}); }

json task_json(const TaskState& task) {
  return json::array({task.pid, task.tid, task.start, to_characters(task.name), task.mask.to_list(), task.moves});
}

TaskState task_of(const json& row) {
  return {.pid = row.at(0),
          .tid = row.at(1),
          .start = row.at(2),
          .name = to_bytes(row.at(3).get<std::string>()),
          .mask = cpus_of(row.at(4)),
          .moves = row.at(5)};
}

json plan_json(const PlacementPlan& plan) {
  json threads = json::array();
  for (const ThreadPlacement& thread : plan.threads) {
    threads.push_back({{"name", thread.name},
                       {"role", to_string(thread.role)},
                       {"wait", to_string(thread.wait)},
                       {"cpus", thread.cpus.to_list()},
                       {"priority", thread.priority},
                       {"numa_node", thread.numa_node}});
  }
  return {{"hash", plan.hash},
          {"quiet", plan.isolated_cpus.to_list()},
          {"housekeeping", plan.housekeeping.to_list()},
          {"threads", std::move(threads)}};
}

PlacementPlan plan_of(const json& object) {
  PlacementPlan plan;
  plan.hash = object.at("hash");
  plan.isolated_cpus = cpus_of(object.at("quiet"));
  plan.housekeeping = cpus_of(object.at("housekeeping"));
  for (const json& row : object.at("threads")) {
    ThreadPlacement thread;
    thread.name = row.at("name");
    thread.role = parse_thread_role(row.at("role").get<std::string>()).value_or(ThreadRole::poll);
    thread.wait = row.at("wait") == to_string(ThreadWait::spin) ? ThreadWait::spin : ThreadWait::block;
    thread.cpus = cpus_of(row.at("cpus"));
    thread.priority = row.at("priority");
    thread.numa_node = row.at("numa_node");
    plan.threads.push_back(std::move(thread));
  }
  return plan;
}

// Thrown for a line that is valid JSON but not a record. Stopping is better than undoing the wrong change.
struct NotARecord {};

constexpr std::array kinds{ChangeKind::write_file,     ChangeKind::make_group,   ChangeKind::move_tasks,
                           ChangeKind::set_affinities, ChangeKind::install_file, ChangeKind::make_directory};

json change_json(const Change& change) {
  json object{
      {"kind", to_string(change.kind)},     {"area", change.area},       {"path", change.path},
      {"seen", to_characters(change.seen)}, {"existed", change.existed}, {"wanted", to_characters(change.wanted)},
      {"undo", to_characters(change.undo)}};
  if (!change.from.empty()) object["from"] = change.from;
  if (change.goes_with_group) object["goes_with_group"] = true;
  if (change.compare != Compare::text) object["compare"] = std::to_underlying(change.compare);
  if (change.may_refuse) object["may_refuse"] = true;
  if (change.kind == ChangeKind::install_file) {
    object["mode"] = change.mode;
    object["seen_mode"] = change.seen_mode;
  }
  for (const TaskState& task : change.tasks) object["tasks"].push_back(task_json(task));
  object["why"] = change.why;
  return object;
}

Change change_of(const json& object) {
  Change change;
  const auto kind = std::ranges::find_if(kinds, [&](ChangeKind each) { return object.at("kind") == to_string(each); });
  if (kind == kinds.end()) throw NotARecord{};
  change.kind = *kind;
  change.area = object.at("area");
  change.path = object.at("path");
  change.seen = bytes_of(object, "seen");
  change.existed = object.at("existed");
  change.wanted = bytes_of(object, "wanted");
  change.undo = bytes_of(object, "undo");
  change.from = object.value("from", "");
  change.goes_with_group = object.value("goes_with_group", false);
  const auto compare = object.value("compare", unsigned{std::to_underlying(Compare::text)});
  if (compare > std::to_underlying(Compare::contains_word)) throw NotARecord{};
  change.compare = static_cast<Compare>(compare);
  if (change.compare == Compare::contains_word && change.wanted.empty()) throw NotARecord{};
  change.may_refuse = object.value("may_refuse", false);
  change.mode = object.value("mode", 0644U);
  change.seen_mode = object.value("seen_mode", 0U);
  // No installed file runs as its owner or group.
  if (change.mode > 0777 || change.seen_mode > 0777) throw NotARecord{};
  if (const auto tasks = object.find("tasks"); tasks != object.end()) {
    for (const json& row : *tasks) change.tasks.push_back(task_of(row));
  }
  change.why = object.at("why");
  return change;
}

json outcome_json(std::size_t index, const RecordedOutcome& outcome) {
  json object{{"of", index}, {"outcome", to_string(outcome.outcome)}};
  if (outcome.error != 0) object["errno"] = outcome.error;
  if (!outcome.seen.empty()) object["seen"] = to_characters(outcome.seen);
  for (const RefusedTask& refused : outcome.refused)
    object["refused"].push_back({{"task", task_json(refused.task)}, {"errno", refused.error}});
  return object;
}

RecordedOutcome outcome_of(const json& object) {
  RecordedOutcome outcome;
  constexpr std::array outcomes{Outcome::accepted, Outcome::pending, Outcome::refused};
  const auto found =
      std::ranges::find_if(outcomes, [&](Outcome each) { return object.at("outcome") == to_string(each); });
  if (found == outcomes.end()) throw NotARecord{};
  outcome.outcome = *found;
  outcome.error = object.value("errno", 0);
  outcome.seen = bytes_of(object, "seen");
  if (const auto refused = object.find("refused"); refused != object.end()) {
    for (const json& row : *refused) outcome.refused.push_back({task_of(row.at("task")), row.at("errno")});
  }
  return outcome;
}

void read_line(const json& object, RecordContent& content) {
  if (const auto plan = object.find("plan"); plan != object.end()) {
    content.plan = plan_of(*plan);
    content.boot_id = object.at("boot_id");
  } else if (const auto of = object.find("of"); of != object.end()) {
    const auto index = of->get<std::size_t>();
    if (index >= content.changes.size()) throw NotARecord{};
    content.outcomes[index] = outcome_of(object);
  } else {
    content.changes.push_back(change_of(object));
  }
}

// Rejects fractions and integers of more than 64 bits, which the parser would turn into a floating-point number.
json parse_line(std::string_view line) {
  bool fraction = false;
  json object = json::parse(line, [&fraction](int, json::parse_event_t event, const json& value) {
    fraction = fraction || (event == json::parse_event_t::value && value.is_number_float());
    return true;
  });
  if (fraction) throw NotARecord{};
  return object;
}

[[noreturn]] void refuse_line(const std::filesystem::path& file, std::size_t number) {
  throw ApplyError(file.string() + ":" + std::to_string(number) +
                   ": is not a line of a record of changes; move the file away if the host is as it should be");
}

}  // namespace

std::string_view to_string(ChangeKind kind) noexcept { return enumerator_name(kind); }

std::string_view to_string(Outcome outcome) noexcept { return enumerator_name(outcome); }

bool same_content(Compare compare, std::string_view content, std::string_view wanted) {
  switch (compare) {
    case Compare::text: return trimmed(content) == trimmed(wanted);
    case Compare::cpu_list: {
      const auto a = CpuSet::parse_list(content), b = CpuSet::parse_list(wanted);
      return a && b && *a == *b;
    }
    case Compare::cpu_mask: {
      const auto a = CpuSet::parse_mask(content), b = CpuSet::parse_mask(wanted);
      return a && b && *a == *b;
    }
    case Compare::contains_word: {
      // "+cpuset" or "-cpuset" was written to a file that lists words.
      const bool there =
          (' ' + std::string{trimmed(content)} + ' ').contains(' ' + std::string{wanted.substr(1)} + ' ');
      return there == wanted.starts_with('+');
    }
  }
  return false;
}

RecordLock::RecordLock(const std::filesystem::path& folder)
    : folder_(folder, TrustedFolder::Missing::make), file_(folder / "lock") {
  if (folder_.fd() < 0) throw ApplyError(folder_.problem() + "; --state names another folder");
  // The holder removes the file at the end, and a lock on a file that was removed or replaced is worthless: retry.
  for (int attempt = 0; attempt < 100; ++attempt) {
    const TrustedFolder::File opened = folder_.open("lock", O_RDWR | O_CREAT);
    if (opened.fd < 0) throw ApplyError(opened.problem + "; --state names another folder");
    fd_ = opened.fd;
    if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      std::array<char, 32> pid{};
      const ssize_t size = ::read(fd_, pid.data(), pid.size());
      ::close(std::exchange(fd_, -1));
      throw ApplyError(file_.string() + ": process " +
                       std::string(pid.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))) +
                       " changes this host's placement at the moment; try again when it is done");
    }
    struct stat ours{}, there{};
    if (::fstat(fd_, &ours) == 0 && ::fstatat(folder_.fd(), "lock", &there, AT_SYMLINK_NOFOLLOW) == 0 &&
        ours.st_ino == there.st_ino) {
      const std::string pid = std::to_string(::getpid());
      if (::ftruncate(fd_, 0) != 0 || ::write(fd_, pid.data(), pid.size()) < 0) break;
      return;
    }
    ::close(std::exchange(fd_, -1));
  }
  if (fd_ >= 0) ::close(fd_);
  throw ApplyError("cannot lock " + file_.string() + "; --state names another folder");
}

RecordLock::~RecordLock() {
  ::unlinkat(folder_.fd(), "lock", 0);
  ::close(fd_);
  // Removes the folder if it is empty.
  ::rmdir(file_.parent_path().c_str());
}

std::optional<RecordContent> ChangeRecord::load(const std::filesystem::path& file) {
  const TrustedFolder folder{file.parent_path()};
  const TrustedFolder::File opened = folder.open(file.filename().string(), O_RDONLY);
  if (opened.error == ENOENT || opened.error == ENOTDIR) return std::nullopt;
  if (opened.fd < 0) throw ApplyError(opened.problem);
  const int fd = opened.fd;
  std::string text;
  std::array<char, 65536> chunk;
  ssize_t got = 0;
  while (text.size() < max_record_size && (got = ::read(fd, chunk.data(), chunk.size())) > 0)
    text.append(chunk.data(), static_cast<std::size_t>(got));
  ::close(fd);
  if (got < 0) throw ApplyError(cannot("read", file, EIO));
  RecordContent content;
  std::string_view rest = text;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    // A last line without its end was cut off, and its change has not been made.
    if (end == std::string_view::npos) break;
    try {
      read_line(parse_line(rest.substr(0, end)), content);
    } catch (const json::exception&) {
      refuse_line(file, number);
    } catch (const NotARecord&) {
      refuse_line(file, number);
    }
    content.bytes += end + 1;
    rest.remove_prefix(end + 1);
  }
  return content;
}

ChangeRecord::ChangeRecord(std::filesystem::path file, const RecordContent* before)
    : file_(std::move(file)),
      bytes_before_(before == nullptr ? 0 : before->bytes),
      next_(before == nullptr ? 0 : before->changes.size()) {}

ChangeRecord::~ChangeRecord() {
  if (fd_ >= 0) ::close(fd_);
}

void ChangeRecord::set_plan(PlacementPlan plan, std::string boot_id) {
  plan_line_ = json{{"nexusfix_placement", 1}, {"boot_id", std::move(boot_id)}, {"plan", plan_json(plan)}}.dump();
}

void ChangeRecord::add_plan() {
  if (!plan_line_.empty()) append(std::exchange(plan_line_, {}), false);
}

std::size_t ChangeRecord::add(const Change& change) {
  add_plan();
  append(change_json(change).dump(), true);
  return next_++;
}

void ChangeRecord::add(std::size_t index, const RecordedOutcome& outcome) {
  append(outcome_json(index, outcome).dump(), false);
}

void ChangeRecord::open_file() {
  const TrustedFolder folder{file_.parent_path()};
  const TrustedFolder::File opened = folder.open(file_.filename().string(), O_WRONLY | O_CREAT | O_APPEND);
  if (opened.fd < 0) throw ApplyError(opened.problem);
  fd_ = opened.fd;
  // Cuts the file after the last whole line.
  if (::ftruncate(fd_, static_cast<off_t>(bytes_before_)) != 0) throw ApplyError(cannot("write", file_, errno));
  const int synced = ::openat(folder.fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (synced < 0) return;
  ::fsync(synced);
  ::close(synced);
}

void ChangeRecord::append(std::string line, bool sync) {
  const auto fail = [&] { return ApplyError(cannot("write", file_, errno)); };
  if (fd_ < 0) open_file();
  line += '\n';
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t done = ::write(fd_, rest.data(), rest.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) throw fail();
    rest.remove_prefix(static_cast<std::size_t>(done));
  }
  if (sync && ::fdatasync(fd_) != 0) throw fail();
}

void ChangeRecord::forget() {
  if (fd_ >= 0) {
    if (bytes_before_ != 0 && ::ftruncate(fd_, static_cast<off_t>(bytes_before_)) != 0) return;
    ::close(std::exchange(fd_, -1));
  }
  if (bytes_before_ == 0) ::unlink(file_.c_str());
}

}  // namespace nfx
