#include "edge/store/history.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <fmt/format.h>
#include <array>
#include <cerrno>
#include <deque>
#include <map>
#include <tuple>

#include "base/limits.h"
#include "base/text.h"
#include "edge/os/files.h"
#include "edge/store/reading_blob.h"

namespace muster {
namespace {

constexpr int kApplicationId = 0x4d535452;  // "MSTR", what file(1) shows
constexpr std::size_t kWaitingRows = 16384;
constexpr int kBusyMs = 5000;
constexpr int kRowsAtOnce = 1024;  // dropped together where the file is too large

// Step k brings user_version from k to k + 1: append only.
constexpr const char* kMigrations[] = {
    "CREATE TABLE metric(number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE series(number INTEGER PRIMARY KEY, kind INTEGER NOT NULL, host TEXT NOT NULL,"
    " uuid TEXT NOT NULL, pci TEXT NOT NULL, gpu INTEGER, rank INTEGER, device TEXT NOT NULL,"
    " name TEXT NOT NULL, grp TEXT NOT NULL);"
    "CREATE TABLE sample(at_ns INTEGER NOT NULL, series INTEGER NOT NULL, readings BLOB NOT NULL,"
    " PRIMARY KEY(at_ns, series)) WITHOUT ROWID;",
};
constexpr int kVersion = static_cast<int>(std::size(kMigrations));

Errc code_of(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_FULL:
      return Errc::exhausted;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Errc::corrupt;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
      return Errc::permission;
    default:
      return Errc::unavailable;
  }
}

struct CloseDatabase {
  void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
};
struct EndStatement {
  void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, EndStatement>;

Error database_error(sqlite3* db, std::string_view doing) {
  return make_error(code_of(sqlite3_extended_errcode(db)),
                    fmt::format("{}: {}", doing, sqlite3_errmsg(db)));
}

Status execute(sqlite3* db, const char* sql, std::string_view doing) {
  if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
    return database_error(db, doing);
  }
  return {};
}

Result<Statement> prepare(sqlite3* db, std::string_view sql) {
  sqlite3_stmt* s = nullptr;
  const int code = sqlite3_prepare_v2(db, sql.data(), static_cast<int>(sql.size()), &s, nullptr);
  if (code != SQLITE_OK) return database_error(db, "preparing a statement");
  return Statement(s);
}

Result<std::int64_t> number_of(sqlite3* db, std::string_view sql) {
  auto s = prepare(db, sql);
  if (!s) return s.error();
  if (sqlite3_step(s->get()) != SQLITE_ROW) return database_error(db, sql);
  return sqlite3_column_int64(s->get(), 0);
}

void bind_text(sqlite3_stmt* s, int at, std::string_view text) {
  sqlite3_bind_text(s, at, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}
void bind_number(sqlite3_stmt* s, int at, std::optional<int> n) {
  if (n) sqlite3_bind_int(s, at, *n);
}
std::string column_text(sqlite3_stmt* s, int at) {
  const auto* text = sqlite3_column_blob(s, at);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(s, at));
  return text == nullptr ? std::string() : std::string(static_cast<const char*>(text), size);
}
std::optional<int> column_number(sqlite3_stmt* s, int at) {
  if (sqlite3_column_type(s, at) == SQLITE_NULL) return std::nullopt;
  return sqlite3_column_int(s, at);
}

// A key that owns its texts.
struct Series {
  SeriesKind kind = SeriesKind::gpu;
  std::string host, uuid, pci;
  std::optional<int> index, rank;
  std::string device, name, group;
  auto operator<=>(const Series&) const = default;

  static Series of(const SeriesKey& k) {
    return {k.kind, std::string(k.host),   std::string(k.uuid), std::string(k.pci),  k.index,
            k.rank, std::string(k.device), std::string(k.name), std::string(k.group)};
  }
  SeriesKey key() const { return {kind, host, uuid, pci, index, rank, device, name, group}; }
};

struct Waiting {
  std::int64_t at_ns;
  Series series;
  std::string readings;
};

class SqliteHistory final : public History {
 public:
  SqliteHistory(Database db, HistoryOptions options)
      : db_(std::move(db)), options_(std::move(options)) {}

