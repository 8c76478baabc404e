// Shared code of the checks: reads files of a live or copied host, and distinguishes "missing" from "not readable".
#include "host/doctor/check.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace nfx::doctor {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) lines.push_back(next_line(text));
  return lines;
}

bool in_virtual_machine(const Probe& files) {
  if (const auto type = files.text("/sys/hypervisor/type"); type && !type->empty()) return true;
  const auto cpus = files.text("/proc/cpuinfo");
  if (!cpus) return false;
  const auto flags = line_value(*cpus, "flags");
  return flags && (' ' + *flags + ' ').contains(" hypervisor ");
}

std::optional<Task> read_task(const Probe& files, int process, int id, const std::string& file) {
  const auto text = files.text(file);
  if (!text) return std::nullopt;
  Task task{process, id, line_value(*text, "Name").value_or(""), '?', false, {}};
  if (const auto state = line_value(*text, "State"); state && !state->empty()) task.state = state->front();
  // Kernel threads have no memory of their own, and dead tasks no longer run.
  if (task.state == 'Z' || task.state == 'X') return std::nullopt;
  task.kernel = !line_value(*text, "VmSize");
  if (const auto allowed = line_value(*text, "Cpus_allowed_list"))
    task.allowed = CpuSet::parse_list(*allowed).value_or(CpuSet{});
  return task;
}

std::vector<Task> read_tasks(const Probe& files) {
  constexpr std::size_t most = 65536;
  std::vector<Task> tasks;
  std::optional<std::string> own;
  if (const auto status = files.text("/proc/self/status")) own = line_value(*status, "Pid");
  for (const std::string& process : files.list("/proc")) {
    if (!all_digits(process) || process == own) continue;
    const int number = std::atoi(process.c_str());
    const std::string folder = "/proc/" + process;
    std::vector<std::string> threads = files.list(folder + "/task");
    if (threads.empty()) {
      if (auto task = read_task(files, number, number, folder + "/status")) tasks.push_back(*std::move(task));
    }
    for (const std::string& thread : threads) {
      auto task = read_task(files, number, std::atoi(thread.c_str()), folder + "/task/" + thread + "/status");
      if (task) tasks.push_back(*std::move(task));
    }
    if (tasks.size() >= most) break;
  }
  return tasks;
}

}  // namespace

std::map<std::string, int, std::less<>> collected_errors(const HostFiles& files) {
  std::map<std::string, int, std::less<>> errors;
  if (files.live()) return errors;
  const auto text = files.text(unreadable_file);
  if (!text) return errors;
  for (const std::string_view line : lines_of(*text)) {
    const std::size_t blank = line.find(' ');
    const auto error = number(line.substr(0, blank));
    if (error && blank != std::string_view::npos) errors.emplace(line.substr(blank + 1), static_cast<int>(*error));
  }
  return errors;
}

std::expected<std::string, int> Probe::text(const std::string& file) const {
  if (const auto found = errors_.find(file); found != errors_.end()) return std::unexpected(found->second);
  auto content = files_.text(file);
  if (!content && content.error() == ENOENT) {
    // A file below a folder that could not be listed is hidden, not missing.
    for (std::string folder = file; folder.find('/', 1) != std::string::npos;) {
      folder.erase(folder.rfind('/'));
      if (const auto found = errors_.find(folder); found != errors_.end()) return std::unexpected(found->second);
    }
  }
  return content;
}

std::expected<long long, int> Probe::integer(const std::string& file) const {
  const auto content = text(file);
  if (!content) return std::unexpected(content.error());
  const auto value = number(*content);
  if (!value) return std::unexpected(EINVAL);
  return *value;
}

