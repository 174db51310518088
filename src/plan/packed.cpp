// Packed products: how they are divided into parts, and the plan of a part.
#include "kernels/gemm/packed.h"

#include <algorithm>

#include "plan/plan.h"

namespace mygemm {
namespace {

// Rows and columns of parts are multiples of this, but for the last ones. More lines or matrices
// are multiplied no faster, and their tiles might be too many for a grid.
constexpr int64_t kPartMultiple = 256, kMostLines = 1 << 20, kMostMatrices = 1 << 16;
// Results of a part of several matrices, at most: fewer kernels count more.
constexpr double kMostResults = 0x1p30;
// No kernel that tensor maps feed takes more; and so extents of packed operands overflow nothing.
constexpr int64_t kMostExtent = (int64_t{1} << 31) - 1;
// The packed operands begin at multiples of this.
constexpr double kAlignment = 256;
// The kernels that divide k use so much of the workspace.
constexpr size_t kKernelWorkspace = size_t{18} << 20;

double rounded(double bytes) { return estimate::rounded_up(bytes / kAlignment) * kAlignment; }

double bytes_of(const Operand& packed, double columns) {
  return rounded(static_cast<double>(packed.ld) * columns *
                 static_cast<double>(element_bytes(packed.type)));
}
// The bytes of p's operands, of which one that is not packed has none.
double bytes_of_a(const GemmProblem& p, const PackedParts& parts) {
  if (!parts.packs_a) return 0.0;
  return bytes_of(packed_a(p, nullptr),
                  static_cast<double>(p.a_cols()) * static_cast<double>(p.batch_count));
}
double bytes_of_b(const GemmProblem& p, const PackedParts& parts) {
  if (!parts.packs_b) return 0.0;
  return bytes_of(packed_b(p, nullptr),
                  static_cast<double>(p.b_cols()) * static_cast<double>(p.batch_count));
}

// So many rows and columns of D, of so many matrices.
GemmProblem with_extents(GemmProblem p, int64_t m, int64_t n, int64_t matrices) {
  p.m = m, p.n = n, p.batch_count = matrices;
  return p;
}

GemmProblem largest_part(const GemmProblem& p, const PackedParts& parts) {
  return with_extents(p, parts.m, parts.n, parts.matrices);
}

double packed_bytes(const GemmProblem& p, const PackedParts& parts) {
  const GemmProblem part = largest_part(p, parts);
  return bytes_of_a(part, parts) + bytes_of_b(part, parts);
}

// An operand's lines: rows of op(A), or columns of op(B).
struct Lines {
  int64_t count;
  double of_part;  // bytes of kPartMultiple lines
  double of_all;

