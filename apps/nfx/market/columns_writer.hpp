// Writes events as a folder of columns: NAME.npy has one column as numbers of a fixed size, little-endian after a
// header of 128 bytes, which NumPy loads or maps; schema.json has the columns with their types and texts, and the names
// of the instruments. pyarrow can write Parquet from them, see docs/market-data.md.
// Thread: one owner. Cost: a store per value and a write per 64 KiB of a column. Errors: OutputFile's; ConfigError if
// the folder has files and may not be overwritten.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "nexusfix/market/event.hpp"
#include "output_file.hpp"

namespace nfx::app::market {

class ColumnsWriter {
 public:
  ColumnsWriter(const std::string& folder, bool overwrite);

  void add(const nfx::market::Event& event);
  // The files are incomplete until this call.
  void finish(const std::map<std::string, nfx::market::InstrumentId, std::less<>>& symbols);

  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }

 private:
  std::filesystem::path folder_;
  bool overwrite_;
  std::vector<OutputFile> files_;  // by column
  std::uint64_t rows_ = 0;
};

}  // namespace nfx::app::market
