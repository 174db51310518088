// Transposes: one case as a Contest. Peers: a copy of as many bytes, and cublasSgeam where it can.
#include <algorithm>
#include <climits>
#include <cstdlib>

#include "contest.h"

namespace bench {
namespace {

// Elements of any size are made of 32-bit random words: numbers that cublasSgeam moves unchanged.
int64_t words(int64_t ld, int64_t lines, int64_t stride, const TransposeCase& c) {
  const int64_t elements = std::abs(stride) * (c.batch - 1) + ld * lines;
  return (elements * c.element_size + 3) / 4 + 1;  // plus one, since the lead is rounded up
}

int64_t lead_words(int64_t stride, const TransposeCase& c) {
  return stride < 0 ? (-stride * (c.batch - 1) * c.element_size + 3) / 4 : 0;
}

int64_t in_words(const TransposeCase& c) { return words(c.ldin, c.rows, *c.stride_in, c); }
int64_t out_words(const TransposeCase& c) { return words(c.ldout, c.cols, *c.stride_out, c); }

bool fits_geam(const TransposeCase& c) {
  return c.element_size == 4 && c.batch == 1 && !c.in_place &&
         std::max({c.rows, c.cols, c.ldin, c.ldout}) <= INT_MAX;
}

}  // namespace

Result measure(Session* session, const TransposeCase& c) {
  const Machine& machine = session->machine;
  const int64_t set_bytes =
      4 * (c.in_place ? std::max(in_words(c), out_words(c)) : in_words(c) + out_words(c));
  Contest contest;
  contest.sets = rotation_sets(machine, set_bytes, session->options.hot);
  const RotatedOperand in(machine, MYGEMM_R_32F, c.in_place ? set_bytes / 4 : in_words(c),
                          lead_words(*c.stride_in, c), contest.sets, 1);
  const RotatedOperand separate(machine, MYGEMM_R_32F, c.in_place ? 0 : out_words(c),
                                lead_words(*c.stride_out, c), c.in_place ? 1 : contest.sets, 2);
  const RotatedOperand& out = c.in_place ? in : separate;

  contest.operation = operation_name(c);
  contest.label = label(c);
  contest.fields = fields(c);
  contest.family = Family::kTranspose;
  contest.work = bytes(c);
  contest.set_bytes = static_cast<double>(set_bytes);
  contest.output = &out;
  contest.output_type = MYGEMM_R_32F;
  contest.exact = true;
  contest.tolerance = 0;
  contest.prepare = [&] {
    if (c.in_place) {
      in.refill();
    } else {
      machine.fill_bytes(out.first(), 0xff, out.bytes());
    }
  };
  const size_t element_size = static_cast<size_t>(c.element_size);
  contest.ours = [&](mygemmHandle_t handle) -> Call {
    return [&in, &out, &c, element_size, handle](int64_t i) {
      check(mygemm_transpose_strided_batched(handle, element_size, c.rows, c.cols, in.at(i), c.ldin,
                                             *c.stride_in, out.at(i), c.ldout, *c.stride_out,
                                             c.batch),
            "mygemm_transpose_strided_batched");
    };
  };
  contest.workspace_size = [&](mygemmHandle_t handle, size_t* wanted) {
    return mygemm_transpose_workspace_size(handle, element_size, c.rows, c.cols, c.batch,
                                           static_cast<int>(c.in_place), wanted);
  };
  contest.explain = [&](mygemmHandle_t handle, char* text, size_t capacity, size_t* length) {
    return mygemm_explain_transpose(handle, nullptr, element_size, c.rows, c.cols, in.at(0), c.ldin,
                                    *c.stride_in, out.at(0), c.ldout, *c.stride_out, c.batch, text,
                                    capacity, length);
  };
  const CopyPeer copy(machine, bytes(c) / 2, session->options.hot);
  contest.peers.push_back({"copy", [&copy](int64_t i) { copy(i); }, false});
  contest.peer_names = {"copy"};
  if (Cublas* cublas = session->cublas.get()) {
    contest.peer_names.push_back("cublas");
    if (fits_geam(c)) {
      contest.peers.push_back({"cublas",
                               [&in, &out, &c, cublas](int64_t i) {
                                 cublas->transpose(
                                     static_cast<int>(c.rows), static_cast<int>(c.cols),
                                     static_cast<const float*>(in.at(i)), static_cast<int>(c.ldin),
                                     static_cast<float*>(out.at(i)), static_cast<int>(c.ldout));
                               },
                               true});
    }
  }
  contest.peer_names.push_back(kNaive);
  return run_contest(session, contest);
}

}  // namespace bench
