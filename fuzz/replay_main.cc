#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

// Feeds every file of the folders named on the command line to a fuzz target once. No libFuzzer
// needed, so each test run with any compiler replays what fuzzing found before.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

int main(int argc, char** argv) {
  int samples = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      const std::string bytes = read_file(entry.path());
      // Named before it runs: after a crash the last line says which sample it was.
      std::printf("%s (%zu bytes)\n", entry.path().filename().c_str(), bytes.size());
      std::fflush(stdout);
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      ++samples;
    }
  }
  std::printf("%d samples\n", samples);
  return samples > 0 ? 0 : 1;
}
