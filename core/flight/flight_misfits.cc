#include "core/flight/flight_misfits.h"

#include <fmt/format.h>

namespace muster {

void FlightMisfits::add_notes(std::vector<std::string>& notes) const {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    notes.push_back(fmt::format("{}: not what it should be in {} place{}, left out there",
                                flight_word_text(static_cast<FlightWord>(i)), counts_[i],
                                counts_[i] == 1 ? "" : "s"));
  }
}

}  // namespace muster
