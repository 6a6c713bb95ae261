#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/model/site_fact.h"

namespace muster {

// A file as a document of the site, known by its content: what df, ulimit, systemctl, show_gids,
// ps, sacct and their kind print, environments, job scripts and notes. Each reader's header has its
// grammar. Nothing: no such document, so it is read as a log; that is also what remains where less
// than seven of ten lines are understood, as in a log into which somebody printed df.
//
// `name` is of the file; hosts in it ("env_n03.txt") and endings of data files count. Facts come in
// the order of the lines, their source is `name`. Any bytes; bounded by limits::kSiteLines lines
// and limits::kSiteFacts facts. Nothing is executed.
std::optional<std::vector<SiteFact>> read_site_document(std::string_view name,
                                                        std::string_view bytes);

}  // namespace muster
