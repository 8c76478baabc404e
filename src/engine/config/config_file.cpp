// Reads a configuration file from any editor, and warns about permissions that are too wide.
#include "config/config_file.hpp"

#include <string_view>
#include <utility>

#include "base/error_text.hpp"
#include "base/private_files.hpp"
#include "base/regular_file.hpp"
#include "base/text_encoding.hpp"

namespace nfx::config {
namespace {

constexpr unsigned others_read = 0004, others_write = 0002, group_writes = 0020;

// Accepts "\r
// ", and "\r" alone from old Mac editors, as line ends.
std::string with_line_feeds(std::string text) {
  if (!text.contains('\r')) return text;
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      out += text[i];
    } else if (i + 1 == text.size() || text[i + 1] != '\n') {
      out += '\n';
    }
  }
  clear_text(text);  // the text may contain passwords
  return out;
}

}  // namespace

ConfigFile read_config_file(const std::filesystem::path& file) {
  auto read = read_regular_file(file, max_config_size);
  if (!read) throw ConfigError(cannot("read", file, read.error().why) + "; give the path of a readable file");
  return {.text = with_line_feeds(to_utf8(std::move(read->text))), .mode = read->mode};
}

std::string mode_warning(const std::filesystem::path& file, std::uint32_t mode, bool has_password) {
  const bool read = has_password && (mode & others_read) != 0;
  const bool written = (mode & others_write) != 0 || (has_password && (mode & group_writes) != 0);
  if (!read && !written) return {};
  return open_to_others(file, mode,
                        !read      ? "change it"
                        : !written ? "read its passwords"
                                   : "read its passwords and change it",
                        has_password ? "go-w,o-rwx" : "o-w") +
         (read ? ", or name variables in password_env" : "");
}

}  // namespace nfx::config
