#include "edge/config/near_word.h"

#include <algorithm>
#include <array>

namespace muster {
namespace {

// Longer words are no typing errors; the bound keeps the work small whatever a file holds.
constexpr std::size_t kLetters = 64;

// Insertions, removals, replacements and swaps of neighbours that turn `a` into `b`.
std::size_t distance(std::string_view a, std::string_view b) {
  std::array<std::array<std::size_t, kLetters + 1>, 3> rows{};
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i - 1) % 3];
    const auto& two_above = rows[(i + 1) % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t same = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + same});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], two_above[j - 2] + 1);
      }
    }
  }
  return rows[a.size() % 3][b.size()];
}

}  // namespace

std::string_view near_word(std::string_view typed, const std::vector<std::string_view>& words) {
  std::string_view nearest;
  std::size_t best = 3;
  for (const std::string_view word : words) {
    if (typed.size() > kLetters || word.size() > kLetters) continue;
    const std::size_t d = distance(typed, word);
    if (d >= best || 2 * d >= word.size()) continue;
    best = d;
    nearest = word;
  }
  return nearest;
}

}  // namespace muster
