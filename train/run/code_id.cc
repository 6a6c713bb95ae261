#include "train/run/code_id.h"

#include <fmt/core.h>
#include <link.h>

#include <cstring>

namespace muster::train {
namespace {

constexpr std::size_t round_up(std::size_t value) {
  return (value + 3) / 4 * 4;
}

// The first object is the program itself.
int read_notes(dl_phdr_info* info, std::size_t /*size*/, void* out) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(info->dlpi_addr + part.p_vaddr);
    const char* const end = at + part.p_memsz;
    ElfW(Nhdr) note{};
    while (at + sizeof(note) <= end) {
      std::memcpy(&note, at, sizeof(note));
      at += sizeof(note) + round_up(note.n_namesz);
      if (note.n_type == NT_GNU_BUILD_ID && at + note.n_descsz <= end) {
        std::string& id = *static_cast<std::string*>(out);
        for (std::size_t b = 0; b < note.n_descsz; ++b) {
          id += fmt::format("{:02x}", static_cast<unsigned char>(at[b]));
        }
        return 1;
      }
      at += round_up(note.n_descsz);
    }
  }
  return 1;
}

}  // namespace

std::string code_id() {
  std::string id;
  ::dl_iterate_phdr(read_notes, &id);
  return id.empty() ? "unknown" : id;
}

}  // namespace muster::train
