// gzip by zlib.
#include <zlib.h>

#include <new>
#include <stdexcept>
#include <utility>

#include "market/decompressor.hpp"

namespace nfx::app::market {
namespace {

class GzipDecompressor final : public Decompressor {
 public:
  GzipDecompressor() {
    constexpr int only_gzip = 16 + MAX_WBITS;
    if (::inflateInit2(&stream_, only_gzip) != Z_OK) throw std::bad_alloc{};
  }
  ~GzipDecompressor() override { ::inflateEnd(&stream_); }

  Step decode(std::span<const std::byte> in, std::span<std::byte> out) override {
    if (between_frames_ && in.empty()) return {};
    if (std::exchange(between_frames_, false)) ::inflateReset(&stream_);
    // zlib does not write to its input, whose type in C has no const.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
      throw std::runtime_error(stream_.msg == nullptr ? "not a gzip file" : stream_.msg);
    between_frames_ = result == Z_STREAM_END;
    return {in.size() - stream_.avail_in, out.size() - stream_.avail_out};
  }

 private:
  z_stream stream_{};
};

}  // namespace

std::unique_ptr<Decompressor> make_gzip_decompressor() { return std::make_unique<GzipDecompressor>(); }

}  // namespace nfx::app::market
