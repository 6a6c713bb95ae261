#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "core/model/finding.h"
#include "edge/archive/archive_reader.h"

// What readers of many files put together, whatever they read them for.

namespace muster {

template <typename T>
void move_into(std::vector<T>& to, std::vector<T>& from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

// What an archive says at its end: notes where all of it came out, else what was lost is blind.
inline void tell_end(const ArchiveEnd& end, const std::string& path, std::vector<Blind>& blind,
                     std::vector<std::string>& notes) {
  for (const std::string& note : end.notes) {
    if (end.whole) {
      notes.push_back(path + ": " + note);
    } else {
      blind.push_back({path, note, true});
    }
  }
}

}  // namespace muster
