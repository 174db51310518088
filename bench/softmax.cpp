// Softmax and its gradient: one case as a Contest. No library is at hand to compare with: the peer
// is a copy of as many bytes, which no softmax can beat once its data is cold.
#include "contest.h"
#include "values.h"

namespace bench {
namespace {

// x, dy and out of one case; without dy for the forward direction.
struct Operands {
  Operands(const Machine& machine, const SoftmaxCase& c, int64_t sets)
      : xtype(data_type(c.xtype)),
        dytype(data_type(c.dytype)),
        ytype(data_type(c.ytype)),
        x(machine, xtype, c.rows * c.ldx, 0, sets, 1),
        dy(machine, dytype, c.backward() ? c.rows * c.lddy : 0, 0, sets, 2),
        y(machine, ytype, c.rows * c.ldy, 0, sets, 3) {}

  mygemmDataType_t xtype, dytype, ytype;
  RotatedOperand x, dy, y;
};

int64_t bytes_of_a_set(const SoftmaxCase& c) {
  const auto size = [](const std::string& type) {
    return static_cast<int64_t>(type_bytes(data_type(type)));
  };
  const int64_t dy = c.backward() ? c.lddy * size(c.dytype) : 0;
  return c.rows * (c.ldx * size(c.xtype) + dy + c.ldy * size(c.ytype));
}

// Two roundings to the output's type, relative to the largest output. Softmax of inputs in (-1, 1)
// is about 1 / cols, which in wide rows is subnormal for fp16: a unit is then 2^-24.
double tolerance_of(mygemmDataType_t type, int64_t cols) {
  if (type == MYGEMM_R_32F) return 1e-5;
  return type == MYGEMM_R_16F ? 2e-3 + 0x1p-24 * static_cast<double>(cols) : 1.6e-2;
}

constexpr float kScale = 1.0f;  // a log line holds no scale

}  // namespace

Result measure(Session* session, const SoftmaxCase& c) {
  const Machine& machine = session->machine;
  const mygemmSoftmaxMode_t mode = c.mode == "log" ? MYGEMM_LOG_SOFTMAX : MYGEMM_SOFTMAX;
  const int64_t set_bytes = bytes_of_a_set(c);
  Contest contest;
  contest.sets = rotation_sets(machine, set_bytes, session->options.hot);
  const Operands o(machine, c, contest.sets);

  contest.operation = operation_name(c);
  contest.label = label(c);
  contest.fields = fields(c);
  contest.family = Family::kSoftmax;
  contest.work = bytes(c);
  contest.set_bytes = static_cast<double>(set_bytes);
  contest.output = &o.y;
  contest.output_type = o.ytype;
  contest.exact = false;
  contest.tolerance = tolerance_of(o.ytype, c.cols);
  contest.prepare = [&] { machine.fill_bytes(o.y.first(), 0xff, o.y.bytes()); };  // NaN
  contest.ours = [&](mygemmHandle_t handle) -> Call {
    if (c.backward()) {
      return [&o, &c, mode, handle](int64_t i) {
        check(
            mygemm_softmax_backward(handle, mode, c.rows, c.cols, kScale, o.x.at(i), o.xtype, c.ldx,
                                    o.dy.at(i), o.dytype, c.lddy, o.y.at(i), o.ytype, c.ldy),
            "mygemm_softmax_backward");
      };
    }
    return [&o, &c, mode, handle](int64_t i) {
      check(mygemm_softmax(handle, mode, c.rows, c.cols, kScale, o.x.at(i), o.xtype, c.ldx,
                           o.y.at(i), o.ytype, c.ldy),
            "mygemm_softmax");
    };
  };
  contest.workspace_size = [&](mygemmHandle_t handle, size_t* wanted) {
    return mygemm_softmax_workspace_size(handle, mode, c.rows, c.cols, o.xtype, o.ytype, wanted);
  };
  contest.explain = [&](mygemmHandle_t handle, char* text, size_t capacity, size_t* length) {
    if (c.backward()) {
      return mygemm_explain_softmax_backward(handle, nullptr, mode, c.rows, c.cols, o.x.at(0),
                                             o.xtype, c.ldx, o.dy.at(0), o.dytype, c.lddy,
                                             o.y.at(0), o.ytype, c.ldy, text, capacity, length);
    }
    return mygemm_explain_softmax(handle, nullptr, mode, c.rows, c.cols, o.x.at(0), o.xtype, c.ldx,
                                  o.y.at(0), o.ytype, c.ldy, text, capacity, length);
  };
  // A copy reads and writes: half of the softmax's bytes each way.
  const CopyPeer copy(machine, bytes(c) / 2, session->options.hot);
  contest.peers.push_back({"copy", [&copy](int64_t i) { copy(i); }, false});
  contest.peer_names = {"copy", kNaive};
  return run_contest(session, contest);
}

}  // namespace bench
