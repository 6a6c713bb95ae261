// Any bytes as what a probe brought from a host that is fit otherwise: never a crash, each check
// has a result, and no form of the answer shows a control character.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "core/health/check_output.h"
#include "core/health/host_test_kit.h"
#include "core/health/limits.h"
#include "core/model/json_reader.h"

// The first line is the probe, its exit status and, for a file, its name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster::health;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = input.find('\n');
  if (end == std::string_view::npos) return 0;
  const auto words = muster::split(input.substr(0, end), ' ');
  if (words.size() < 2) return 0;
  static const HostProbe kFit = fit_host();
  HostProbe host = kFit;
  ProbeAnswer& answer = answer_in(host, words[0]);
  answer.status = static_cast<int>(muster::parse_int(words[1]).value_or(0) & 0xff);
  const std::string bytes(input.substr(end + 1));
  if (words.size() > 2) {
    has_file(host, words[0], std::string(words[2]), bytes);
  } else {
    answer.parts = {{"", bytes}};
  }
  CheckedHost checked;
  checked.host = host.host;
  checked.reach = host.reach;
  checked.results = check_host(host, Limits());
  checked.facts = host_facts(host);
  MUSTER_CHECK(checked.results.size() >= check_table().size(), "each check has a result");
  MUSTER_CHECK(muster::parse_json(check_json({checked})).has_value(), "the values are JSON");
  const std::string texts = check_table_text({checked}) + check_prometheus({checked}) +
                            check_ticket(checked, serials_of(host)) + drain_reason(checked);
  for (const char c : texts) {
    const auto byte = static_cast<unsigned char>(c);
    MUSTER_CHECK(c == '\n' || (byte >= 0x20 && byte != 0x7f), "controls are escaped");
  }
  return 0;
}
