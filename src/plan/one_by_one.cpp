// Grouped products as a call for each: planned and launched one after another.
#include "grouped_sizes.h"
#include "plan/plan.h"
#include "tighten.h"

namespace mygemm {

// All are planned before one is launched: nothing is written where one cannot run.
Status launch_one_by_one(const GroupedProblem& p, const GemmConfig& config,
                         const LaunchContext& context) {
  const PlanOptions options = {config.workspace_bytes};
  if (p.groups.all_alike()) {
    const GemmProblem batch = tightened(p.most);
    Plan<GemmProblem> plan;
    RETURN_IF_ERROR(make_plan(batch, *context.device, options, &plan));
    return plan.kernel->launch(batch, plan.config, context);
  }
  for (const bool launches : {false, true}) {
    int64_t sum = 0;
    for (int64_t i = 0; i < p.most.batch_count; ++i) {
      const ProductSizes sizes = sizes_of(p, i, sum);
      sum += stacked_size(p, sizes);
      if (sizes.m == 0 || sizes.n == 0) continue;
      const GemmProblem q = tightened(product_of(p, i, sizes));
      Plan<GemmProblem> plan;
      RETURN_IF_ERROR(make_plan(q, *context.device, options, &plan));
      if (launches) RETURN_IF_ERROR(plan.kernel->launch(q, plan.config, context));
    }
  }
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm
