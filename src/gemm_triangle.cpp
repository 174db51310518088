// The steps of a triangle.
#include "gemm_triangle.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "call.h"
#include "kernels/gemm/triangle.h"
#include "plan/triangle.h"
#include "tighten.h"

namespace mygemm {
namespace {

// Matrices `first` to first + count - 1 of a strided batch.
GemmProblem some_of(const GemmProblem& p, int64_t first, int64_t count) {
  GemmProblem q = p;
  q.batch_count = count;
  for (Operand* x : {&q.a, &q.b, &q.c, &q.d}) {
    x->data = x->at(first * x->stride);
  }
  return q;
}

// The steps of one call. Names the kernel of its first product.
class Runner {
 public:
  // The products of the steps: only planned, or launched too.
  enum class Job { kPlan, kLaunch };

  Runner(const mygemmContext& context, const TriangleSteps& steps, float* sums,
         size_t products_bytes, const char* forced, const char** kernel)
      : context_(context),
        steps_(steps),
        sums_(sums),
        products_bytes_(products_bytes),
        forced_(forced),
        kernel_(kernel) {}

  // All or nothing: a kernel that is forced may not be able to run one of the products.
  Status run(const GemmProblem& p) {
    if (forced_) {
      job_ = Job::kPlan;
      RETURN_IF_ERROR(run_once(p));
    }
    job_ = Job::kLaunch;
    return run_once(p);
  }

 private:
  Status run_once(const GemmProblem& p) {
    if (steps_.levels == 0) return diagonal(p);
    for (int64_t matrix = 0; matrix < p.batch_count; ++matrix) {
      RETURN_IF_ERROR(rectangles(p, matrix));
      const int64_t block = steps_.block, rest = p.n % block;
      RETURN_IF_ERROR(diagonal(part_of(p, matrix, {0, 0, block, block, p.n / block, block})));
      if (rest == 0) continue;
      RETURN_IF_ERROR(diagonal(part_of(p, matrix, {p.n - rest, p.n - rest, rest, rest})));
    }
    return MYGEMM_STATUS_SUCCESS;
  }

  Status product(GemmProblem q) {
    q.fill = MYGEMM_FILL_FULL;
    const PlanOptions options{products_bytes_, forced_};
    if (job_ == Job::kPlan) {
      Plan<GemmProblem> plan;
      return make_plan(tightened(q), context_.device, options, &plan);
    }
    const char* kernel = nullptr;
    RETURN_IF_ERROR(launch_planned(context_, q, options, &kernel));
    if (!*kernel_) *kernel_ = kernel;
    return MYGEMM_STATUS_SUCCESS;
  }

  // Largest first. At each level all rectangles but the last are alike.
  Status rectangles(const GemmProblem& p, int64_t matrix) {
    for (int level = steps_.levels - 1; level >= 0; --level) {
      const int64_t size = steps_.block << level, pairs = p.n / (2 * size);
      const int64_t rest = p.n - 2 * size * pairs - size;
      if (pairs > 0) {
        RETURN_IF_ERROR(product(part_of(p, matrix, rectangle(p, 0, size, size, pairs))));
      }
      if (rest > 0) {
        RETURN_IF_ERROR(product(part_of(p, matrix, rectangle(p, 2 * size * pairs, size, rest, 1))));
      }
    }
    return MYGEMM_STATUS_SUCCESS;
  }

  // The triangles of a batch of square blocks.
  Status diagonal(const GemmProblem& blocks) {
    const int64_t ld = sums_ld(blocks.n);
    const WholeSums sums{sums_, ld, ld * blocks.n};
    for (int64_t first = 0; first < blocks.batch_count; first += steps_.at_once) {
      const GemmProblem triangles =
          some_of(blocks, first, std::min(steps_.at_once, blocks.batch_count - first));
      GemmProblem whole = triangles;
      whole.c = whole.d = {sums.data, nullptr, sums.ld, sums.stride};
      whole.epilogue.alpha = {1.0f, nullptr, false};
      whole.epilogue.beta = {0.0f, nullptr, false};
      RETURN_IF_ERROR(product(whole));
      RETURN_IF_ERROR(store(triangles, sums));
    }
    return MYGEMM_STATUS_SUCCESS;
  }

  Status store(const GemmProblem& triangles, const WholeSums& sums) {
    if (job_ == Job::kPlan) return MYGEMM_STATUS_SUCCESS;
    if (context_.on_host()) return host::launch_triangle(triangles, sums);
    const Status status =
        cuda_launcher<cuda::launch_triangle>()(triangles, sums, context_.launch_context());
    context_.mark_workspace_used();
    return status;
  }

  const mygemmContext& context_;
  const TriangleSteps& steps_;
  float* sums_;
  size_t products_bytes_;
  const char* forced_;
  const char** kernel_;
  Job job_ = Job::kLaunch;
};

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

}  // namespace

Status compute_triangle(const mygemmContext& context, const GemmProblem& given,
                        const char** kernel) {
  const GemmProblem p = tightened(given);
  const PlanOptions options{context.workspace_bytes, forced_kernel(context.environment, p)};
  const TriangleSteps steps = divide_triangle(p, context.device, options);
  if (steps.block == 0) return compute(context, p, kernel);
  if (context.on_host()) {
    const std::unique_ptr<void, Free> scratch(
        std::aligned_alloc(64, (steps.sums_bytes + 63) / 64 * 64));
    if (!scratch) {
      return fail(MYGEMM_STATUS_ALLOC_FAILED, "no memory for %zu bytes of sums", steps.sums_bytes);
    }
    return Runner(context, steps, static_cast<float*>(scratch.get()), 0, options.forced, kernel)
        .run(p);
  }
  // Both parts of the workspace begin at multiples of 256 bytes, as the whole does.
  const size_t products_bytes = (context.workspace_bytes - steps.sums_bytes) / 256 * 256;
  char* const sums = static_cast<char*>(context.workspace) + products_bytes;
  return Runner(context, steps, reinterpret_cast<float*>(sums), products_bytes, options.forced,
                kernel)
      .run(p);
}

}  // namespace mygemm