int Probe::directory_error(const std::string& directory) const {
  for (std::string folder = directory; !folder.empty(); folder.erase(folder.rfind('/'))) {
    if (const auto found = errors_.find(folder); found != errors_.end()) return found->second;
  }
  const int fd = ::open(files_.path(directory).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno;
  ::close(fd);
  return 0;
}

OwnGroup own_group(const HostFiles& files, std::string_view controller) {
  OwnGroup group;
  const auto own = files.text("/proc/self/cgroup");
  const auto mounts = read_mounts(files);
  if (!own || !mounts) return group;
  std::string mount, below;
  for (const std::string_view line : lines_of(*own)) {
    // "4:cpu,cpuacct:/a/b" or "0::/a/b"
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::vector<std::string> names = split(line.substr(first + 1, second - first - 1), ',');
    const bool named = std::ranges::find(names, controller) != names.end();
    if (!named && !(names.empty() && below.empty())) continue;
    below = line.substr(second + 1);
    group.v2 = !named;
    if (named) break;
  }
  for (const Mount& each : *mounts) {
    const bool fits = group.v2 ? each.type == "cgroup2" : each.type == "cgroup" && each.has_option(controller);
    if (fits) mount = each.folder;
    if (fits) break;
  }
  if (!mount.starts_with('/') || !below.starts_with('/')) return group;
  while (below.ends_with('/')) below.pop_back();
  // Seen from inside a container, an outside group is called "/../..", where nothing can be read.
  if (below.starts_with("/..")) below.clear();
  for (;; below.erase(below.rfind('/'))) {
    group.folders.push_back(mount + below);
    if (below.empty()) return group;
  }
}

Examination::Examination(const DoctorInput& in)
    : input(in),
      facts(in.facts),
      plan(in.plan),
      files(in.files),
      isolated_cpus(in.plan != nullptr ? in.plan->isolated_cpus : in.facts.isolated_cpus()),
      has_cpus(!in.facts.online.empty()),
      virtual_machine(in_virtual_machine(files)),
      real_time_priority(0),
      network(read_network_facts(in.files)),
      tasks(read_tasks(files)) {
  if (plan == nullptr) return;
  for (const ThreadPlacement& thread : plan->threads)
    real_time_priority = std::max(real_time_priority, thread.priority);
}

const Task* Examination::process(std::string_view name) const {
  const auto found =
      std::ranges::find_if(tasks, [&](const Task& task) { return task.process == task.id && task.name == name; });
  return found == tasks.end() ? nullptr : &*found;
}

std::optional<std::string> Examination::parameter(std::string_view name) const {
  const auto found = facts.parameters.find(name);
  if (found == facts.parameters.end()) return std::nullopt;
  return found->second;
}

void Report::add(CheckResult result, std::string seen, std::string wanted, std::string subject) {
  out_.push_back({&check_, result, std::move(subject), std::move(seen), std::move(wanted)});
}

void Report::missing(const std::string& file, int error, std::string subject) {
  const bool absent = error == ENOENT || error == ENOTDIR || error == ENODEV || error == EOPNOTSUPP;
  if (absent) return not_here("no " + file, std::move(subject));
  cannot_tell(file + ": " + std::generic_category().message(error), std::move(subject));
}

std::optional<std::string> Report::text(const Examination& e, const std::string& file, std::string subject) {
  auto content = e.files.text(file);
  if (content) return *std::move(content);
  missing(file, content.error(), std::move(subject));
  return std::nullopt;
}

std::optional<long long> Report::integer(const Examination& e, const std::string& file, std::string subject) {
  const auto content = text(e, file, subject);
  if (!content) return std::nullopt;
  const auto value = number(*content);
  if (!value) cannot_tell(file + ": \"" + *content + "\" is not a number", std::move(subject));
  return value;
}

std::optional<CpuSet> Report::mask(const Examination& e, const std::string& file, std::string subject) {
  const auto content = text(e, file, subject);
  if (!content) return std::nullopt;
  auto set = CpuSet::parse_mask(*content);
  if (set) return *std::move(set);
  cannot_tell(file + ": " + set.error(), std::move(subject));
  return std::nullopt;
}

std::optional<long long> Report::setting(const NetworkDevice& device, std::string_view key, std::string_view topic) {
  if (const auto value = device.setting(key)) return value;
  if (const auto error = device.setting(std::string{topic} + "_error")) {
    cannot_tell("ethtool: error " + std::to_string(*error), device.name);
  } else {
    not_here("the driver does not report it", device.name);
  }
  return std::nullopt;
}

bool Report::set_apart(const Examination& e, CheckResult otherwise) {
  if (!e.has_cpus) {
    not_here("no CPUs are described");
    return false;
  }
  if (!e.isolated_cpus.empty()) return true;
  if (e.plan != nullptr) {
    info("the plan has no busy-polling thread, so no CPU needs to be isolated");
  } else {
    add(otherwise, "no CPU is isolated",
        otherwise == CheckResult::info ? "" : "CPUs for the busy-polling threads: see 'nfx host plan CONFIG'");
  }
  return false;
}

bool Report::no_network(const Examination& e) {
  if (e.network.empty()) not_here("no network device with hardware");
  return e.network.empty();
}

namespace {

// The operator of an outcome's condition and its operand.
std::pair<std::string_view, std::string_view> condition(std::string_view when) {
  const bool compares = when.starts_with("!=") || when.starts_with("<=") || when.starts_with(">=");
  return {when.substr(0, compares ? 2 : 0), when.substr(compares ? 2 : 0)};
}

bool fits(std::string_view when, std::string_view value) {
  const auto [compare, bound] = condition(when);
  if (compare == "!=") return value != bound;
  if (compare.empty()) return bound.empty() || value == bound;
  const long long number_here = number(value).value_or(0), number_there = number(bound).value_or(0);
  return compare == "<=" ? number_here <= number_there : number_here >= number_there;
}

bool is_number(const Setting& setting) {
  return std::ranges::all_of(setting.outcomes, [](const Outcome& outcome) {
    return outcome.when.empty() || number(condition(outcome.when).second).has_value();
  });
}

}  // namespace

void look_at(const Setting& setting, const Examination& e, Report& report) {
  const auto tell = [&](const std::string& value, const std::string& subject) {
    const Outcome& outcome =
        *std::ranges::find_if(setting.outcomes, [&](const Outcome& each) { return fits(each.when, value); });
    std::string seen{outcome.seen};
    if (const std::size_t at = seen.find("{}"); at != std::string::npos) seen.replace(at, 2, value);
    const bool excusable = setting.excuse != nullptr && outcome.result != CheckResult::good;
    if (const std::string_view excuse = excusable ? setting.excuse(e) : ""; !excuse.empty())
      return report.good(seen + "; " + std::string{excuse}, subject);
    report.add(outcome.result, seen, std::string{outcome.wanted}, subject);
  };
  if (const std::string file{setting.file}; !file.empty() && is_number(setting)) {
    if (const auto value = report.integer(e, file)) tell(std::to_string(*value), {});
  } else if (!file.empty()) {
    if (const auto value = report.text(e, file)) tell(chosen(*value), {});
  }
  if (!setting.file.empty()) return;
  if (report.no_network(e)) return;
  for (const NetworkDevice& device : e.network) {
    const auto value = report.setting(device, setting.ethtool.key, setting.ethtool.topic);
    if (value) tell(std::to_string(*value), device.name);
  }
}

std::string join(const std::vector<std::string>& words, std::size_t most) {
  std::string text;
  const std::size_t shown = words.size() > most + 1 ? most : words.size();
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + words[i];
  if (shown < words.size()) text += " and " + std::to_string(words.size() - shown) + " more";
  return text;
}

std::vector<std::string> split(std::string_view text, char by) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = text.find(by);
    if (end != 0) words.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return words;
}

std::string chosen(std::string_view text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']', open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos) return std::string{text};
  return std::string{text.substr(open + 1, close - open - 1)};
}

std::optional<std::string> line_value(std::string_view text, std::string_view key) {
  const auto value = value_of(text, key);
  if (!value) return std::nullopt;
  return std::string{*value};
}

std::optional<long long> number(std::string_view text) noexcept { return nfx::number<long long>(text); }

std::string percent(std::uint64_t part, std::uint64_t whole) {
  const std::uint64_t hundredths = whole == 0 ? 0 : part * 10000 / whole;
  const std::string rest = std::to_string(hundredths % 100);
  return std::to_string(hundredths / 100) + '.' + (rest.size() < 2 ? "0" : "") + rest + " %";
}

}  // namespace nfx::doctor
