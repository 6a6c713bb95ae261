#include "edge/columns/column_stream.h"

#include <arrow/api.h>
#include <arrow/io/api.h>
#include <arrow/ipc/api.h>
#include <parquet/arrow/reader.h>
#include <parquet/exception.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <vector>

#include "base/limits.h"
#include "core/model/json_reader.h"
#include "edge/columns/json_cell.h"

namespace muster {
namespace {

constexpr std::int64_t kBatchRows = 1024;

Error arrow_error(const std::string& path, const arrow::Status& status) {
  return make_error(Errc::corrupt, "reading " + path + ": " + status.message());
}

using Batches = std::shared_ptr<arrow::RecordBatchReader>;

// Keeps the file open for as long as batches are read.
struct Table {
  std::unique_ptr<parquet::arrow::FileReader> parquet;
  std::shared_ptr<arrow::ipc::RecordBatchFileReader> file;
  Batches batches;
  std::shared_ptr<arrow::Schema> schema;
  bool ends = true;  // a stream without its end mark was left by a writer that died
};

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

class ColumnStream final : public ByteStream {
 public:
  ColumnStream(Table table, std::vector<int> places, std::string path)
      : table_(std::move(table)), places_(std::move(places)), path_(std::move(path)) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    while (at_ == lines_.size()) {
      const auto more = next_batch();
      if (!more) return more.error();
      if (!*more) return std::size_t{0};
    }
    const std::size_t n = std::min(buffer.size(), lines_.size() - at_);
    std::memcpy(buffer.data(), lines_.data() + at_, n);
    at_ += n;
    return n;
  }

 private:
  Result<bool> next_batch() {
    std::shared_ptr<arrow::RecordBatch> batch;
    try {
      arrow::Status status = table_.file ? next_of_file(batch) : table_.batches->ReadNext(&batch);
      if (status.ok() && batch) status = batch->ValidateFull();
      if (!status.ok()) return arrow_error(path_, status);
    } catch (const std::exception& e) {
      return make_error(Errc::corrupt, "reading " + path_ + ": " + e.what());
    }
    if (!batch && !table_.ends) {
      return make_error(Errc::corrupt, "reading " + path_ + ": the stream has no end mark");
    }
    if (!batch) return false;
    lines_.clear();
    at_ = 0;
    for (std::int64_t row = 0; row < batch->num_rows(); ++row) append_row(*batch, row);
    return true;
  }

  arrow::Status next_of_file(std::shared_ptr<arrow::RecordBatch>& batch) {
    if (next_ == table_.file->num_record_batches()) return arrow::Status::OK();
    return table_.file->ReadRecordBatch(next_++).Value(&batch);
  }

  // By name: a Parquet reader hands out the wanted columns alone.
  void append_row(const arrow::RecordBatch& batch, std::int64_t row) {
    lines_ += '{';
    bool first = true;
    for (const int place : places_) {
      const std::string& name = table_.schema->field(place)->name();
      const auto column = batch.GetColumnByName(name);
      if (!column || column->IsNull(row)) continue;
      if (!std::exchange(first, false)) lines_ += ',';
      append_json_text(name, lines_);
      lines_ += ':';
      append_json_cell(*column, row, lines_);
    }
    lines_ += "}\n";
  }

  Table table_;
  std::vector<int> places_;
  std::string path_;
  std::string lines_;
  std::size_t at_ = 0;
  int next_ = 0;
};

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

arrow::Status open_table(const std::string& path, const std::string& head, Table& out) {
  ARROW_ASSIGN_OR_RAISE(const auto file, arrow::io::ReadableFile::Open(path));
  if (head.starts_with("PAR1")) return open_parquet(file, out);
  if (head.starts_with("ARROW1")) {
    ARROW_ASSIGN_OR_RAISE(out.file, arrow::ipc::RecordBatchFileReader::Open(file));
    out.schema = out.file->schema();
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const std::int64_t bytes, file->GetSize());
  ARROW_ASSIGN_OR_RAISE(const auto tail, file->ReadAt(std::max<std::int64_t>(bytes - 8, 0), 8));
  out.ends = tail->ToString() == std::string("\xFF\xFF\xFF\xFF\0\0\0\0", 8);
  ARROW_RETURN_NOT_OK(file->Seek(0));
  ARROW_ASSIGN_OR_RAISE(out.batches, arrow::ipc::RecordBatchStreamReader::Open(file));
  out.schema = out.batches->schema();
  return arrow::Status::OK();
}

// Whether state.json beside the file says that rows are chosen or reordered by other files.
bool has_indices(Files& files, const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  const auto bytes = read_whole(files, folder + "state.json", limits::kContractBytes);
  const auto state = bytes ? parse_json(*bytes) : Result<JsonNode>(JsonNode());
  for (const char* key : {"_indices_data_files", "_indices_files"}) {
    const JsonNode* node = state ? state->find(key) : nullptr;
    const auto* list = node == nullptr ? nullptr : node->get<JsonNode::Array>();
    if (list != nullptr && !list->empty()) return true;
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<ByteStream>> open_columns(Files& files, const std::string& path,
                                                 const std::string& field) {
  auto stream = files.open(path);
  if (!stream) return stream.error();
  std::string head(8, '\0');
  const auto n = (*stream)->read(head);
  if (!n) return n.error();
  if (has_indices(files, path)) {
    return make_error(
        Errc::unsupported,
        "state.json says that the rows are chosen by indices: flatten_indices() first");
  }
  try {
    Table table;
    if (const auto status = open_table(path, head, table); !status.ok()) {
      return arrow_error(path, status);
    }
    auto places = wanted_columns(*table.schema, field);
    if (!places) return places.error();
    if (table.parquet) {
      const auto status =
          parquet_batches(*table.parquet, *table.schema, *places).Value(&table.batches);
      if (!status.ok()) return arrow_error(path, status);
    }
    return std::unique_ptr<ByteStream>(
        new ColumnStream(std::move(table), std::move(*places), path));
  } catch (const std::exception& e) {
    return make_error(Errc::corrupt, "reading " + path + ": " + e.what());
  }
}

}  // namespace muster
