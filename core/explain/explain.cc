#include "core/explain/explain.h"

#include "base/limits.h"
#include "core/explain/chain.h"
#include "core/explain/facts_alone.h"
#include "core/explain/first_cause.h"
#include "core/explain/joins.h"
#include "core/explain/weak_claims.h"

namespace muster {
namespace {

void drop_loopback(Claim& claim) {
  const auto dropped = std::erase_if(claim.culprits, [](const Culprit& c) {
    return c.kind == CulpritKind::host && is_loopback(c.id);
  });
  if (dropped > 0 && claim.culprits.empty()) claim.culprits = {{CulpritKind::unknown, ""}};
}

}  // namespace

Explanation explain(const ExplainInput& input) {
  const Scene scene(input);
  std::vector<Claim> claims = claims_of_roots(scene);
  const std::vector<Claim> old = take_old(claims);
  for (const Join& join : join_table()) join.apply(scene, claims);
  const Waits waits = find_waits(scene);
  judge_waits(scene, waits, claims);
  add_weak_claims(scene, waits, claims);
  add_facts_alone(scene, claims);
  Explanation out;
  std::vector<Claim> ordered = order_claims(scene, waits, std::move(claims));
  ordered.insert(ordered.end(), old.begin(), old.end());
  for (Claim& claim : ordered) {
    drop_loopback(claim);
    if (out.findings.size() >= limits::kFindingsNamed) break;
    out.findings.push_back(finding_of(scene, claim, out.findings.empty()));
  }
  return out;
}

}  // namespace muster
