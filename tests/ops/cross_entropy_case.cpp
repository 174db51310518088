// Ops tests: see cross_entropy_case.h.
#include "cross_entropy_case.h"

#include <cstring>
#include <sstream>

#include "support/random.h"
#include "typed_matrix.h"

namespace mygemm_tests {
namespace {

struct Array : TypedMatrix {
  using TypedMatrix::TypedMatrix;

  // The result, of `result_type`, against `reference`; then all other bytes.
  void check(mygemmDataType_t result_type, const Reference& reference, const char* name) {
    std::vector<unsigned char> result(image.size());
    buffer.download(result.data());
    EXPECT_TRUE(compare(result_type, result.data(), rows, cols, ld, reference)) << name;
    for (int64_t r = 0; r < rows; ++r) {
      std::memcpy(at(result, r, 0), at(image, r, 0), static_cast<size_t>(cols * type_bytes(type)));
    }
    EXPECT_TRUE(result == image) << "written between the rows of " << name;
    EXPECT_TRUE(buffer.bands_intact()) << "written outside " << name;
  }
};

std::vector<int64_t> random_targets(const LossCase& test, Random* random) {
  std::vector<int64_t> targets(static_cast<size_t>(test.rows));
  for (size_t r = 0; r < targets.size(); ++r) {
    targets[r] = random->integer(0, test.cols - 1);
    if (!test.some_without_class) continue;
    const int64_t none[] = {-1, test.cols, INT32_MAX, INT32_MIN};
    if (r % 3 == 1) targets[r] = test.ignore_index;
    if (r % 3 == 2) targets[r] = none[r / 3 % 4];
  }
  if (test.first_target >= 0) targets[0] = test.first_target;
  return targets;
}

DeviceBuffer upload_targets(const LossCase& test, const std::vector<int64_t>& targets) {
  if (test.targets == MYGEMM_INDEX_64I) {
    return DeviceBuffer(targets.data(), targets.size() * sizeof(int64_t), 0);
  }
  const std::vector<int32_t> narrow(targets.begin(), targets.end());
  return DeviceBuffer(narrow.data(), narrow.size() * sizeof(int32_t), 0);
}

}  // namespace

std::string LossCase::text() const {
  std::ostringstream text;
  text << "rows=" << rows << " cols=" << cols << " types=" << type_name(in) << "," << type_name(out)
       << " targets=" << static_cast<int>(targets) << " gradient=" << gradient << " loss=" << loss
       << " lse=" << lse << " in_place=" << in_place << " smoothing=" << smoothing
       << " z_loss=" << z_loss << " scale=" << scale << " stride_dloss=" << stride_dloss
       << " ignore_index=" << ignore_index << " some_without_class=" << some_without_class
       << " padding=" << padding << " offset=" << offset << " range=" << range << " seed=" << seed;
  return text.str();
}

void run_cross_entropy(mygemmHandle_t handle, const LossCase& test, RowTally* tally) {
  SCOPED_TRACE(test.text());
  Random random(test.seed);
  const int64_t ld = test.cols + test.padding;
  Array x(test.in, test.rows, test.cols, ld, test.offset);
  Array separate_dx(test.out, test.rows, test.cols, ld, test.offset);
  for (int64_t r = 0; r < test.rows; ++r) {
    for (int64_t c = 0; c < test.cols; ++c) x.set(r, c, random.real(-test.range, test.range));
  }
  for (size_t c = 0; c < test.first_row.size(); ++c) {
    x.set(0, static_cast<int64_t>(c), test.first_row[c]);
  }
  const std::vector<int64_t> targets = random_targets(test, &random);
  const DeviceBuffer target_buffer = upload_targets(test, targets);
  Array loss(MYGEMM_R_32F, test.rows, 1, 1, test.offset);
  Array lse(MYGEMM_R_32F, test.rows, 1, 1, test.offset);
  const bool has_dloss = test.stride_dloss >= 0;
  const int64_t dloss_rows = test.stride_dloss > 0 ? test.rows : 1;
  Array dloss(MYGEMM_R_32F, dloss_rows, 1, std::max<int64_t>(1, test.stride_dloss), test.offset);
  for (int64_t r = 0; r < dloss_rows; ++r) dloss.set(r, 0, random.real(-2, 2));
  std::vector<double> weights(static_cast<size_t>(test.rows), static_cast<double>(test.scale));
  for (size_t r = 0; r < weights.size() && has_dloss; ++r) {
    weights[r] *= dloss.values[dloss_rows > 1 ? r : 0];
  }
  for (Array* array : {&x, &separate_dx, &loss, &lse, &dloss}) array->upload();
  Array& dx = test.in_place ? x : separate_dx;

  mygemmCrossEntropy_t call = MYGEMM_CROSS_ENTROPY_INIT;
  call.rows = test.rows;
  call.cols = test.cols;
  call.x = x.buffer.data();
  call.ldx = call.lddx = ld;
  call.xtype = test.in;
  call.dxtype = test.out;
  call.targets = target_buffer.data();
  call.target_type = test.targets;
  call.ignore_index = test.ignore_index;
  call.label_smoothing = test.smoothing;
  call.z_loss = test.z_loss;
  call.gradient_scale = test.scale;
  if (test.gradient) call.dx = dx.buffer.data();
  if (test.loss) call.loss = loss.buffer.as<float>();
  if (test.lse) call.lse = lse.buffer.as<float>();
  if (has_dloss) {
    call.dloss = dloss.buffer.as<float>();
    call.stride_dloss = test.stride_dloss;
  }
  const mygemmStatus_t status = mygemm_cross_entropy(handle, &call);
  synchronize();
  if (tally != nullptr) {
    const auto rows = explained_rows([&](char* text, size_t capacity, size_t* length) {
      return mygemm_explain_cross_entropy(handle, nullptr, &call, text, capacity, length);
    });
    if (!tally->ran(status, rows)) {
      EXPECT_TRUE(dx.unchanged() && loss.unchanged() && lse.unchanged())
          << "written by a call that was refused";
      return;
    }
  }
  ASSERT_EQ(status, MYGEMM_STATUS_SUCCESS) << mygemm_last_error();

  const LossReference reference = cross_entropy_reference(
      {test.rows, test.cols, targets, test.ignore_index, static_cast<double>(test.smoothing),
       static_cast<double>(test.z_loss), weights,
       test.in != MYGEMM_R_32F && test.out != MYGEMM_R_32F},
      x.values);
  if (test.gradient) dx.check(test.out, reference.dx, "dx");
  if (test.loss) loss.check(MYGEMM_R_32F, reference.loss, "loss");
  if (test.lse) lse.check(MYGEMM_R_32F, reference.lse, "lse");
  EXPECT_TRUE((test.gradient && test.in_place) || x.unchanged()) << "the logits were written";
  EXPECT_TRUE(test.gradient || separate_dx.unchanged()) << "dx was written";
  EXPECT_TRUE(test.loss || loss.unchanged()) << "the loss was written";
  EXPECT_TRUE(test.lse || lse.unchanged()) << "lse was written";
  EXPECT_TRUE(dloss.unchanged()) << "dloss was written";
  EXPECT_TRUE(target_buffer.bands_intact()) << "written around the targets";
}

}  // namespace mygemm_tests
