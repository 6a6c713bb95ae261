#pragma once

#include "core/site/site_text.h"

namespace muster {

// A data file of JSON lines, checked record by record; given are only the bad ones, at most
// limits::kSiteBadRecords:
//
//   {"text": "one"}{"text": "two"}      a second record in the line, at which column
//   {"text": "cut                       no JSON; in the last line: the file ends inside of it
//   {"id": 4}                           a field is missing that all the others have
//
// It is a data file where most lines are objects, and none of their names is one that logs use
// ("level", "loss"). Without a bad record it gives nothing.
void read_records(SiteText& text);

}  // namespace muster
