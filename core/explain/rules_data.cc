#include "core/explain/rule_row.h"

// Records, files of data and the workers that read them.

namespace muster {
namespace {

using enum EventRole;
using A = Action;
using C = Cause;
using K = CulpritKind;

// "step 40 | loss: nan", "{'loss': nan, ...", "train_loss=nan"
#define NO_NUMBER                                                                       \
  R"((?i)^(?:.{0,200}?\bstep[s'"]{0,2} ?[:=]? ?(?P<step>\d{1,12}).{0,200}?|.{0,400}?))" \
  R"((?:\b|_)loss['"]? ?[:=]? ?['"]?[-+]?nan\b)"

constexpr RuleRow kRows[] = {
    // Records. Positions count from 1, "char" from 0.
    RuleRow{"json_error", "JSONDecodeError: ",
            R"(JSONDecodeError: (?P<what>[^:]{1,80}): line (?P<line>\d+) column (?P<column>\d+))"
            R"( \(char (?P<char>\d+)\))",
            C::bad_record, root, K::none, "",
            "a JSON record cannot be read ({what}, column {column})",
            "find the record, mend or skip it, and check all files before the next start",
            A::fix_data, A::restart_from_checkpoint},
    RuleRow{"arrow_json_error", "JSON parse error",
            R"(JSON parse error: (?P<what>.{1,160}?) in row (?P<row>\d+))", C::bad_record, root,
            K::none, "", "a JSON record cannot be read ({what}, row {row} of its block)",
            "find the record, mend or skip it, and check all files before the next start",
            A::fix_data, A::restart_from_checkpoint},
    RuleRow{
        "parquet_cut", "arquet",
        R"((?:Parquet magic bytes not found|Parquet file size is \d+ bytes|Not a Parquet file))",
        C::data_file_truncated, root, K::none, "",
        "a Parquet file has no end: it was cut short or is another kind of file",
        "copy it again and compare sizes", A::fix_data, A::restart_from_checkpoint},
    RuleRow{"arrow_cut", "o be able to read ",
            R"([eE]xpected to be able to read (?P<wanted>\d+) bytes for message body, got (?P<)"
            R"(got>\d+))",
            C::data_file_truncated, root, K::none, "",
            "an Arrow file ends early ({got} of {wanted} bytes)", "copy or build it again",
            A::fix_data, A::restart_from_checkpoint},
    RuleRow{"arrow_not_a_file", "Not an Arrow file", "Not an Arrow file", C::data_file_truncated,
            root, K::none, "", "an Arrow file is cut short or of another kind",
            "copy or build it again", A::fix_data, A::restart_from_checkpoint},
    RuleRow{
        "utf8_cut", "unexpected end of data",
        R"(codec can't decode bytes? \S+ in position (?P<position>[\d-]+): unexpected end of data)",
        C::data_file_truncated, root, K::none, "",
        "a text ends inside of a character (byte {position})",
        "copy the file again and compare "
        "sizes",
        A::fix_data, A::restart_from_checkpoint},
    RuleRow{"utf8_error", "codec can't decode",
            R"(UnicodeDecodeError: '(?P<codec>[\w-]{1,32})' codec can't decode bytes? \S+ in )"
            R"(position (?P<position>[\d-]+): (?P<what>.{1,80}))",
            C::bad_record, root, K::none, "",
            "a record is no {codec} text (byte {position}: {what})", "mend or skip the record",
            A::fix_data, A::restart_from_checkpoint},
    RuleRow{"gzip_cut", "ended before the end-of-stream",
            "file ended before the end-of-stream marker", C::data_file_truncated, root, K::none, "",
            "a compressed file is cut short", "copy it again and compare sizes", A::fix_data,
            A::restart_from_checkpoint},
    RuleRow{"tar_cut", "tarfile.ReadError",
            R"(tarfile\.ReadError: (?:unexpected end of data|file could not be opened))",
            C::data_file_truncated, root, K::none, "", "a tar archive is cut short or empty",
            "copy it again and compare sizes", A::fix_data, A::restart_from_checkpoint},
    RuleRow{"mmap_cut", "mmap length is greater than file size",
            "mmap length is greater than file size", C::data_file_truncated, root, K::none, "",
            "a data file is shorter than its index says", "copy or build it again", A::fix_data,
            A::restart_from_checkpoint},
    RuleRow{"compressed_damaged", "decompress",
            R"((?:zlib\.error|ZstdError|LZ4FrameError|OSError)\S*: .{0,120}decompress\w* ?(?P<)"
            R"(what>.{0,80}))",
            C::bad_record, root, K::none, "", "a compressed block is damaged",
            "copy the file again and compare checksums", A::fix_data, A::restart_from_checkpoint},
    RuleRow{"gzip_not", "Not a gzipped file", "Not a gzipped file", C::bad_record, root, K::none,
            "", "a file that should be compressed is not", "correct its name or copy it again",
            A::fix_data, A::fix_config},
    RuleRow{"pickle_empty", "Ran out of input", "EOFError: Ran out of input",
            C::data_file_truncated, root, K::none, "", "a pickled file is empty",
            "see which file it is: a cache can be built again, a checkpoint cannot", A::fix_data,
            A::step_back_checkpoint},
    RuleRow{"dataset_generation", "DatasetGenerationError",
            "DatasetGenerationError: An error occurred while generating", C::bad_record, cascade,
            K::none, "", "the data set could not be built", "the exception before it says why",
            A::fix_data},

    // Indices that were built on another node.
    RuleRow{
        "index_not_shared", "_index.npy",
        R"(No such file or directory: '(?P<path>[^']{1,400}[-_](?:document|sample|shuffle|dataset)"
        R"()(?:_sample)?_index\.npy)')",
        C::cache_not_shared, root, K::file, "{path}",
        "an index of the data set is not there on this node",
        "put the cache on storage that all nodes share, or build it on each node", A::fix_config,
        A::restart_from_checkpoint},
    RuleRow{"arrow_cache_not_shared", ".arrow'",
            R"(No such file or directory: '(?P<path>[^']{0,400}/cache-[0-9a-f]{8,32}\w*\.arrow)')",
            C::cache_not_shared, root, K::file, "{path}",
            "a cache of the data set is not there on this node",
            "put the cache on storage that all nodes share, or build it on each node",
            A::fix_config, A::restart_from_checkpoint},

    // Ids beyond a table. The assertion is printed by the GPU, once for each thread.
    RuleRow{"embedding_index_assert", "Assertion `",
            R"((?:Assertion `srcIndex < srcSelectDimSize`|gather kernel index out of bounds|)"
            R"(EmbeddingBag\S*: .*Assertion|Assertion `t >= 0 && t < n_classes`))",
            C::token_id_out_of_range, root, K::none, "",
            "an id lies beyond its table (assertion in a GPU kernel)",
            "look for the largest id of the data; it must be below the size of the embedding",
            A::fix_data, A::fix_code},
    RuleRow{"index_assert", "index out of bounds",
            R"(Assertion `.{1,200}index out of bounds.{0,4}` failed)", C::rank_exception, root,
            K::none, "", "an index lies beyond its tensor (assertion in a GPU kernel)",
            "run again with CUDA_LAUNCH_BLOCKING=1 to see the call", A::fix_code, A::fix_data},
    RuleRow{"kernel_assert", "Assertion `",
            R"(\.cuh?:\d+: .{1,300}: block: \[\d+,\d+,\d+\], thread: \[\d+,\d+,\d+\] Assertion)",
            C::rank_exception, root, K::none, "", "an assertion in a GPU kernel failed",
            "run again with CUDA_LAUNCH_BLOCKING=1 to see the call", A::fix_code, A::fix_data},
    RuleRow{"embedding_index_cpu", "index out of range in self", "index out of range in self",
            C::token_id_out_of_range, root, K::none, "", "an id lies beyond its table",
            "look for the largest id of the data; it must be below the size of the embedding",
            A::fix_data, A::fix_code},
    // Training goes on, in vain. One row for each way to write it.
    RuleRow{"loss_nan_python", ": nan", NO_NUMBER, C::undetermined, context, K::none, "",
            "the loss is no number"},
    RuleRow{"loss_nan_equals", "loss=nan", NO_NUMBER, C::undetermined, context, K::none, "",
            "the loss is no number"},
    RuleRow{"loss_nan_plain", "loss nan", NO_NUMBER, C::undetermined, context, K::none, "",
            "the loss is no number"},
    RuleRow{"loss_nan_json", ": NaN", NO_NUMBER, C::undetermined, context, K::none, "",
            "the loss is no number"},
    RuleRow{"loss_nan_megatron", ": NAN", NO_NUMBER, C::undetermined, context, K::none, "",
            "the loss is no number"},
};

}  // namespace

std::span<const RuleRow> data_rules() {
  return kRows;
}

}  // namespace muster
