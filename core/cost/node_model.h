#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace muster::cost {

// A usual machine around one model of GPU, as it is sold by the eight; its dense BF16 peak is in
// core/model/gpu_peak.h. What a site has other than this is said by options.
struct NodeModel {
  std::string_view gpu;     // as in gpu_peak_table()
  double memory_gb = 0;     // 10^9 bytes of one GPU
  std::uint64_t gpus = 0;   // of one node
  double link_gb_s = 0;     // of one GPU to the others of its node, one direction
  double network_gb_s = 0;  // of one GPU to other nodes: one port
  std::string_view source;  // of these figures, for people
};

// A100 to B300.
std::span<const NodeModel> node_models();
// "B300", "NVIDIA B300 SXM6 AC"; nothing for a GPU that is not in the table.
const NodeModel* find_node_model(std::string_view gpu);

}  // namespace muster::cost