  // The most that fit: all, or a multiple of kPartMultiple, and as many in each part.
  int64_t that_fit(double bytes) const {
    if (of_all <= bytes && count <= kMostLines) return count;
    const double parts = of_part > 0.0 ? bytes / of_part : 1.0 * kMostLines;
    const auto most = static_cast<int64_t>(std::min(parts, 1.0 * kMostLines / kPartMultiple));
    if (most == 0) return 0;
    const int64_t turns = ceil_div(count, most * kPartMultiple);
    return ceil_div(ceil_div(count, turns), kPartMultiple) * kPartMultiple;
  }
};

// Sets the extents of the parts; false where the workspace holds no part of a few tiles.
bool set_extents(const GemmProblem& p, double bytes, PackedParts* parts) {
  parts->m = p.m, parts->n = p.n, parts->matrices = 1;
  const double of_one = packed_bytes(p, *parts);
  if (of_one <= bytes && std::max(p.m, p.n) <= kMostLines) {
    const double results = static_cast<double>(p.m) * static_cast<double>(p.n);
    const auto fit = static_cast<int64_t>(
        std::min({bytes / of_one, 1.0 * kMostMatrices, std::max(1.0, kMostResults / results)}));
    parts->matrices = ceil_div(p.batch_count, ceil_div(p.batch_count, fit));
    return true;
  }
  if (p.pointer_arrays) return false;  // of which parts have no address
  const GemmProblem some = with_extents(p, kPartMultiple, kPartMultiple, 1);
  const GemmProblem all = with_extents(p, p.m, p.n, 1);
  const Lines a{p.m, bytes_of_a(some, *parts), bytes_of_a(all, *parts)};
  const Lines b{p.n, bytes_of_b(some, *parts), bytes_of_b(all, *parts)};
  // Half of the workspace for each, or what the other leaves.
  const double half = bytes / 2;
  parts->m = a.that_fit(b.of_all < half ? bytes - b.of_all : half);
  parts->n = b.that_fit(a.of_all < half ? bytes - a.of_all : half);
  return parts->m > 0 && parts->n > 0;
}

// Parts along m, n and the batch, and the operands that are packed how often.
struct Counts {
  Counts(const GemmProblem& p, const PackedParts& parts)
      : m(ceil_div(p.m, parts.m)),
        n(ceil_div(p.n, parts.n)),
        matrices(ceil_div(p.batch_count, parts.matrices)) {}
  double all() const {
    return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(matrices);
  }
  int64_t m, n, matrices;
};

// Bytes that are packed in all, where the parts of one operand take turns while one of the other
// stays packed: A, or B. An operand of one part is packed once.
struct PackedInAll {
  PackedInAll(const GemmProblem& p, const PackedParts& parts, const Counts& counts) {
    const double a = bytes_of_a(p, parts), b = bytes_of_b(p, parts);
    const auto times = [](int64_t others, int64_t own) {
      return own > 1 ? static_cast<double>(others) : 1.0;
    };
    keeping_a = a + b * times(counts.m, counts.n);
    keeping_b = a * times(counts.n, counts.m) + b;
  }
  double keeping_a, keeping_b;
};

double pack_seconds(const GemmProblem& p, const PackedParts& parts, const DeviceTraits& device) {
  const Counts counts(p, parts);
  const PackedInAll bytes(p, parts, counts);
  return kPackSeconds * counts.all() +
         kPackedTraffic * std::min(bytes.keeping_a, bytes.keeping_b) / device.memory_bandwidth;
}

// The product of the packed operands of a part.
GemmProblem of_packed(const GemmProblem& part, const PackedParts& parts, void* a, void* b) {
  GemmProblem q = part;
  if (parts.packs_a) q.a = packed_a(part, a);
  if (parts.packs_b) q.b = packed_b(part, b);
  return q;
}

// Sets parts, whose packed operands take `bytes` at most, and plans one; nullptr, or why not.
const char* configure_parts(const GemmKernel& kernel, const GemmProblem& p,
                            const DeviceTraits& device, double bytes, size_t workspace,
                            PackedParts parts, GemmConfig* config) {
  if (!set_extents(p, bytes, &parts)) return kNoRoomToPack;
  const GemmProblem part = largest_part(p, parts);
  const GemmProblem q = of_packed(part, parts, nullptr, nullptr);
  if ((parts.packs_a && must_be_packed(q.a, q.batch_count)) ||
      (parts.packs_b && must_be_packed(q.b, q.batch_count))) {
    return kCannotBePacked;
  }
  parts.bytes = static_cast<size_t>(packed_bytes(p, parts));
  Plan<GemmProblem> plan;
  if (make_plan(q, device, {workspace - parts.bytes}, &plan) != MYGEMM_STATUS_SUCCESS) {
    return "no kernel multiplies the packed operands";
  }
  if (plan.config.packed.kernel) return "the other operand is packed, too";
  const double seconds = plan.config.seconds * kernel.figures.misaligned * Counts(p, parts).all() +
                         pack_seconds(p, parts, device);
  if (config->packed.kernel && config->seconds <= seconds) return nullptr;
  *config = plan.config;
  config->seconds = seconds;
  config->workspace_bytes += parts.bytes;
  config->packed = parts;
  config->packed.kernel = plan.kernel;
  return nullptr;
}

void move(Operand* x, int64_t matrix, int64_t offset) {
  if (x->pointers) {
    x->pointers += matrix;
  } else {
    x->data = x->at(matrix * x->stride + offset);
  }
}

// The part of D from element (i, j) of a matrix on.
GemmProblem part_at(const GemmProblem& p, const PackedParts& parts, int64_t i, int64_t j,
                    int64_t matrix) {
  GemmProblem q = with_extents(p, std::min(parts.m, p.m - i), std::min(parts.n, p.n - j),
                               std::min(parts.matrices, p.batch_count - matrix));
  move(&q.a, matrix, p.transa ? i * p.a.ld : i);
  move(&q.b, matrix, p.transb ? j : j * p.b.ld);
  move(&q.c, matrix, i + j * p.c.ld);
  move(&q.d, matrix, i + j * p.d.ld);
  Epilogue& epilogue = q.epilogue;
  if (epilogue.bias) {
    epilogue.bias = static_cast<const char*>(epilogue.bias) +
                    (matrix * epilogue.stride_bias + i) * element_bytes(p.d.type);
  }
  if (epilogue.aux) {
    const int64_t element = matrix * epilogue.stride_aux + i + j * epilogue.ldaux;
    epilogue.aux =
        static_cast<char*>(epilogue.aux) + (epilogue.aux_is_bits() ? element / 8 : element * 4);
  }
  return q;
}

// Launches parts one after another, and plans those that are unlike the part before.
class Parts {
 public:
  Parts(const GemmProblem& p, const GemmConfig& config, const LaunchContext& context)
      : p_(p), config_(config), context_(context), product_context_(context) {
    const PackedParts& parts = config.packed;
    bytes_of_a_ = static_cast<size_t>(bytes_of_a(largest_part(p, parts), parts));
    product_context_.workspace = packed() + parts.bytes;
  }

