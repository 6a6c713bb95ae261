#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// What the names of logs tell of their hosts and ages. Never a guess: a name that could mean
// something else tells nothing.

// The hosts of files in folders of hosts: at least two folders side by side hold a file of one
// name, which is one machine's, and their own names are not those of runs ("n1/dmesg.txt",
// "n2/dmesg.txt"). Path -> host; other paths are not in it.
std::map<std::string, std::string> hosts_of_folders(const std::vector<std::string>& paths);

// Orders a rotated log from its oldest file to its newest ("x.log.2.gz", "x.log.1", "x.log"), each
// family in the places that it has; other paths stay where they are. Gives the order of indices.
std::vector<std::size_t> rotated_order(const std::vector<std::string>& paths);

}  // namespace muster
