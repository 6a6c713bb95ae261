#include "app/part_folder.h"

#include <utility>

namespace muster {

PartFolder::PartFolder(std::unique_ptr<WorkFolder> folder, std::string out)
    : folder_(std::move(folder)), out_(std::move(out)) {}

Result<PartFolder> PartFolder::begin(WorkFolders& folders, const std::string& out) {
  const std::string name = folder_name(out), part = part_name(name);
  if (folders.has(name)) {
    return make_error(Errc::invalid_input, name + " is there already and is not overwritten");
  }
  if (folders.has(part)) return left_over(folders, part, "remove it");
  auto folder = folders.make(part);
  if (!folder) return folder.error();
  return PartFolder(std::move(*folder), name);
}

PartFolder::~PartFolder() {
  // What cannot be taken away is in nobody's way but the next one's, who is told.
  if (folder_) static_cast<void>(folder_->discard());
}

Status PartFolder::keep() {
  if (Status named = folder_->publish(out_); !named) return named;
  folder_.reset();
  return {};
}

Error left_over(WorkFolders& folders, const std::string& part, std::string_view way_out) {
  const auto taken = folders.take(part);
  if (!taken && taken.error().code == Errc::unavailable) return taken.error();
  return make_error(Errc::invalid_input,
                    part + ": something was broken off here; " + std::string(way_out));
}

std::string folder_name(std::string out) {
  while (out.size() > 1 && out.ends_with('/')) out.pop_back();
  return out;
}

std::string part_name(const std::string& out) {
  return out + ".part";
}

}  // namespace muster
