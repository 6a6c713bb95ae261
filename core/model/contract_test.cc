#include <fmt/core.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

#include "core/model/gate_record.h"
#include "core/model/heartbeat.h"
#include "core/model/json_reader.h"
#include "core/model/report_json.h"
#include "core/model/run_spec.h"
#include "core/model/verdict.h"

namespace muster {
namespace {

constexpr int kRounds = 300;

// Values of every kind from one seed, so that a failure comes again.
class Maker {
 public:
  explicit Maker(unsigned seed) : engine_(seed) {}
  std::int64_t integer(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(engine_);
  }
  std::int64_t any_count() {
    return coin() ? integer(0, 1000) : integer(0, std::numeric_limits<std::int64_t>::max());
  }
  bool coin() { return integer(0, 1) == 1; }
  std::string text() {
    static const char* const kPieces[] = {"a",        "\"",           "\\", "\n",
                                          "\x1b[31m", "\xe2\x82\xac", " ",  "{"};
    std::string out;
    for (std::int64_t n = integer(0, 6); n > 0; --n) out += kPieces[integer(0, 7)];
    return out;
  }
  double real() {
    const double fraction = static_cast<double>(integer(1, 999)) / 1000.0;
    return (static_cast<double>(integer(-1000, 1000)) + fraction) *
           (integer(0, 9) == 0 ? 1e22 : 1.0);
  }
  Report report() {
    Report out;
    out.verb = text();
    for (std::int64_t n = integer(0, 3); n > 0; --n) out.findings.push_back(finding());
    for (std::int64_t n = integer(0, 2); n > 0; --n) {
      out.blind.push_back({text(), text(), integer(0, 1) == 1});
    }
    for (std::int64_t n = integer(0, 2); n > 0; --n) out.notes.push_back(text());
    return out;
  }
  WallTime time() { return wall_from_ns(integer(0, 4'000'000'000'000) * 1'000'000); }

