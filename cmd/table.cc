#include "cmd/verb.h"
#include "cmd/verbs.h"

namespace muster {

std::vector<std::unique_ptr<Verb>> make_verbs() {
  std::vector<std::unique_ptr<Verb>> verbs;
  verbs.push_back(make_triage_verb());
  verbs.push_back(make_top_verb());
  verbs.push_back(make_trace_verb());
  verbs.push_back(make_explain_verb());
  verbs.push_back(make_check_verb());
  verbs.push_back(make_shape_verb());
  verbs.push_back(make_checkpoint_verb());
  verbs.push_back(make_pack_verb());
  verbs.push_back(make_pack_verify_verb());
  verbs.push_back(make_pack_check_verb());
  verbs.push_back(make_pack_convert_verb());
  verbs.push_back(make_plan_verb());
  verbs.push_back(make_train_verb());
  verbs.push_back(make_calibrate_verb());
  verbs.push_back(make_record_verb());
  verbs.push_back(make_bench_storage_verb());
  verbs.push_back(make_bench_data_verb());
  verbs.push_back(make_agent_verb());
  verbs.push_back(make_pack_encode_verb());
  verbs.push_back(make_config_check_verb());
  verbs.push_back(make_findings_verb());
  verbs.push_back(make_completion_verb());
  return verbs;
}

}  // namespace muster
