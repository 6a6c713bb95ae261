#pragma once

#include <string>
#include <string_view>

namespace muster {

// What the name of a file tells of the machine that it is about. Never a guess: a name that could
// mean something else tells nothing.

// The host of a file that is one machine's by the words in its name: "n012.dmesg",
// "node_tr-x-3_dmesg.txt", "env_gpu07.txt" -> "n012", "tr-x-3", "gpu07"; "node_b.log" -> "node_b".
// Empty for all others ("dmesg_T.txt", "dmesg_week2.txt", "nccl_2.18.log", "job_77108.log").
std::string host_of_file_name(std::string_view path);

// A file of a kind that each machine has of its own: a kernel log, what df and its kind print.
bool is_machine_file(std::string_view path);

// "n012", "tr-x-3": begins with a letter, has a digit, and counts no runs, days or the like.
bool names_host(std::string_view word);

}  // namespace muster
