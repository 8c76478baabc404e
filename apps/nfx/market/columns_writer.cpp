// Columns in NumPy's format, version 1.0.
#include "market/columns_writer.hpp"

#include <bit>
#include <system_error>

#include "market/event_columns.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "text.hpp"

namespace nfx::app::market {
namespace {

constexpr std::size_t header_size = 128;

struct TypeRow {
  std::string_view numpy;
  std::size_t size;
};
TypeRow row_of(ColumnType type) {
  switch (type) {
    case ColumnType::u8: return {"|u1", 1};
    case ColumnType::u32: return {"<u4", 4};
    case ColumnType::u64: return {"<u8", 8};
    case ColumnType::i64: return {"<i8", 8};
  }
  return {};
}

std::string header_of(ColumnType type, std::uint64_t rows) {
  constexpr std::string_view begin{"\x93NUMPY\x01\x00\x76\x00", 10};  // followed by the length of the header
  std::string header{begin};
  header += "{'descr': '" + std::string{row_of(type).numpy} + "', 'fortran_order': False, 'shape': (" +
            std::to_string(rows) + ",), }";
  NFX_ASSERT(header.size() < header_size);
  header.resize(header_size - 1, ' ');
  return header + '\n';
}

void append_little_endian(std::string& out, std::uint64_t number, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) out += static_cast<char>(number >> 8 * i);
}

std::filesystem::path made_folder(const std::string& name, bool overwrite) {
  std::error_code error;
  const std::filesystem::path folder{name};
  std::filesystem::create_directories(folder, error);
  if (error) throw ConfigError(name + ": " + error.message() + "; give the path of a folder that can be made");
  if (!overwrite && !std::filesystem::is_empty(folder, error)) {
    throw ConfigError(name + ": is not empty; give another folder, or --force to overwrite its columns");
  }
  return folder;
}

}  // namespace

ColumnsWriter::ColumnsWriter(const std::string& folder, bool overwrite)
    : folder_(made_folder(folder, overwrite)), overwrite_(overwrite) {
  for (const EventColumn& column : event_columns) {
    OutputFile& file = files_.emplace_back(
        OutputFileOptions{.path = folder_ / (std::string{column.name} + ".npy"), .overwrite = overwrite});
    file.bytes = header_of(column.type, 0);
  }
}

void ColumnsWriter::add(const nfx::market::Event& event) {
  for (std::size_t i = 0; i < event_columns.size(); ++i) {
    append_little_endian(files_[i].bytes, event_columns[i].number(event), row_of(event_columns[i].type).size);
    files_[i].flush_when_large();
  }
  ++rows_;
}

void ColumnsWriter::finish(const std::map<std::string, nfx::market::InstrumentId, std::less<>>& symbols) {
  SafeText schema;
  schema.add("{\"rows\": {}, \"columns\": [", rows_);
  for (std::size_t i = 0; i < event_columns.size(); ++i) {
    const EventColumn& column = event_columns[i];
    files_[i].rewrite_beginning(header_of(column.type, rows_));
    files_[i].finish();
    schema.add("{}\n  {\"name\": \"{}\", \"file\": \"{}.npy\", \"type\": \"{}\", \"about\": \"{}\"", i == 0 ? "" : ",",
               column.name, column.name, row_of(column.type).numpy, column.about);
    for (std::size_t name = 0; name < column.names; ++name) {
      schema.add("{}\"{}\"", name == 0 ? ", \"names\": [" : ", ", column.name_of(name));
    }
    schema += column.names == 0 ? Literal{"}"} : Literal{"]}"};
  }
  schema += "],\n \"symbols\": {";
  bool first = true;
  for (const auto& [name, id] : symbols) {
    schema.add("{}\n  ", first ? "" : ",");
    append_json_text(schema, name);
    schema.add(": {}", std::to_underlying(id));
    first = false;
  }
  schema += "}}\n";
  OutputFile file{{.path = folder_ / "schema.json", .overwrite = overwrite_}};
  file.bytes = schema.view();
  file.finish();
}

}  // namespace nfx::app::market