 private:
  Finding finding() {
    Finding f;
    f.severity = static_cast<Severity>(integer(0, 3));
    f.confidence = static_cast<Confidence>(integer(0, 2));
    f.cause = static_cast<Cause>(integer(0, static_cast<int>(Cause::undetermined)));
    f.summary = text();
    f.next = text();
    if (coin()) f.since = time();
    for (std::int64_t n = integer(0, 3); n > 0; --n) {
      Culprit c{static_cast<CulpritKind>(integer(0, static_cast<int>(CulpritKind::unknown))), ""};
      if (c.kind < CulpritKind::none) c.id = text();
      f.culprits.push_back(c);
      Evidence e{text(), std::nullopt, text()};
      if (coin())
        e.line = std::numeric_limits<std::uint64_t>::max() - static_cast<std::uint64_t>(n);
      f.evidence.push_back(e);
      f.actions.push_back(static_cast<Action>(integer(0, static_cast<int>(Action::refuse_launch))));
    }
    return f;
  }
  std::mt19937 engine_;
};

TEST(Contract, HeartbeatReadsBack) {
  Maker make(1);
  for (int i = 0; i < kRounds; ++i) {
    Heartbeat h;
    h.rank = make.any_count();
    h.attempt = 1 + make.integer(0, 50);
    h.step = make.any_count();
    h.phase = static_cast<RankPhase>(make.integer(0, 7));
    h.wall_ms = make.any_count();
    if (make.coin()) h.target_step = make.any_count();
    if (make.coin()) h.tokens = make.any_count();
    if (make.coin()) h.loss = make.real();
    const std::string bytes = encode_heartbeat(h);
    const auto back = decode_heartbeat(bytes);
    ASSERT_TRUE(back) << back.error().context << "\n" << bytes;
    ASSERT_EQ(*back, h) << bytes;
  }
}

TEST(Contract, GateRecordReadsBack) {
  Maker make(2);
  const auto value = [&]() -> std::optional<GateValue> {
    switch (make.integer(0, 3)) {
      case 0:
        return std::nullopt;
      case 1:
        return make.any_count();
      case 2:
        return make.real();
      default:
        return make.text();
    }
  };
  for (int i = 0; i < kRounds; ++i) {
    GateRecord r;
    for (std::int64_t n = make.integer(0, 4); n > 0; --n) {
      GateCheck c{make.text(), static_cast<CheckOutcome>(make.integer(0, 4)),
                  value(),     value(),
                  make.text(), std::nullopt};
      if (make.coin()) c.duration_ms = make.any_count();
      r.checks.push_back(c);
      r.versions[make.text()] = make.text();
      r.overrides.push_back({make.text(), make.text() + "why"});
    }
    if (make.coin()) r.global_min_blocks = make.any_count();
    const std::string bytes = encode_gate_record(r);
    const auto back = decode_gate_record(bytes);
    ASSERT_TRUE(back) << back.error().context << "\n" << bytes;
    // Equal values may be spelled by another type: 1e22 has no fraction.
    ASSERT_EQ(encode_gate_record(*back), bytes);
    ASSERT_EQ(back->checks.size(), r.checks.size());
    ASSERT_EQ(back->versions, r.versions);
    ASSERT_EQ(back->overrides, r.overrides);
    ASSERT_EQ(back->global_min_blocks, r.global_min_blocks);
  }
}

TEST(Contract, VerdictAndReportReadBack) {
  Maker make(3);
  for (int i = 0; i < kRounds; ++i) {
    Verdict v;
    v.state = static_cast<RunState>(make.integer(0, 9));
    v.since = make.time();
    v.report = make.report();
    v.recommend = static_cast<Recommendation>(make.integer(0, 3));
    if (v.recommend == Recommendation::restart_excluding) v.exclude = {"n1", make.text()};
    if (make.coin()) v.resume_from = make.text();
    const std::string bytes = encode_verdict(v);
    const auto back = decode_verdict(bytes);
    ASSERT_TRUE(back) << back.error().context << "\n" << bytes;
    // The encoder writes every field, so equal bytes are equal values.
    ASSERT_EQ(encode_verdict(*back), bytes);
    ASSERT_EQ(back->since, v.since);
    ASSERT_EQ(back->state, v.state);
    const auto report = decode_report(encode_report(v.report));
    ASSERT_TRUE(report) << report.error().context;
    ASSERT_EQ(encode_report(*report), encode_report(v.report));
    ASSERT_EQ(report->blind.size(), v.report.blind.size());
    for (std::size_t b = 0; b < report->blind.size(); ++b) {
      ASSERT_EQ(report->blind[b].hides_critical, v.report.blind[b].hides_critical);
    }
  }
}

struct BadRow {
  const char* name;
  std::string from, to;  // replaced in the good document
  std::string complaint;
};

const std::string kHeartbeat =
    R"({"schema":"muster.heartbeat/1","rank":3,"attempt":1,"step":7,"phase":"save","wall_ms":5})";
const std::string kVerdict =
    R"({"schema":"muster.verdict/1","state":"hung","since":"2026-08-01T10:00:00.000Z",)"
    R"("report":{"schema":"muster.report/1","verb":"watch","findings":[{"severity":"critical",)"
    R"("confidence":"high","cause":"uneven_steps","culprits":[{"kind":"rank","id":"3"}],)"
    R"("summary":"s","evidence":[{"source":"a","line":4,"text":"t"}],"actions":["equalize_steps"],)"
    R"("next":"n"}],"blind":[{"source":"b","reason":"r","hides_critical":true}],"notes":[]},)"
    R"("recommend":"restart_excluding","exclude":["n1"],"resume_from":null})";
const std::string kGate =
    R"({"schema":"muster.gate/1","checks":[{"id":"c","outcome":"pass","value":1,"duration_ms":2}],)"
    R"("versions":{"driver":"570"},"overrides":[{"check":"c","reason":"r"}]})";

template <typename Decode>
void refuses(const std::string& good, const std::vector<BadRow>& rows, Decode decode) {
  ASSERT_TRUE(decode(good)) << decode(good).error().context;
  for (const BadRow& row : rows) {
    std::string bytes = good;
    const std::size_t at = bytes.find(row.from);
    ASSERT_NE(at, std::string::npos) << row.name;
    bytes.replace(at, row.from.size(), row.to);
    const auto got = decode(bytes);
    ASSERT_FALSE(got) << row.name;
    EXPECT_NE(got.error().context.find(row.complaint), std::string::npos)
        << row.name << ": " << got.error().context;
  }
}

TEST(Contract, BadHeartbeatsAreRefused) {
  refuses(kHeartbeat,
          {{"later_version", "heartbeat/1", "heartbeat/2",
            "muster.heartbeat/2: this program reads version 1"},
           {"odd_version", "heartbeat/1", "heartbeat/01", "this program reads version 1"},
           {"other_schema", "heartbeat", "verdict", "expected muster.heartbeat/1"},
           {"no_schema", "\"schema\"", "\"scheme\"", "no \"schema\""},
           {"no_rank", "\"rank\"", "\"rang\"", "rank: missing"},
           {"null_rank", "3", "null", "rank: missing"},
           {"text_rank", "3", "\"3\"", "rank: not an integer"},
           {"real_rank", "3", "3.0", "rank: not an integer"},
           {"negative_rank", "3", "-3", "rank: -3 is not in 0"},
           {"rank_over_63_bits", "3", "9223372036854775808", "rank: too large"},
           {"rank_over_64_bits", "3", "18446744073709551616", "no JSON"},
           {"attempt_zero", "\"attempt\":1", "\"attempt\":0", "attempt: 0 is not in 1"},
           {"unknown_phase", "save", "saving", "phase: \"saving\""},
           {"bad_tokens", "5}", "5,\"tokens\":[]}", "tokens: not an integer"},
           {"bad_loss", "5}", "5,\"loss\":\"nan\"}", "loss: not a number"},
           {"bare_nan", "5}", "5,\"loss\":NaN}", "no JSON"},
           {"broken_utf8", "save", "sa\xffve", "no JSON"},
           {"two_documents", "5}", "5}{}", "no JSON"}},
          decode_heartbeat);
}

TEST(Contract, BadVerdictsAreRefused) {
  refuses(kVerdict,
          {{"later_version", "verdict/1", "verdict/3", "this program reads version 1"},
           {"unknown_state", "\"hung\"", "\"dead\"", "state:"},
           {"no_zone", "00.000Z", "00.000", "since: not a date"},
           {"no_time", "2026-08-01T10:00:00.000Z", "now", "since: not a date"},
           {"no_report", "\"report\"", "\"rapport\"", "report: missing"},
           {"later_report", "report/1", "report/2", "muster.report/2"},
           {"hides_text", "\"hides_critical\":true", "\"hides_critical\":\"false\"",
            "report.blind[0].hides_critical: not true or false"},
           {"hides_number", "\"hides_critical\":true", "\"hides_critical\":0",
            "report.blind[0].hides_critical: not true or false"},
           {"no_blind", "\"blind\"", "\"blink\"", "report.blind: missing"},
           {"severity", "\"critical\"", "\"bad\"", "report.findings[0].severity"},
           {"confidence", "\"high\"", "1", "report.findings[0].confidence: not a text"},
           {"cause", "uneven_steps", "gremlins", "report.findings[0].cause"},
           {"action", "equalize_steps", "pray", "report.findings[0].actions"},
           {"culprit", "\"rank\"", "\"ranks\"", "report.findings[0].culprits[0].kind"},
           {"culprit_id", "\"id\":\"3\"", "\"id\":3", "culprits[0].id: not a text"},
           {"line", "\"line\":4", "\"line\":-4", "evidence[0].line"},
           {"finding_no_object", "\"findings\":[", "\"findings\":[7,", "findings[0]. is not"},
           {"nobody_excluded", "[\"n1\"]", "[]", "exclude:"},
           {"excluded_without_asking", "restart_excluding", "stop", "exclude:"},
           {"exclude_numbers", "[\"n1\"]", "[1]", "exclude: not an array of texts"},
           {"resume_from", "null}", "7}", "resume_from: not a text"}},
          decode_verdict);
}

TEST(Contract, BadGateRecordsAreRefused) {
  refuses(kGate,
          {{"later_version", "gate/1", "gate/9", "this program reads version 1"},
           {"no_checks", "\"checks\"", "\"cheques\"", "checks: missing"},
           {"no_id", "\"id\"", "\"ID\"", "checks[0].id: missing"},
           {"outcome", "\"pass\"", "\"ok\"", "checks[0].outcome"},
           {"value", "\"value\":1", "\"value\":[1]", "checks[0].value"},
           {"duration", "\"duration_ms\":2", "\"duration_ms\":-2", "checks[0].duration_ms"},
           {"versions", "\"570\"", "570", "versions:"},
           {"override_without_reason", "\"reason\":\"r\"", "\"reason\":\"\"", "reason: empty"}},
          decode_gate_record);
}

TEST(Contract, UnknownKeysAreTolerated) {
  std::string bytes = kHeartbeat;
  bytes.insert(1, R"("future":{"a":[1,2,{"b":null}]},)");
  EXPECT_EQ(*decode_heartbeat(bytes), *decode_heartbeat(kHeartbeat));
  bytes = kHeartbeat;
  bytes.insert(bytes.size() - 1, R"(,"rank":9)");
  EXPECT_EQ(decode_heartbeat(bytes)->rank, 3);
}

TEST(Contract, BoundsHold) {
  std::string deep = "{\"schema\":" + std::string(5000, '[') + std::string(5000, ']') + "}";
  EXPECT_EQ(decode_heartbeat(deep).error().code, Errc::exhausted);
  EXPECT_EQ(decode_heartbeat(std::string(17 * 1024 * 1024, ' ')).error().code, Errc::exhausted);
  EXPECT_EQ(decode_heartbeat("").error().code, Errc::corrupt);
}

// A document cut short is never read as a whole one; a flipped byte never crashes.
template <typename Decode>
void survives_damage(const std::string& good, Decode decode) {
  for (std::size_t i = 0; i < good.size(); ++i) {
    EXPECT_FALSE(decode(good.substr(0, i))) << i;
    for (const int flip : {0x01, 0x20, 0x80, 0xff}) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ flip);
      const auto got = decode(bytes);
      if (!got) {
        EXPECT_FALSE(got.error().context.empty());
      }
    }
  }
}

TEST(Contract, CutAndFlippedAtEveryByte) {
  survives_damage(kHeartbeat, decode_heartbeat);
  survives_damage(kGate, decode_gate_record);
  survives_damage(kVerdict, decode_verdict);
}

TEST(Contract, RunSpecNeedsACommandAndPlainHosts) {
  RunSpec spec;
  EXPECT_FALSE(check_run_spec(spec));
  spec.command = {"python3", "train.py"};
  EXPECT_TRUE(check_run_spec(spec));
  spec.engine = Engine::ssh;
  EXPECT_FALSE(check_run_spec(spec));
  spec.hosts = {"n1", "root@n2", "10.0.0.1"};
  EXPECT_TRUE(check_run_spec(spec));
  for (const char* host : {"", "-oProxyCommand=x", "n1;ls", "a b", "n1", "$(x)"}) {
    spec.hosts = {"n1", host};
    EXPECT_FALSE(check_run_spec(spec)) << host;
  }
  EXPECT_EQ(engine_from_name("slurm"), Engine::slurm);
  EXPECT_FALSE(engine_from_name("Slurm"));
}

}  // namespace
}  // namespace muster
