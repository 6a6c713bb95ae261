#pragma once

#include <fmt/core.h>

#include <string>
#include <utility>
#include <vector>

#include "core/records/record.h"

namespace muster::records {

// What a reader said, in order: "3: text" for a document on line 3, "4! not_json: why" for a fault.
class Told : public RecordSink {
 public:
  void document(Document&& document, std::uint64_t line) override {
    said.push_back(fmt::format("{}: {}", line, document.text));
    documents.push_back(std::move(document));
  }
  void fault(Fault fault, std::uint64_t line, const std::string& detail) override {
    said.push_back(
        fmt::format("{}! {}{}{}", line, fault_name(fault), detail.empty() ? "" : ": ", detail));
  }

  std::vector<std::string> said;
  std::vector<Document> documents;
};

using Said = std::vector<std::string>;

// `text` with readable bytes behind it, of the kind that would change the answer if they were read.
inline std::string padded(std::string_view text) {
  return std::string(text) + std::string(64, '"');
}

}  // namespace muster::records
