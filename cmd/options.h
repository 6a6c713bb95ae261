#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// How a verb declares its options. The parser behind it (CLI11) is jailed in options.cc: its header
// costs nine seconds a file.

namespace muster {

// One declared option, kept for --help and for shell completion.
struct OptionRow {
  std::string names;  // "-f,--follow"; a positional has no dash: "SOURCE"
  std::string value;  // "FILE", empty for a flag
  std::string help;
  std::vector<std::string> choices;
  enum class Type : std::uint8_t {
    flag,
    text,
    number,
    integer,
    list,
    positionals,
    rest,
    everything
  } type;
  void* target;
  std::string_view key = {};  // of muster.toml, which rules where the option is not given
  bool given = false;         // on the command line; after parsing
};

// `key` is a full name of config_table.h, such as "triage.rule". Where the option is not given, its
// target gets what holds for the key before the verb runs (cmd/settings.h); where it is, the
// table's range rules as well.
class VerbOptions {
 public:
  void flag(std::string names, bool* target, std::string help);
  void text(std::string names, std::string* target, std::string value, std::string help,
            std::string_view key = {});
  void choice(std::string names, std::string* target, std::vector<std::string> choices,
              std::string help, std::string_view key = {});
  void number(std::string names, double* target, std::string value, std::string help,
              std::string_view key = {});
  void integer(std::string names, std::int64_t* target, std::string value, std::string help);
  // May be given several times.
  void list(std::string names, std::vector<std::string>* target, std::string value,
            std::string help, std::string_view key = {});
  void positionals(const std::string& value, std::vector<std::string>* target, std::string help);
  // Everything after "--", untouched.
  void rest(const std::string& value, std::vector<std::string>* target, std::string help);
  // All words of the verb, untouched, --help too: another program reads them. No other option.
  void everything(std::vector<std::string>* target);
  // Shown at the end of --help: worked examples first, then exit statuses.
  void epilog(std::string text) { epilog_ = std::move(text); }

  const std::vector<OptionRow>& rows() const { return rows_; }
  // Whether muster.toml rules any of them: then the verb has --config as well.
  bool configurable() const;
  const std::string& epilog_text() const { return epilog_; }

 private:
  std::vector<OptionRow> rows_;
  std::string epilog_;
};

}  // namespace muster
