// Files in zip archives by libzip.
#include <zip.h>

#include <stdexcept>

#include "base/error_text.hpp"
#include "decode/byte_stream.hpp"

namespace nfx::app {
namespace {

struct CloseArchive {
  void operator()(zip_t* archive) const noexcept { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, CloseArchive>;

struct CloseArchivedFile {
  void operator()(zip_file_t* file) const noexcept { zip_fclose(file); }
};

Archive open_archive(const std::string& path) {
  int code = 0;
  Archive archive{zip_open(path.c_str(), ZIP_RDONLY, &code)};
  if (archive) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string why = zip_error_strerror(&error);
  zip_error_fini(&error);
  throw std::runtime_error(cannot("read", path, why));
}

class ArchivedBytes final : public ByteStream {
 public:
  explicit ArchivedBytes(const LogFile& file)
      : name_(file.name),
        archive_(open_archive(file.path)),
        file_(zip_fopen_index(archive_.get(), file.archive_index, 0)) {
    if (!file_) throw std::runtime_error(cannot("read", name_, zip_strerror(archive_.get())));
  }

  std::string_view next() override {
    const zip_int64_t size = zip_fread(file_.get(), buffer_.data(), buffer_.size());
    if (size < 0) throw std::runtime_error(cannot("read", name_, zip_file_strerror(file_.get())));
    return {buffer_.data(), static_cast<std::size_t>(size)};
  }

 private:
  std::string name_;
  Archive archive_;
  std::unique_ptr<zip_file_t, CloseArchivedFile> file_;
  std::vector<char> buffer_ = std::vector<char>(256 * 1024);
};

}  // namespace

std::vector<LogFile> files_in_archive(const std::string& path) {
  const Archive archive = open_archive(path);
  std::vector<LogFile> files;
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* name = zip_get_name(archive.get(), static_cast<zip_uint64_t>(i), 0);
    if (name == nullptr || std::string_view{name}.ends_with('/')) continue;
    files.push_back({path, path + "/" + name, static_cast<std::uint64_t>(i), true});
  }
  return files;
}

std::unique_ptr<ByteStream> open_archived(const LogFile& file) { return std::make_unique<ArchivedBytes>(file); }

}  // namespace nfx::app
