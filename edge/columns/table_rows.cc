#include "edge/columns/table_rows.h"

#include <arrow/api.h>
#include <arrow/io/api.h>
#include <arrow/ipc/api.h>
#include <parquet/arrow/reader.h>
#include <parquet/exception.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "edge/columns/json_cell.h"

namespace muster {

// Keeps the file open for as long as batches are read.
struct TableRows::Table {
  std::unique_ptr<parquet::arrow::FileReader> parquet;
  std::shared_ptr<arrow::ipc::RecordBatchFileReader> file;
  std::shared_ptr<arrow::RecordBatchReader> batches;
  std::shared_ptr<arrow::Schema> schema;
  bool ends = true;  // a stream without its end mark was left by a writer that died
  std::vector<int> places;
  std::string path;
  int next = 0;  // batch of a file

  arrow::Status open(const std::string& head);
  arrow::Status next_batch(std::shared_ptr<arrow::RecordBatch>& batch);
  void append_row(const arrow::RecordBatch& batch, std::int64_t row, std::string& lines) const;
};

namespace {

constexpr std::int64_t kBatchRows = 1024;

Error arrow_error(const std::string& path, const arrow::Status& status) {
  return make_error(Errc::corrupt, "reading " + path + ": " + status.message());
}

using Batches = std::shared_ptr<arrow::RecordBatchReader>;

// Places of the wanted columns. Errc::unsupported where there is none to read.
Result<std::vector<int>> wanted_columns(const arrow::Schema& schema, const std::string& field) {
  if (schema.num_fields() == 1 && schema.field(0)->name() == "indices") {
    return make_error(Errc::unsupported,
                      "a table of indices, not of texts: flatten_indices() of datasets makes one");
  }
  std::vector<std::string> names = {field};
  if (field.empty()) names = {"messages", "tools", "text"};
  std::vector<int> places;
  bool readable = false;
  for (const std::string& name : names) {
    const int place = schema.GetFieldIndex(name);
    if (place < 0) continue;
    places.push_back(place);
    readable = readable || (name != "tools" && is_readable(*schema.field(place)->type()));
  }
  if (readable) return places;
  std::string there;
  for (const auto& one : schema.fields()) {
    there += (there.empty() ? "" : ", ") + one->name() + " (" + one->type()->ToString() + ")";
  }
  return make_error(Errc::unsupported,
                    "no column \"" + (field.empty() ? "text" : field) +
                        "\" of texts or messages; there are: " + there.substr(0, 500));
}

// Columns of structs are several columns of Parquet's own: all that lie below.
arrow::Result<Batches> parquet_batches(parquet::arrow::FileReader& reader,
                                       const arrow::Schema& schema,
                                       const std::vector<int>& places) {
  std::vector<int> leaves;
  const auto& tree = *reader.parquet_reader()->metadata()->schema();
  for (int i = 0; i < tree.num_columns(); ++i) {
    const std::string root = tree.GetColumnRoot(i)->name();
    for (const int place : places) {
      if (schema.field(place)->name() == root) leaves.push_back(i);
    }
  }
  std::vector<int> groups(static_cast<std::size_t>(reader.num_row_groups()));
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = static_cast<int>(i);
  return reader.GetRecordBatchReader(groups, leaves);
}

template <typename Table>
arrow::Status open_parquet(const std::shared_ptr<arrow::io::ReadableFile>& file, Table& out) {
  parquet::ReaderProperties properties;
  properties.enable_buffered_stream();
  parquet::ArrowReaderProperties arrow_properties;
  arrow_properties.set_batch_size(kBatchRows);
  arrow_properties.set_pre_buffer(false);
  parquet::arrow::FileReaderBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Open(file, properties));
  builder.properties(arrow_properties);
  ARROW_RETURN_NOT_OK(builder.Build(&out.parquet));
  return out.parquet->GetSchema(&out.schema);
}

}  // namespace

arrow::Status TableRows::Table::open(const std::string& head) {
  ARROW_ASSIGN_OR_RAISE(const auto opened, arrow::io::ReadableFile::Open(path));
  if (head.starts_with("PAR1")) return open_parquet(opened, *this);
  if (head.starts_with("ARROW1")) {
    ARROW_ASSIGN_OR_RAISE(file, arrow::ipc::RecordBatchFileReader::Open(opened));
    schema = file->schema();
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const std::int64_t bytes, opened->GetSize());
  ARROW_ASSIGN_OR_RAISE(const auto tail, opened->ReadAt(std::max<std::int64_t>(bytes - 8, 0), 8));
  ends = tail->ToString() == std::string("\xFF\xFF\xFF\xFF\0\0\0\0", 8);
  ARROW_RETURN_NOT_OK(opened->Seek(0));
  ARROW_ASSIGN_OR_RAISE(batches, arrow::ipc::RecordBatchStreamReader::Open(opened));
  schema = batches->schema();
  return arrow::Status::OK();
}

arrow::Status TableRows::Table::next_batch(std::shared_ptr<arrow::RecordBatch>& batch) {
  if (!file) {
    ARROW_RETURN_NOT_OK(batches->ReadNext(&batch));
  } else if (next < file->num_record_batches()) {
    ARROW_ASSIGN_OR_RAISE(batch, file->ReadRecordBatch(next++));
  }
  return batch ? batch->ValidateFull() : arrow::Status::OK();
}

// By name: a Parquet reader hands out the wanted columns alone.
void TableRows::Table::append_row(const arrow::RecordBatch& batch, std::int64_t row,
                                  std::string& lines) const {
  lines += '{';
  bool first = true;
  for (const int place : places) {
    const std::string& name = schema->field(place)->name();
    const auto column = batch.GetColumnByName(name);
    if (!column || column->IsNull(row)) continue;
    if (!std::exchange(first, false)) lines += ',';
    append_json_text(name, lines);
    lines += ':';
    append_json_cell(*column, row, lines);
  }
  lines += "}\n";
}

TableRows::TableRows(std::unique_ptr<Table> table) : table_(std::move(table)) {}
TableRows::TableRows(TableRows&&) noexcept = default;
TableRows::~TableRows() = default;

Result<TableRows> TableRows::open(const std::string& path, const std::string& head,
                                  const std::string& field) {
  try {
    auto table = std::make_unique<Table>();
    table->path = path;
    if (const auto status = table->open(head); !status.ok()) return arrow_error(path, status);
    auto places = wanted_columns(*table->schema, field);
    if (!places) return places.error();
    table->places = std::move(*places);
    if (table->parquet) {
      const auto status =
          parquet_batches(*table->parquet, *table->schema, table->places).Value(&table->batches);
      if (!status.ok()) return arrow_error(path, status);
    }
    return TableRows(std::move(table));
  } catch (const std::exception& e) {
    return make_error(Errc::corrupt, "reading " + path + ": " + e.what());
  }
}

Result<bool> TableRows::next(std::string& lines) {
  std::shared_ptr<arrow::RecordBatch> batch;
  try {
    const auto status = table_->next_batch(batch);
    if (!status.ok()) return arrow_error(table_->path, status);
  } catch (const std::exception& e) {
    return make_error(Errc::corrupt, "reading " + table_->path + ": " + e.what());
  }
  if (!batch && !table_->ends) {
    return make_error(Errc::corrupt, "reading " + table_->path + ": the stream has no end mark");
  }
  if (!batch) return false;
  lines.clear();
  for (std::int64_t row = 0; row < batch->num_rows(); ++row) {
    table_->append_row(*batch, row, lines);
  }
  return true;
}

}  // namespace muster
