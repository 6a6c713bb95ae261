#pragma once

#include <string>
#include <vector>

#include "core/model/telemetry_row.h"

namespace muster {

// A TelemetryRow that outlives the call it came in: for rows that wait until their turn by time.
class OwnedRow {
 public:
  OwnedRow(const TelemetryRow& row, WallTime at)
      : at_(at),
        key_(row.key),
        host_(row.key.host),
        uuid_(row.key.uuid),
        pci_(row.key.pci),
        device_(row.key.device),
        name_(row.key.name),
        group_(row.key.group),
        source_(row.source),
        readings_(row.readings.begin(), row.readings.end()),
        line_(row.line) {}

  WallTime at() const { return at_; }
  // Valid while this object lives and stays where it is.
  TelemetryRow view() const {
    TelemetryRow row;
    row.key = key_;
    row.key.host = host_;
    row.key.uuid = uuid_;
    row.key.pci = pci_;
    row.key.device = device_;
    row.key.name = name_;
    row.key.group = group_;
    row.at = at_;
    row.at_has_zone = true;
    row.readings = readings_;
    row.line = line_;
    row.source = source_;
    return row;
  }

 private:
  WallTime at_;
  SeriesKey key_;
  std::string host_, uuid_, pci_, device_, name_, group_, source_;
  std::vector<MetricReading> readings_;
  std::uint64_t line_;
};

}  // namespace muster
