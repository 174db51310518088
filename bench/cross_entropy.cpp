// Cross entropy: one case as a Contest. The peer is a copy of as many bytes, which no loss can beat
// once its data is cold; torch_cross_entropy.py adds PyTorch's.
#include "contest.h"
#include "values.h"

namespace bench {
namespace {

// Class numbers 0 to cols - 1, spread over them.
Buffer make_targets(const Machine& machine, const CrossEntropyCase& c) {
  const auto fill = [&](auto zero) {
    using Index = decltype(zero);
    std::vector<Index> targets(static_cast<size_t>(c.rows));
    for (size_t r = 0; r < targets.size(); ++r) {
      targets[r] =
          static_cast<Index>(mix(static_cast<uint32_t>(r)) % static_cast<uint64_t>(c.cols));
    }
    Buffer buffer(machine, targets.size() * sizeof(Index));
    machine.copy_from_host(buffer.data(), targets.data(), buffer.bytes());
    return buffer;
  };
  return c.target_type == "i32" ? fill(int32_t{}) : fill(int64_t{});
}

// x, dx and the vectors of one case. The loss alone has its losses as the output.
struct Operands {
  Operands(const Machine& machine, const CrossEntropyCase& c, int64_t sets)
      : xtype(data_type(c.xtype)),
        dxtype(data_type(c.dxtype)),
        x(machine, xtype, c.rows * c.ldx, 0, sets, 1),
        dx(machine, dxtype, c.gradient == "apart" ? c.rows * c.lddx : 0, 0, sets, 2),
        losses(machine, MYGEMM_R_32F, 2 * c.rows, 0, 1, 3),
        dloss(machine, MYGEMM_R_32F, c.rows * std::max<int64_t>(1, c.stride_dloss), 0, 1, 4),
        targets(make_targets(machine, c)) {}

  mygemmDataType_t xtype, dxtype;
  RotatedOperand x, dx, losses, dloss;
  Buffer targets;
};

// Two roundings to the output's type, relative to the largest output.
double tolerance_of(mygemmDataType_t type) {
  return type == MYGEMM_R_32F ? 1e-5 : type == MYGEMM_R_16F ? 2e-3 : 1.6e-2;
}

mygemmCrossEntropy_t descriptor(const CrossEntropyCase& c, const Operands& o, int64_t i) {
  mygemmCrossEntropy_t call = MYGEMM_CROSS_ENTROPY_INIT;
  call.rows = c.rows;
  call.cols = c.cols;
  call.x = o.x.at(i);
  call.xtype = o.xtype;
  call.ldx = c.ldx;
  call.targets = o.targets.data();
  call.target_type = c.target_type == "i32" ? MYGEMM_INDEX_32I : MYGEMM_INDEX_64I;
  if (c.has_gradient()) call.dx = c.gradient == "apart" ? o.dx.at(i) : o.x.at(i);
  call.dxtype = o.dxtype;
  call.lddx = c.lddx;
  if (c.dloss) call.dloss = static_cast<const float*>(o.dloss.at(0));
  call.stride_dloss = c.stride_dloss;
  auto* const losses = static_cast<float*>(o.losses.at(0));
  if (c.loss) call.loss = losses;
  if (c.lse) call.lse = losses + c.rows;
  call.gradient_scale = static_cast<float>(c.gradient_scale);
  call.label_smoothing = static_cast<float>(c.label_smoothing);
  call.z_loss = static_cast<float>(c.z_loss);
  return call;
}

}  // namespace

Result measure(Session* session, const CrossEntropyCase& c) {
  const Machine& machine = session->machine;
  const auto size = [](const std::string& type) {
    return static_cast<int64_t>(type_bytes(data_type(type)));
  };
  const int64_t set_bytes =
      c.rows * (c.ldx * size(c.xtype) + (c.gradient == "apart" ? c.lddx * size(c.dxtype) : 0));
  Contest contest;
  contest.sets = rotation_sets(machine, set_bytes, session->options.hot);
  const Operands o(machine, c, contest.sets);

  contest.operation = operation_name(c);
  contest.label = label(c);
  contest.fields = fields(c);
  contest.family = Family::kCrossEntropy;
  contest.work = bytes(c);
  contest.set_bytes = static_cast<double>(set_bytes);
  contest.output = c.gradient == "apart" ? &o.dx : c.has_gradient() ? &o.x : &o.losses;
  contest.output_type = c.has_gradient() ? o.dxtype : MYGEMM_R_32F;
  contest.exact = false;
  contest.tolerance = tolerance_of(contest.output_type);
  // NaN, or the logits again where the gradient takes their place.
  contest.prepare = [&] {
    if (c.gradient == "in-place") {
      o.x.refill();
    } else {
      machine.fill_bytes(contest.output->first(), 0, contest.output->bytes());
    }
  };
  contest.ours = [&](mygemmHandle_t handle) -> Call {
    return [&o, &c, handle](int64_t i) {
      const mygemmCrossEntropy_t call = descriptor(c, o, i);
      check(mygemm_cross_entropy(handle, &call), "mygemm_cross_entropy");
    };
  };
  contest.workspace_size = [&](mygemmHandle_t handle, size_t* wanted) {
    const mygemmCrossEntropy_t call = descriptor(c, o, 0);
    return mygemm_cross_entropy_workspace_size(handle, &call, wanted);
  };
  contest.explain = [&](mygemmHandle_t handle, char* text, size_t capacity, size_t* length) {
    const mygemmCrossEntropy_t call = descriptor(c, o, 0);
    return mygemm_explain_cross_entropy(handle, nullptr, &call, text, capacity, length);
  };
  const CopyPeer copy(machine, bytes(c) / 2, session->options.hot);
  contest.peers.push_back({"copy", [&copy](int64_t i) { copy(i); }, false});
  contest.peer_names = {"copy", kNaive};
  return run_contest(session, contest);
}

}  // namespace bench
