#include "core/explain/rule_row.h"

// CUDA as PyTorch, JAX and the driver's tools tell of it. Errors of kernels come late and stay: the
// first of a process is the one that counts.

namespace muster {
namespace {

using enum EventRole;
using A = Action;
using C = Cause;
using K = CulpritKind;

constexpr std::string_view kLessMemory =
    "smaller batch or sequence, activation checkpointing, or more sharding; see whether another "
    "process holds memory of that GPU";
constexpr std::string_view kFindKernel =
    "run the same data again with CUDA_LAUNCH_BLOCKING=1 or compute-sanitizer";

#define SIZE "[\\d.]+ [KMGT]?i?B"

constexpr RuleRow kRows[] = {
    // Sizes that an aborted collective left: no GPU has 10 TiB.
    RuleRow{"cuda_oom_absurd", "more than 1EB", "Tried to allocate more than 1EB", C::gpu_oom,
            cascade, K::none, "", "a size read from memory that an aborted collective never filled",
            "ignore it, look at what came before"},
    RuleRow{"cuda_oom_absurd_size", "ried to allocate ",
            R"(out of memory.*Tried to allocate \d{5,}(?:\.\d+)? (?:GiB|TiB|PiB|EiB))", C::gpu_oom,
            cascade, K::none, "", "a size read from memory that an aborted collective never filled",
            "ignore it, look at what came before"},
    // 1.x and 2.0 have the GPU in brackets, later ones in a sentence; 2.1 writes "capacty".
    RuleRow{"cuda_oom", "ried to allocate ",
            R"(out of memory\. Tried to allocate (?P<size>)" SIZE
            R"()\.? \(?GPU (?P<gpu>\d{1,3})(?:;| has a total capac\w+ of) (?P<total>)" SIZE R"())",
            C::gpu_oom, root, K::none, "", "an allocation of {size} failed on GPU {gpu} ({total})",
            kLessMemory, A::reduce_memory, A::restart_from_checkpoint},
    RuleRow{"cuda_oom_size", "ried to allocate ",
            R"(out of memory.*Tried to allocate (?P<size>)" SIZE ")", C::gpu_oom, root, K::none, "",
            "an allocation of {size} failed on the GPU", kLessMemory, A::reduce_memory,
            A::restart_from_checkpoint},
    RuleRow{"cuda_oom_text", "CUDA out of memory", "CUDA out of memory", C::gpu_oom, root, K::none,
            "", "an allocation failed on the GPU", kLessMemory, A::reduce_memory,
            A::restart_from_checkpoint},
    RuleRow{"cuda_oom_error", "CUDA error: out of memory", "CUDA error: out of memory", C::gpu_oom,
            root, K::none, "", "an allocation failed on the GPU", kLessMemory, A::reduce_memory,
            A::restart_from_checkpoint},
    RuleRow{"cuda_oom_driver", "CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_OUT_OF_MEMORY", C::gpu_oom,
            root, K::none, "", "an allocation failed on the GPU", kLessMemory, A::reduce_memory,
            A::restart_from_checkpoint},
    RuleRow{"xla_oom", "RESOURCE_EXHAUSTED",
            R"(RESOURCE_EXHAUSTED: .*Out of memory (?:while trying to allocate|allocating) (?P)"
            R"(<bytes>\d+))",
            C::gpu_oom, root, K::none, "", "an allocation of {bytes} bytes failed on the GPU",
            kLessMemory, A::reduce_memory, A::restart_from_checkpoint},
    RuleRow{"library_oom", "STATUS_ALLOC_FAILED",
            R"(CU(?:BLAS|DNN|SPARSE|SOLVER)_STATUS_ALLOC_FAILED)", C::gpu_oom, root, K::none, "",
            "a CUDA library got no GPU memory", kLessMemory, A::reduce_memory,
            A::restart_from_checkpoint},

    // Hardware.
    RuleRow{"cuda_ecc", "uncorrectable ECC error",
            "uncorrectable ECC error (?:encountered|was|has|detected)", C::ecc_uncorrectable, root,
            K::none, "", "the memory of a GPU gave a wrong value that could not be corrected",
            "take the host out, reset the GPU, look at its remapped rows", A::drain_host,
            A::reset_gpu},
    RuleRow{"cuda_nvlink", "uncorrectable NVLink error",
            "uncorrectable NVLink error (?:encountered|was|has|detected)", C::nvlink_down, root,
            K::none, "", "an NVLink failed under a kernel",
            "take the host out and look at its kernel log for Xid 74 or 144 to 150", A::drain_host,
            A::reset_gpu},
    RuleRow{"gpu_is_lost", "GPU is lost",
            R"(GPU ?(?P<pci>[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.\d): GPU is lost)",
            C::gpu_fell_off_bus, root, K::gpu, "{pci}", "GPU {pci} does not answer any more",
            "take the host out and cut its power", A::drain_host, A::power_cycle_host},
    RuleRow{"gpu_is_lost_somewhere", "GPU is lost", R"(\bGPU is lost\b)", C::gpu_fell_off_bus, root,
            K::none, "", "a GPU does not answer any more", "take the host out and cut its power",
            A::drain_host, A::power_cycle_host},
    RuleRow{"gpu_no_handle", "nable to determine the device handle",
            R"([uU]nable to determine the device handle for (?:GPU|gpu) ?(?P<pci>[0-9a-fA-F]{4,8}:)"
            R"([0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.\d))",
            C::gpu_fell_off_bus, confirmation, K::gpu, "{pci}",
            "the driver has no handle of GPU {pci} any more",
            "take the host out, look at its kernel log and cut its power", A::drain_host,
            A::power_cycle_host},
    RuleRow{"inforom_corrupted", "infoROM is corrupted",
            R"(infoROM is corrupted at gpu (?P<pci>[0-9a-fA-F:.]{7,16}))", C::undetermined,
            confirmation, K::gpu, "{pci}", "the data store of GPU {pci} is damaged",
            "ask the vendor; the GPU may work on", A::ask_vendor, A::watch, Severity::warning},
    // The device plugin of Kubernetes repeats an Xid of the kernel.
    RuleRow{"plugin_xid", " on Device=",
            R"(Xid=(?P<code>\d{1,3}) on Device=(?P<gpu_uuid>GPU-[\w.-]{1,64}))", C::undetermined,
            confirmation, K::none, "", "the device plugin took {gpu_uuid} out for Xid {code}",
            "what the Xid means decides; put the GPU back when it is dealt with", A::recheck},

    // Set-up.
    RuleRow{"nvml_mismatch", "Driver/library version mismatch", "Driver/library version mismatch",
            C::driver_library_mismatch, root, K::host, "{host}",
            "programs bring another version of the driver than the kernel has loaded",
            "reboot the host or load the module again; hold the driver packages", A::refuse_launch,
            A::reboot_host},
    // What a container says once systemd took its devices away.
    RuleRow{"nvml_unknown", "Failed to initialize NVML: Unknown Error",
            "Failed to initialize NVML: Unknown Error", C::container_lost_gpu, root, K::host,
            "{host}", "the container may not use its GPUs any more, the host still may",
            "start the container again; use the cdi or native cgroup driver", A::recreate_container,
            A::fix_config},
    RuleRow{"nvidia_smi_no_driver", "couldn't communicate with the NVIDIA driver",
            "couldn't communicate with the NVIDIA driver", C::undetermined, root, K::config,
            "nvidia_driver", "the driver is not loaded", "look at dkms status and the kernel log",
            A::update_driver, A::reboot_host, Severity::critical},
    RuleRow{
        "cuda_system_not_ready", "system not yet initialized",
        R"((?:Error 802|error: system|CUDA).*system not yet initialized)", C::nvswitch_not_set_up,
        root, K::host, "{host}", "CUDA waits for the NVSwitches to be set up",
        "start nvidia-fabricmanager in the version of the driver", A::start_service, A::recheck},
    RuleRow{"cuda_driver_combination", "unsupported display driver",
            "unsupported display driver / cuda driver combination", C::driver_library_mismatch,
            root, K::host, "{host}", "libcuda and the loaded kernel module do not fit",
            "reboot the host, or take libcuda of the host into the container", A::reboot_host,
            A::fix_config},
    RuleRow{"cuda_forward_compatibility", "forward compatibility was attempted",
            "forward compatibility was attempted on non supported HW", C::driver_library_mismatch,
            root, K::host, "{host}", "the compatibility library does not fit this GPU or driver",
            "take the cuda-compat library out of the path, or install a newer driver",
            A::fix_config, A::update_driver},
    RuleRow{"cuda_driver_insufficient", "driver version is insufficient",
            "CUDA driver version is insufficient for CUDA runtime version",
            C::driver_library_mismatch, root, K::host, "{host}",
            "the driver is older than the CUDA of the program", "install a newer driver",
            A::update_driver},
    RuleRow{"torch_no_driver", "Found no NVIDIA driver", "Found no NVIDIA driver on your system",
            C::undetermined, root, K::config, "nvidia_driver", "the process sees no driver",
            "give the container its GPUs, or install the driver", A::fix_config, A::update_driver,
            Severity::critical},
    RuleRow{"no_gpu_available", "No CUDA GPUs are available", "No CUDA GPUs are available",
            C::undetermined, root, K::config, "CUDA_VISIBLE_DEVICES", "the process sees no GPU",
            "look at CUDA_VISIBLE_DEVICES and nvidia-smi in the same container", A::fix_config,
            A::collect_evidence, Severity::critical},
    RuleRow{"no_cuda_device", "no CUDA-capable device", "no CUDA-capable device is detected",
            C::undetermined, root, K::config, "CUDA_VISIBLE_DEVICES", "the process sees no GPU",
            "look at CUDA_VISIBLE_DEVICES and nvidia-smi in the same container", A::fix_config,
            A::collect_evidence, Severity::critical},
    RuleRow{"invalid_device", "invalid device ordinal", "invalid device ordinal", C::undetermined,
            root, K::config, "device_selection", "a rank chose a GPU that it does not have",
            "choose the GPU by the local rank; look at the number of GPUs each task gets",
            A::fix_config, A::fix_code, Severity::critical},
    RuleRow{"gpu_busy", "busy or unavailable",
            "CUDA-capable device(?:\\(s\\)|s)(?: is/are| are) busy or unavailable", C::undetermined,
            root, K::none, "", "another process holds the GPU, or it is in exclusive mode",
            "look for left-over processes on it", A::stop_process, A::fix_config,
            Severity::critical},

    // Programs. Xid 13 and 31 of the kernel say the same of a GPU; here a rank says that it
    // stopped.
    RuleRow{"cuda_app_fault", "CUDA error: ",
            R"(CUDA error: (?P<what>an illegal memory access was encountered|misaligned address|)"
            R"(an illegal instruction was encountered|unspecified launch failure|invalid program )"
            R"(counter|hardware stack error|invalid address space|operation not supported on )"
            R"(global/shared address space|the launch timed out and was terminated))",
            C::rank_exception, root, K::none, "", "a GPU kernel of the program failed: {what}",
            kFindKernel, A::fix_code, A::restart_from_checkpoint},
    RuleRow{"cuda_assert", "device-side assert triggered",
            "CUDA error: device-side assert triggered", C::rank_exception, root, K::none, "",
            "an assertion in a GPU kernel failed, mostly an index beyond its table", kFindKernel,
            A::fix_code, A::fix_data},
    RuleRow{"cuda_driver_fault", "CUDA_ERROR_",
            R"((?P<what>CUDA_ERROR_(?:ILLEGAL_ADDRESS|LAUNCH_FAILED|MISALIGNED_ADDRESS|ILLEGAL)"
            R"(_INSTRUCTION|ASSERT)))",
            C::rank_exception, root, K::none, "", "a GPU kernel of the program failed: {what}",
            kFindKernel, A::fix_code, A::restart_from_checkpoint},
    RuleRow{"cuda_unknown", "CUDA error: unknown error", "CUDA error: unknown error",
            C::undetermined, root, K::none, "", "the driver gave up on the GPU without a reason",
            "look at the kernel log of the host for an Xid", A::collect_evidence, A::none,
            Severity::critical},
    RuleRow{"cuda_teardown",
            "CUDA error: ", R"(CUDA error: (?:driver shutting down|context is destroyed))",
            C::undetermined, teardown, K::none, "", "CUDA was ending already"},
    // Of a library: as sticky as the errors above and mostly after one of them.
    RuleRow{
        "cuda_library_failed", "_STATUS_",
        R"((?P<what>CU(?:BLAS|DNN|SPARSE|SOLVER|FFT)_STATUS_(?:EXECUTION_FAILED|INTERNAL_ERROR|)"
        R"(NOT_INITIALIZED|MAPPING_ERROR)\w*))",
        C::rank_exception, root, K::none, "", "a CUDA library failed: {what}", kFindKernel,
        A::fix_code, A::collect_evidence},
};

#undef SIZE

}  // namespace

std::span<const RuleRow> cuda_rules() {
  return kRows;
}

}  // namespace muster