  Status launch(int64_t i, int64_t j, int64_t matrix, bool packs_a, bool packs_b) {
    const PackedParts& parts = config_.packed;
    const GemmProblem part = part_at(p_, parts, i, j, matrix);
    const GemmProblem q = of_packed(part, parts, packed(), packed() + bytes_of_a_);
    if (packs_a || packs_b) {
      RETURN_IF_ERROR(cuda_launcher<cuda::launch_pack>()(part, packs_a ? &q.a : nullptr,
                                                         packs_b ? &q.b : nullptr, context_));
    }
    if (!plan_.kernel || q.m != planned_.m || q.n != planned_.n ||
        q.batch_count != planned_.batch_count) {
      RETURN_IF_ERROR(plan(q));
    }
    return plan_.kernel->launch(q, plan_.config, product_context_);
  }

 private:
  // By the kernel that was planned, unless it refuses: the last parts are smaller.
  Status plan(const GemmProblem& q) {
    const PlanOptions options = {config_.workspace_bytes - config_.packed.bytes};
    planned_ = q;
    plan_ = {config_.packed.kernel, {}};
    if (!configure(*plan_.kernel, q, *context_.device, options, &plan_.config)) {
      return MYGEMM_STATUS_SUCCESS;
    }
    return make_plan(q, *context_.device, options, &plan_);
  }

  char* packed() const { return static_cast<char*>(context_.workspace); }

  const GemmProblem& p_;
  const GemmConfig& config_;
  const LaunchContext& context_;
  LaunchContext product_context_;
  size_t bytes_of_a_ = 0;  // B's place does not depend on the part: it may stay packed
  GemmProblem planned_ = {};
  Plan<GemmProblem> plan_;
};

}  // namespace

const char* configure_packed(const GemmKernel& kernel, const GemmFacts& facts,
                             const DeviceTraits& device, const PlanOptions& options,
                             GemmConfig* config) {
  const GemmProblem& p = facts.problem;
  if (p.scales_only() || facts.area == 0.0) return "nothing is read of A and B";
  if (std::max({p.m, p.n, p.k}) > kMostExtent) return "m, n or k of more than 2^31 - 1";
  if (takes(kernel.figures, Takes::kFp32) && !facts.order && !options.forced) {
    return "FP32 operands are packed for batch-invariant products alone";
  }
  PackedParts both;
  both.packs_a = must_be_packed(p.a, p.batch_count);
  both.packs_b = must_be_packed(p.b, p.batch_count);
  if (!both.packs_a && !both.packs_b) return kNothingToPack;
  PackedParts shorter = both;  // only the operand of the shorter side of D
  (p.n <= p.m ? shorter.packs_a : shorter.packs_b) = false;
  const size_t workspace = options.workspace_bytes;
  const char* reason = kNoRoomToPack;
  // The packed operands may leave some of the workspace to the kernel, or take all; and parts of
  // fewer lines may fill the GPU better.
  const size_t left = workspace - std::min(workspace, kKernelWorkspace);
  const auto configure_with = [&](const PackedParts& parts, size_t most) {
    const double bytes = std::min(static_cast<double>(most), kMostPackedBytes);
    const char* why = configure_parts(kernel, p, device, bytes, workspace, parts, config);
    if (why) reason = why;
  };
  if (both.packs_a && both.packs_b && std::min(p.m, p.n) <= kMostShorterSide) {
    configure_with(shorter, left);
  }
  for (const size_t most : {left, workspace, workspace / 4}) {
    configure_with(both, most);
    if (config->packed.kernel && Counts(p, config->packed).all() == 1.0) break;
  }
  return config->packed.kernel ? nullptr : reason;
}

Status launch_packed(const GemmProblem& p, const GemmConfig& config, const LaunchContext& context) {
  const PackedParts& parts = config.packed;
  const Counts counts(p, parts);
  const PackedInAll bytes(p, parts, counts);
  const bool keeps_a = bytes.keeping_a <= bytes.keeping_b;
  const int64_t kept = keeps_a ? counts.m : counts.n, turning = keeps_a ? counts.n : counts.m;
  Parts launcher(p, config, context);
  for (int64_t matrix = 0; matrix < p.batch_count; matrix += parts.matrices) {
    for (int64_t outer = 0; outer < kept; ++outer) {
      for (int64_t inner = 0; inner < turning; ++inner) {
        const bool first = inner == 0, packs_turning = turning > 1 || outer == 0;
        RETURN_IF_ERROR(launcher.launch((keeps_a ? outer : inner) * parts.m,
                                        (keeps_a ? inner : outer) * parts.n, matrix,
                                        parts.packs_a && (keeps_a ? first : packs_turning),
                                        parts.packs_b && (keeps_a ? packs_turning : first)));
      }
    }
  }
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm
