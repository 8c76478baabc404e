// Metrics in Prometheus's text format.
// Thread: any. Cost: allocates. Errors: none; what is not printable in a label is replaced.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "placement/numbers.hpp"

namespace nfx {

// Escapes backslashes, quotes and newlines in a label's value.
[[nodiscard]] inline std::string label(std::string_view name, std::string_view value) {
  std::string out{name};
  out += "=\"";
  for (const char c : printable_text(value)) {
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out + '"';
}

class Exposition {
 public:
  // Begins a metric: its values follow.
  void metric(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    out_.append("# HELP ").append(name).append(" ").append(help).append("\n# TYPE ").append(name).append(" ");
    out_.append(type).append("\n");
  }
  // `suffix` is of a histogram's series, such as "_bucket".
  void value(std::string_view labels, std::string_view number, std::string_view suffix = {}) {
    out_.append(name_).append(suffix);
    if (!labels.empty()) out_.append("{").append(labels).append("}");
    out_.append(" ").append(number).append("\n");
  }
  void value(std::string_view labels, std::uint64_t number, std::string_view suffix = {}) {
    value(labels, std::string_view{std::to_string(number)}, suffix);
  }
  void value(std::string_view labels, double number) { value(labels, std::string_view{fixed(number, 6)}); }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  std::string name_;
  std::string out_;
};

}  // namespace nfx
