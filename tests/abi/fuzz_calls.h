// ABI tests: random argument lists for the compute calls. About half are legal; the others break a
// rule or two, or lie at its edge.
#pragma once

#include <string>
#include <vector>

#include "rules.h"
#include "support/random.h"

namespace mygemm_tests {

class CallGenerator {
 public:
  CallGenerator(const Arena& arena, uint64_t seed) : arena_(arena), random_(seed) {}

  GemmCall gemm(bool batched);
  GemmCall general_gemm(bool batched);
  GroupedCall grouped_gemm();
  SoftmaxCall softmax(bool backward);
  MaskedCall masked_softmax(bool backward);
  LossCall cross_entropy();
  TransposeCall transpose(bool batched);

 private:
  // How the operands of one call lie: each in a part of the arena of its own, as sub-matrices of
  // one larger array (their address ranges interleave), or anywhere.
  enum class Placement { kApart, kInterleaved, kAnywhere };

  bool chance(int percent) { return random_.integer(1, 100) <= percent; }
  int64_t extent() { return chance(4) ? 0 : random_.integer(1, 6); }
  int64_t ld(int64_t smallest);
  int64_t stride(int64_t span, bool zero_allowed);
  // An address for operand number `part`, whose lowest element is `below` elements before it and
  // whose end is `above` elements after it.
  const unsigned char* place(int part, int64_t below, int64_t above, int64_t element_bytes);
  void add_aux_and_sums(bool batched, GemmCall* call);
  void add_types(GemmCall* call);
  void add_groups(GroupedCall* call);
  void add_matrices(GroupedCall* call);
  void break_grouped(GroupedCall* call);
  void new_placement();
  void break_integer(int64_t* value);
  void break_enum(int* value);
  template <class T>
  void break_pointer(T** pointer);

  Arena arena_;
  Random random_;
  Placement placement_ = Placement::kApart;
  int64_t common_start_ = 0;
};

std::string text(const GemmCall& call);
std::string text(const GroupedCall& call);
std::string text(const SoftmaxCall& call);
std::string text(const MaskedCall& call);
std::string text(const LossCall& call);
std::string text(const TransposeCall& call);

// The second argument of a grouped call, with memory for its arrays: that of batch_count elements.
class GroupsOf {
 public:
  explicit GroupsOf(const GroupedCall& call);
  const mygemmGroups_t* get() const { return &groups_; }

 private:
  std::vector<unsigned char> memory_[7];
  mygemmGroups_t groups_ = MYGEMM_GROUPS_INIT;
};

}  // namespace mygemm_tests
