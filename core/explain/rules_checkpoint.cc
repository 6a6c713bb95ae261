#include "core/explain/rule_row.h"

// Saving and loading: PyTorch, DCP, safetensors, Megatron, Hugging Face, Lightning.

namespace muster {
namespace {

using enum EventRole;
using A = Action;
using C = Cause;
using K = CulpritKind;

// A path that looks like one of checkpoints.
#define CHECKPOINT_PATH \
  R"((?P<path>[^'\s]{0,400}(?:ckpt|[cC]heckpoint|step|iter|epoch|snapshot)[^'\s]{0,400}))"
#define RESUMED                                                                          \
  R"(\b[rR]esum(?:e|ed|ing) from (?:checkpoint:? |snapshot )?'?(?P<path>[^\s']{0,300}?)" \
  R"((?:step|iter|epoch|checkpoint|ckpt)[-_a-z]{0,12}(?P<step>\d{1,12})?[^\s']{0,100}))"

constexpr RuleRow kRows[] = {
    RuleRow{
        "checkpoint_exists", "FileExistsError",
        R"(FileExistsError: \[Errno 17\] File exists: ')" CHECKPOINT_PATH "'",
        C::checkpoint_dir_conflict, root, K::file, "{path}", "{path} was there already",
        "make folders on one rank only; see whether it is left over from a save that was cut off",
        A::quarantine_checkpoint, A::fix_code},
    RuleRow{
        "checkpoint_exists_words", "FileExistsError",
        "FileExistsError: .{0,120}?" CHECKPOINT_PATH " already exists", C::checkpoint_dir_conflict,
        root, K::file, "{path}", "{path} was there already",
        "move it aside if it is left over from a save that was cut off, then start from the newest "
        "complete one",
        A::quarantine_checkpoint, A::restart_from_checkpoint},
    RuleRow{"checkpoint_not_empty", "not empty", R"([dD]irectory not empty: ')" CHECKPOINT_PATH "'",
            C::checkpoint_dir_conflict, root, K::file, "{path}", "{path} is not empty",
            "move it aside, or allow it to be resumed from", A::quarantine_checkpoint,
            A::fix_config},

    // Shorter than its own header says. safetensors 0.3 to 0.5.
    RuleRow{"safetensors_torn", "while deserializing header",
            R"([eE]rror while deserializing header: (?P<what>incomplete metadata|)"
            R"(MetadataIncompleteBuffer|HeaderTooLarge|HeaderTooSmall|InvalidHeader\w*))",
            C::checkpoint_torn, root, K::none, "", "a safetensors file is cut short ({what})",
            "use the newest complete checkpoint; compare file sizes with the one before",
            A::step_back_checkpoint, A::quarantine_checkpoint},
    RuleRow{"torch_zip_torn", "PytorchStreamReader failed",
            R"(PytorchStreamReader failed (?P<what>.{1,120}))", C::checkpoint_torn, root, K::none,
            "", "a checkpoint file cannot be read whole: {what}",
            "use the newest complete checkpoint; compare file sizes with the one before",
            A::step_back_checkpoint, A::quarantine_checkpoint},
    RuleRow{"torch_file_torn", "The file might be corrupted",
            R"(unexpected EOF, expected (?P<bytes>\d+) more bytes)", C::checkpoint_torn, root,
            K::none, "", "a checkpoint file ends {bytes} bytes too early",
            "use the newest complete checkpoint", A::step_back_checkpoint,
            A::quarantine_checkpoint},
    RuleRow{"pickle_torn", "pickle data was truncated", "pickle data was truncated",
            C::checkpoint_torn, root, K::none, "", "a pickled file is cut short",
            "use the newest complete checkpoint", A::step_back_checkpoint,
            A::quarantine_checkpoint},
    RuleRow{"torch_write_failed", "PytorchStreamWriter failed",
            R"(PytorchStreamWriter failed (?P<what>.{1,120}))", C::storage_write_error, root,
            K::none, "", "a checkpoint could not be written: {what}",
            "look at room and quota of the file system; the checkpoint is not complete",
            A::free_disk, A::restart_from_checkpoint},
    // The writer of the zip noticed that less came to the disk than it wrote.
    RuleRow{"torch_write_position", "unexpected pos",
            R"(unexpected pos (?P<pos>\d+) vs (?P<expected>\d+))", C::storage_write_error, root,
            K::none, "", "a checkpoint was written only in part",
            "look at room and quota of the file system; the checkpoint is not complete",
            A::free_disk, A::restart_from_checkpoint},

    // Parts that are missing.
    RuleRow{"dcp_metadata_missing", ".metadata'",
            R"(No such file or directory: '(?P<path>[^']{1,400})/\.metadata')",
            C::checkpoint_incomplete, root, K::file, "{path}",
            "{path} has no .metadata: its save did not end",
            "use an older checkpoint that is complete", A::step_back_checkpoint,
            A::quarantine_checkpoint},
    RuleRow{"checkpoint_part_missing", "No such file or directory: '",
            R"(No such file or directory: '(?P<path>[^']{0,400}(?:__\d+_\d+\.distcp|mp_rank_\d+|)"
            R"(zero_pp_rank_\d+|rng_state_\d+\.pth|model-\d+-of-\d+\.safetensors|)"
            R"(trainer_state\.json|optimizer\.pt|optim_states\.pt)[^']{0,200})')",
            C::checkpoint_incomplete, root, K::file, "{path}", "{path} is missing",
            "use an older checkpoint that is complete", A::step_back_checkpoint,
            A::quarantine_checkpoint},
    RuleRow{"checkpoint_missing", "No such file or directory: '",
            R"(No such file or directory: '(?P<path>[^']{0,400}(?:ckpt|[cC]heckpoint|global_step|)"
            R"(iter_\d)[^']{0,400})')",
            C::checkpoint_incomplete, root, K::file, "{path}", "{path} is missing",
            "use an older checkpoint that is complete; see whether the file system is mounted",
            A::step_back_checkpoint, A::repair_storage},
    RuleRow{"checkpoint_none_valid", "valid checkpoint",
            R"((?:Can't find a|[nN]o) valid checkpoint (?:at|found (?:at|in)) (?P<path>\S{1,400}))",
            C::checkpoint_incomplete, root, K::file, "{path}", "{path} is no complete checkpoint",
            "use an older checkpoint that is complete", A::step_back_checkpoint, A::fix_config},
    // Normal in the first start of a run, and how lost progress begins in any other.
    RuleRow{"megatron_from_random", "will start from random",
            "will not load any checkpoints and will start from random", C::silent_restart, context,
            K::none, "", "the run begins without a checkpoint"},

    // One rank's failure as all the others tell it.
    RuleRow{"dcp_others", "CheckpointException ranks",
            R"(CheckpointException ranks:dict_keys\(\[(?P<ranks>[\d, ]{1,200})\]\))",
            C::undetermined, cascade, K::none, "", "a save or load failed on ranks {ranks}",
            "the exception of those ranks says why"},

    // What a launcher loads; context of a loop of restarts.
    RuleRow{
        "resumed_from_iteration", "loaded ",
        R"(successfully loaded (?:(?P<which>local|global) )?checkpoint (?:from .{0,300} at |from )"
        R"()(?:iteration|step) +(?P<step>\d{1,12}))",
        C::restart_loop, context, K::file, "iteration {step}", "loaded iteration {step}"},
    RuleRow{"resume_from_path", "resume from ", RESUMED, C::restart_loop, context, K::file,
            "{path}", "resumed from {path}"},
    RuleRow{"resuming_from_path", "esuming from ", RESUMED, C::restart_loop, context, K::file,
            "{path}", "resumed from {path}"},
    RuleRow{"resumed_from_path", "esumed from ", RESUMED, C::restart_loop, context, K::file,
            "{path}", "resumed from {path}"},
};

#undef RESUMED
#undef CHECKPOINT_PATH

}  // namespace

std::span<const RuleRow> checkpoint_rules() {
  return kRows;
}

}  // namespace muster
