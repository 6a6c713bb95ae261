#include <gtest/gtest.h>

#include "core/explain/explain_test_kit.h"

namespace muster {
namespace {

TEST(DataJoins, BadRecords) {
  const auto bad = [](Pile& p, std::uint64_t line) {
    p.fact(BadRecord{line, "two records in one line"}, "", "part.jsonl");
  };
  run({
      {"found by a check", [=](Pile& p) { bad(p, 9); }, "bad_record", "file:part.jsonl:9",
       kWarning},
      {"beside a GPU that is lost",
       [=](Pile& p) {
         bad(p, 9);
         p.xid(79, gpu_fell_off_bus, "0000:01:00").host("n1");
       },
       "gpu_fell_off_bus", "gpu:n1/0000:01:00.0"},
      {"the run died of it",
       [=](Pile& p) {
         bad(p, 3);
         p.root(bad_record, "JSONDecodeError: Extra data").rank(0);
       },
       "bad_record", "file:part.jsonl:3", kCritical, kHigh},
      {"its reader died",
       [=](Pile& p) {
         bad(p, 3);
         bad(p, 7);
         p.root(loader_worker_crashed, "exit code 1");
       },
       "bad_record", "file:part.jsonl:3 file:part.jsonl:7", kCritical},
      {"an exception of another kind",
       [=](Pile& p) {
         bad(p, 3);
         p.root(rank_exception, "ValueError: x").rank(1);
       },
       "rank_exception", "rank:1", kCritical},
  });
}

TEST(DataJoins, TokenIds) {
  const auto assertion = [](Pile& p) {
    p.root(token_id_out_of_range, "Assertion `srcIndex < srcSelectDimSize` failed");
  };
  const auto sizes = [](Pile& p, std::string largest) {
    p.fact(Setting{"model.embed.num_embeddings", "1000"});
    p.fact(Setting{"max token id in cache/r1.bin", std::move(largest)});
  };
  run({
      {"in range, nothing happened", [=](Pile& p) { sizes(p, "999"); }, "", ""},
      {"an assertion alone", [=](Pile& p) { assertion(p); }, "token_id_out_of_range", "", kCritical,
       kMedium, kMedium},
      {"ids are fine",
       [=](Pile& p) {
         assertion(p);
         sizes(p, "999");
       },
       "rank_exception", "", kCritical, kMedium, kMedium},
      {"just beyond",
       [=](Pile& p) {
         assertion(p);
         sizes(p, "1000");
       },
       "token_id_out_of_range", "file:cache/r1.bin", kCritical, kHigh},
  });
}

FolderEntry entry(std::string path, char kind, std::string target = "") {
  FolderEntry out;
  out.path = std::move(path);
  out.kind = kind;
  out.target = std::move(target);
  return out;
}

TEST(DataJoins, FoldersThatExist) {
  const auto exists = [](Pile& p, const std::string& path) {
    p.root(checkpoint_dir_conflict, "FileExistsError: " + path).word("path", path).rank(8).at(10);
    p.timeouts(0, 7, 1810);
  };
  run({
      {"no listing: ranks race", [=](Pile& p) { exists(p, "/ckpt/step_297/data"); },
       "checkpoint_dir_conflict", "rank:8"},
      {"a listing of the parent",
       [=](Pile& p) {
         exists(p, "/ckpt/step_297/data");
         p.fact(entry("/ckpt", 'd'));
       },
       "checkpoint_dir_conflict", "rank:8"},
      {"another step is there",
       [=](Pile& p) {
         exists(p, "/ckpt/step_297");
         p.fact(entry("/ckpt/step_29", 'd'));
       },
       "checkpoint_dir_conflict", "rank:8"},
      {"left over",
       [=](Pile& p) {
         exists(p, "/ckpt/step_297");
         p.fact(entry("/ckpt/step_297", 'd'));
         p.fact(entry("/ckpt/LATEST", 'l', "step_200"));
       },
       "checkpoint_dir_conflict", "file:/ckpt/step_297", kCritical, kHigh},
      {"an exception of that name",
       [](Pile& p) {
         p.line("exception", rank_exception, EventRole::root, "FileExistsError: there")
             .word("path", "/ckpt/step_297")
             .rank(0);
         p.fact(entry("/ckpt/step_297", 'd'));
       },
       "checkpoint_dir_conflict", "file:/ckpt/step_297"},
  });
}

TEST(DataJoins, RanksOnOneGpu) {
  run({{"device is never chosen",
        [](Pile& p) {
          p.root(duplicate_gpu, "Duplicate GPU detected : rank 3 and rank 0").rank(3);
          p.root(duplicate_gpu, "Duplicate GPU detected : rank 1 and rank 0").rank(1);
        },
        "duplicate_gpu", "config:device_selection"}});
}

}  // namespace
}  // namespace muster
