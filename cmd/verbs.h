#pragma once

#include <memory>

#include "cmd/verb.h"

// One maker per verb; each is defined in the file of its name (cmd/triage.cc ...).

namespace muster {

std::unique_ptr<Verb> make_triage_verb();
std::unique_ptr<Verb> make_top_verb();
std::unique_ptr<Verb> make_trace_verb();
std::unique_ptr<Verb> make_explain_verb();
std::unique_ptr<Verb> make_check_verb();
std::unique_ptr<Verb> make_shape_verb();
std::unique_ptr<Verb> make_checkpoint_verb();
std::unique_ptr<Verb> make_pack_verb();
std::unique_ptr<Verb> make_pack_verify_verb();
std::unique_ptr<Verb> make_pack_check_verb();
std::unique_ptr<Verb> make_pack_convert_verb();
std::unique_ptr<Verb> make_plan_verb();
std::unique_ptr<Verb> make_train_verb();
std::unique_ptr<Verb> make_calibrate_verb();
std::unique_ptr<Verb> make_record_verb();
std::unique_ptr<Verb> make_agent_verb();
std::unique_ptr<Verb> make_bench_storage_verb();
std::unique_ptr<Verb> make_bench_data_verb();
std::unique_ptr<Verb> make_config_check_verb();
std::unique_ptr<Verb> make_pack_encode_verb();
std::unique_ptr<Verb> make_findings_verb();
std::unique_ptr<Verb> make_completion_verb();

}  // namespace muster
