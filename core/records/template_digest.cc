#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "base/check.h"
#include "core/records/chat_template.h"

namespace muster::records {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::string_view without_blanks_left(std::string_view text) {
  const std::size_t at = text.find_first_not_of(kBlanks);
  return at == std::string_view::npos ? std::string_view() : text.substr(at);
}

std::string_view without_blanks_right(std::string_view text) {
  const std::size_t at = text.find_last_not_of(kBlanks);
  return at == std::string_view::npos ? std::string_view() : text.substr(0, at + 1);
}

// Where the tag that begins at the front of `rest` ends; quotes may hold what looks like an end.
std::size_t end_of_tag(std::string_view rest) {
  const std::string_view close = rest[1] == '%' ? "%}" : rest[1] == '#' ? "#}" : "}}";
  char quote = 0;
  for (std::size_t i = 2; i < rest.size(); ++i) {
    if (quote != 0) {
      if (rest[i] == '\\') {
        ++i;
      } else if (rest[i] == quote) {
        quote = 0;
      }
    } else if (rest[1] != '#' && (rest[i] == '\'' || rest[i] == '"')) {
      quote = rest[i];
    } else if (rest.substr(i).starts_with(close)) {
      return i + 2;
    }
  }
  return rest.size();
}

// Runs of blanks outside of quotes become one.
void append_tag(std::string_view tag, std::string& form) {
  char quote = 0;
  for (std::size_t i = 0; i < tag.size(); ++i) {
    const char c = tag[i];
    const bool blank = quote == 0 && kBlanks.find(c) != std::string_view::npos;
    if (blank && form.ends_with(' ')) continue;
    form += blank ? ' ' : c;
    if (quote != 0 && c == '\\' && i + 1 < tag.size()) {
      form += tag[++i];
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    }
  }
}

// The start of the next tag.
std::size_t find_tag(std::string_view text) {
  std::size_t at = text.find('{');
  while (at != std::string_view::npos) {
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    if (next == '%' || next == '{' || next == '#') return at;
    at = text.find('{', at + 1);
  }
  return text.size();
}

std::string form_of(std::string_view text) {
  std::string form;
  bool trimmed = false;  // by the "-" of the tag before
  while (!text.empty()) {
    const std::size_t at = find_tag(text);
    std::string_view plain = text.substr(0, at);
    text.remove_prefix(at);
    if (trimmed) plain = without_blanks_left(plain);
    if (text.size() > 2 && text[2] == '-') plain = without_blanks_right(plain);
    // Jinja leaves out one newline at the end of a template.
    if (text.empty() && plain.ends_with('\n')) plain.remove_suffix(1);
    if (text.empty() && plain.ends_with('\r')) plain.remove_suffix(1);
    if (text.empty() && plain.empty()) break;
    form += fmt::format("text {}\n", plain.size());
    form += plain;
    if (text.empty()) break;
    const std::string_view tag = text.substr(0, end_of_tag(text));
    text.remove_prefix(tag.size());
    trimmed = tag.size() >= 5 && tag[tag.size() - 3] == '-';
    form += "\ntag ";
    append_tag(tag, form);
    form += '\n';
  }
  return form;
}

}  // namespace

std::string template_digest(std::string_view jinja) {
  const std::string form = form_of(jinja);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int bytes = 0;
  const int done =
      EVP_Digest(form.data(), form.size(), digest.data(), &bytes, EVP_sha256(), nullptr);
  MUSTER_CHECK(done == 1 && bytes == 32, "the library has SHA-256");
  std::string hex;
  for (unsigned int i = 0; i < bytes; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace muster::records