  Status prepare_file(bool log_ahead);
  void add(const TelemetryRow& row, WallTime at) override;
  Status commit(WallTime now) override;
  Status read(WallTime begin, WallTime end, TelemetrySink& sink) override;
  const std::vector<std::string>& notes() const override { return notes_; }
  std::uint64_t dropped() const override { return dropped_; }

 private:
  Status check_owner();
  Status migrate();
  Status load_metrics();
  Status load_series();
  Status write_waiting();
  Status write_one(sqlite3_stmt* insert, const Waiting& waiting);
  Result<std::int64_t> number_series(const Series& series);
  Status drop_old(WallTime now);
  Status drop_beyond_size();
  void emit(sqlite3_stmt* s, TelemetrySink& sink) const;

  Database db_;
  HistoryOptions options_;
  std::vector<std::string> notes_;
  std::array<int, kMetricCount> metric_number_{};
  std::map<int, Metric> metric_by_number_;
  std::map<Series, std::int64_t> series_;
  std::map<std::int64_t, Series> by_number_;
  std::deque<Waiting> waiting_;
  std::uint64_t dropped_ = 0;
};

Status SqliteHistory::check_owner() {
  const auto version = number_of(db_.get(), "PRAGMA user_version");
  if (!version) return version.error();
  const auto owner = number_of(db_.get(), "PRAGMA application_id");
  if (!owner) return owner.error();
  const auto tables = number_of(db_.get(), "SELECT count(*) FROM sqlite_schema");
  if (!tables) return tables.error();
  if (*tables > 0 && *owner != kApplicationId) {
    return make_error(Errc::invalid_input, "a database of another program");
  }
  if (*version > kVersion || *version < 0) {
    return make_error(Errc::unsupported,
                      fmt::format("schema {}: this program knows up to {}", *version, kVersion));
  }
  return {};
}

Status SqliteHistory::migrate() {
  if (auto s = execute(db_.get(), "BEGIN IMMEDIATE", "locking"); !s) return s;
  // Looked at under the lock: another process may have been quicker.
  auto version = number_of(db_.get(), "PRAGMA user_version");
  Status status = version ? Status() : Status(version.error());
  for (int v = version ? static_cast<int>(*version) : kVersion; status && v < kVersion; ++v) {
    const std::string sql =
        fmt::format("{} PRAGMA application_id={}; PRAGMA user_version={}",
                    kMigrations[static_cast<std::size_t>(v)], kApplicationId, v + 1);
    status = execute(db_.get(), sql.c_str(), "bringing up the schema");
  }
  if (status) status = load_metrics();
  if (status) status = execute(db_.get(), "COMMIT", "bringing up the schema");
  if (!status) sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  return status;
}

Status SqliteHistory::load_metrics() {
  auto insert = prepare(db_.get(), "INSERT OR IGNORE INTO metric(name) VALUES(?1)");
  if (!insert) return insert.error();
  for (const MetricRow& row : metric_table()) {
    sqlite3_reset(insert->get());
    bind_text(insert->get(), 1, row.name);
    if (sqlite3_step(insert->get()) != SQLITE_DONE) {
      return database_error(db_.get(), "writing the metrics");
    }
  }
  metric_number_.fill(-1);
  auto all = prepare(db_.get(), "SELECT number, name FROM metric");
  if (!all) return all.error();
  while (sqlite3_step(all->get()) == SQLITE_ROW) {
    const int number = sqlite3_column_int(all->get(), 0);
    const auto metric = metric_from_name(column_text(all->get(), 1));
    if (!metric) continue;  // of another version of this program
    metric_number_[static_cast<std::size_t>(*metric)] = number;
    metric_by_number_[number] = *metric;
  }
  return {};
}

Status SqliteHistory::load_series() {
  auto all = prepare(
      db_.get(), "SELECT number, kind, host, uuid, pci, gpu, rank, device, name, grp FROM series");
  if (!all) return all.error();
  series_.clear();
  by_number_.clear();
  sqlite3_stmt* s = all->get();
  while (sqlite3_step(s) == SQLITE_ROW && series_.size() < limits::kSeries) {
    const int kind = sqlite3_column_int(s, 1);
    if (kind < 0 || kind > static_cast<int>(SeriesKind::node)) continue;
    Series series{static_cast<SeriesKind>(kind),
                  column_text(s, 2),
                  column_text(s, 3),
                  column_text(s, 4),
                  column_number(s, 5),
                  column_number(s, 6),
                  column_text(s, 7),
                  column_text(s, 8),
                  column_text(s, 9)};
    const std::int64_t number = sqlite3_column_int64(s, 0);
    series_[series] = number;
    by_number_[number] = std::move(series);
  }
  return {};
}

Status SqliteHistory::prepare_file(bool log_ahead) {
  sqlite3_busy_timeout(db_.get(), kBusyMs);
  if (auto s = check_owner(); !s) return s;
  // In the log ahead a commit is safe against a crash of the process without an fsync each.
  const char* mode = log_ahead ? "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
                               : "PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL;";
  if (auto s = execute(db_.get(), mode, "choosing the journal"); !s) return s;
  if (auto s = execute(db_.get(), "PRAGMA cache_size=-512; PRAGMA journal_size_limit=4194304;",
                       "setting the cache");
      !s) {
    return s;
  }
  if (!log_ahead) {
    notes_.push_back(options_.path +
                     ": on a network file system, so without SQLite's write-ahead log");
  }
  if (auto s = migrate(); !s) return s;
  return load_series();
}

void SqliteHistory::add(const TelemetryRow& row, WallTime at) {
  if (waiting_.size() == kWaitingRows) {
    waiting_.pop_front();
    ++dropped_;
  }
  const auto number = [this](Metric m) { return metric_number_[static_cast<std::size_t>(m)]; };
  waiting_.push_back({wall_to_ns(at), Series::of(row.key), encode_readings(row.readings, number)});
}

Result<std::int64_t> SqliteHistory::number_series(const Series& series) {
  if (const auto known = series_.find(series); known != series_.end()) return known->second;
  if (series_.size() >= limits::kSeries) return std::int64_t{-1};
  auto insert = prepare(db_.get(),
                        "INSERT INTO series(kind, host, uuid, pci, gpu, rank, device, name, grp)"
                        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");
  if (!insert) return insert.error();
  sqlite3_stmt* s = insert->get();
  sqlite3_bind_int(s, 1, static_cast<int>(series.kind));
  bind_text(s, 2, series.host);
  bind_text(s, 3, series.uuid);
  bind_text(s, 4, series.pci);
  bind_number(s, 5, series.index);
  bind_number(s, 6, series.rank);
  bind_text(s, 7, series.device);
  bind_text(s, 8, series.name);
  bind_text(s, 9, series.group);
  if (sqlite3_step(s) != SQLITE_DONE) return database_error(db_.get(), "writing a series");
  const std::int64_t number = sqlite3_last_insert_rowid(db_.get());
  series_[series] = number;
  by_number_[number] = series;
  return number;
}

Status SqliteHistory::write_one(sqlite3_stmt* insert, const Waiting& waiting) {
  const auto series = number_series(waiting.series);
  if (!series) return series.error();
  if (*series < 0) {
    ++dropped_;
    return {};
  }
  sqlite3_reset(insert);
  sqlite3_bind_int64(insert, 1, waiting.at_ns);
  sqlite3_bind_int64(insert, 2, *series);
  sqlite3_bind_blob(insert, 3, waiting.readings.data(), static_cast<int>(waiting.readings.size()),
                    SQLITE_STATIC);
  if (sqlite3_step(insert) != SQLITE_DONE) return database_error(db_.get(), "writing a sample");
  return {};
}

Status SqliteHistory::write_waiting() {
  auto insert = prepare(db_.get(), "INSERT OR REPLACE INTO sample VALUES(?1, ?2, ?3)");
  if (!insert) return insert.error();
  for (const Waiting& waiting : waiting_) {
    if (auto s = write_one(insert->get(), waiting); !s) return s;
  }
  return {};
}

Status SqliteHistory::drop_old(WallTime now) {
  const std::int64_t limit = wall_to_ns(now - options_.keep);
  return execute(db_.get(), fmt::format("DELETE FROM sample WHERE at_ns < {}", limit).c_str(),
                 "dropping old samples");
}

Status SqliteHistory::drop_beyond_size() {
  const std::string oldest = fmt::format(
      "DELETE FROM sample WHERE at_ns <="
      " (SELECT at_ns FROM sample ORDER BY at_ns LIMIT 1 OFFSET {})",
      kRowsAtOnce);
  for (;;) {
    const auto used = number_of(db_.get(),
                                "SELECT (page_count - freelist_count) * page_size FROM"
                                " pragma_page_count, pragma_freelist_count, pragma_page_size");
    if (!used) return used.error();
    if (*used <= static_cast<std::int64_t>(options_.max_bytes)) return {};
    if (auto s = execute(db_.get(), oldest.c_str(), "dropping the oldest samples"); !s) return s;
    if (sqlite3_changes(db_.get()) == 0) return {};
  }
}

Status SqliteHistory::commit(WallTime now) {
  Status status = execute(db_.get(), "BEGIN IMMEDIATE", "locking");
  // Space first: what is dropped makes room for what comes.
  if (status) status = drop_old(now);
  if (status) status = write_waiting();
  if (status) status = drop_beyond_size();
  if (status) status = execute(db_.get(), "COMMIT", "writing samples");
  if (status) {
    waiting_.clear();
    return {};
  }
  if (sqlite3_get_autocommit(db_.get()) == 0) {
    sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
  // Series that the failed transaction had numbered are not in the file.
  (void)load_series();
  return within(options_.path, status.error());
}

void SqliteHistory::emit(sqlite3_stmt* s, TelemetrySink& sink) const {
  const auto series = by_number_.find(sqlite3_column_int64(s, 1));
  const DecodedReadings decoded = parse_readings(column_text(s, 2));
  if (!decoded.whole || series == by_number_.end()) {
    sink.note({NoteKind::damaged_line, "a damaged sample in the history", 0, {}, {}});
  }
  if (series == by_number_.end()) return;
  std::vector<MetricReading> readings;
  for (const NumberedReading& r : decoded.readings) {
    const auto metric = metric_by_number_.find(r.number);
    if (metric != metric_by_number_.end()) readings.push_back({metric->second, r.reading});
  }
  TelemetryRow row{series->second.key(), {}, true, readings, 0};
  row.at = wall_from_ns(sqlite3_column_int64(s, 0));
  sink.row(row);
}

Status SqliteHistory::read(WallTime begin, WallTime end, TelemetrySink& sink) {
  if (auto s = load_series(); !s) return s;
  auto all = prepare(db_.get(),
                     "SELECT at_ns, series, readings FROM sample WHERE at_ns >= ?1 AND at_ns < ?2"
                     " ORDER BY at_ns, series");
  if (!all) return all.error();
  sqlite3_bind_int64(all->get(), 1, wall_to_ns(begin));
  sqlite3_bind_int64(all->get(), 2, wall_to_ns(end));
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(all->get())) == SQLITE_ROW) emit(all->get(), sink);
  if (code != SQLITE_DONE) return within(options_.path, database_error(db_.get(), "reading"));
  return {};
}

}  // namespace

bool has_shared_memory(std::uint64_t filesystem_type) {
  constexpr std::uint64_t kNetwork[] = {0x6969, 0x517b, 0xff534d42, 0xfe534d42};  // NFS, SMB x 3
  for (const std::uint64_t type : kNetwork) {
    if (filesystem_type == type) return false;
  }
  return true;
}

Result<std::unique_ptr<History>> History::open(const HistoryOptions& options) {
  // Made here for its mode; SQLite gives the journal the mode of the file.
  const int fd = ::open(options.path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return errno_error("opening " + options.path, errno);
  struct statfs where{};
  const bool known = fstatfs(fd, &where) == 0;
  close(fd);
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(options.path.c_str(), &raw,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  Database db(raw);
  if (code != SQLITE_OK || raw == nullptr) {
    return make_error(code_of(code), options.path + ": " + sqlite3_errstr(code));
  }
  auto history = std::make_unique<SqliteHistory>(std::move(db), options);
  const auto type = static_cast<std::uint32_t>(where.f_type);
  if (auto s = history->prepare_file(known && has_shared_memory(type)); !s) {
    return within(options.path, s.error());
  }
  return std::unique_ptr<History>(std::move(history));
}

}  // namespace muster
