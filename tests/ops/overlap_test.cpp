// Ops tests for a GPU only: grids that begin before the one before them in the stream has ended. A
// product must read what the one before it wrote, and must not write what that one still reads.
// Here the plan chooses kernels, in streams and graphs and beside other work; determinism_test.cpp
// forces each kernel in a stream.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "stream.h"
#include "support/handle.h"
#include "support/memory.h"
#include "support/random.h"

namespace mygemm_tests {
namespace {

constexpr size_t kWorkspace = size_t{16} << 20;

// A chain of products x <- A x between two vectors or matrices: each reads the result of the one
// before it, and overwrites that one's operand. Grids that begin before the one before them has
// ended must wait for it. Other work lies between some of them, which has no such grids.
class Chain {
 public:
  Chain(int64_t m, int64_t n)
      : m_(m),
        n_(n),
        a_(m * m * sizeof(float)),
        first_(m * n * sizeof(float)),
        x_{DeviceBuffer(m * n * sizeof(float)), DeviceBuffer(m * n * sizeof(float))},
        copy_(m * n * sizeof(float)) {
    Random random(7);
    std::vector<float> values(m * std::max(m, n));
    const float norm = std::sqrt(3.0f / static_cast<float>(m));  // keeps the size of x
    for (DeviceBuffer* buffer : {&a_, &first_}) {
      for (float& value : values) value = norm * static_cast<float>(random.real(-1, 1));
      buffer->upload(values.data());
    }
  }

  // x = A^kSteps first. after(step) is called behind each product.
  template <class After>
  void enqueue(mygemmHandle_t handle, cudaStream_t stream, After after) {
    const float one = 1, zero = 0;
    require(cudaMemcpyAsync(x_[0].data(), first_.data(), x_[0].bytes(), cudaMemcpyDeviceToDevice,
                            stream));
    for (int step = 0; step < kSteps; ++step) {
      EXPECT_EQ(mygemm_sgemm(handle, MYGEMM_OP_N, MYGEMM_OP_N, m_, n_, m_, &one, a_.as<float>(), m_,
                             x_[step % 2].as<float>(), m_, &zero, x_[1 - step % 2].as<float>(), m_),
                MYGEMM_STATUS_SUCCESS)
          << mygemm_last_error();
      after(step);
    }
  }

  // The result of step goes to a copy on the stream.
  void enqueue_copy(int step, cudaStream_t stream) {
    require(cudaMemcpyAsync(copy_.data(), x_[1 - step % 2].data(), copy_.bytes(),
                            cudaMemcpyDeviceToDevice, stream));
  }

  std::vector<uint32_t> result() const {
    std::vector<uint32_t> bits(2 * m_ * n_);
    x_[kSteps % 2].download(bits.data());
    copy_.download(bits.data() + m_ * n_);
    return bits;
  }

 private:
  static constexpr int kSteps = 60;
  int64_t m_, n_;
  DeviceBuffer a_, first_, x_[2], copy_;
};

struct Shape {
  int64_t m, n;
};

class Overlap : public BackendTest, public ::testing::WithParamInterface<Shape> {
 protected:
  Overlap() : chain_(GetParam().m, GetParam().n), handle_(kWorkspace) {
    EXPECT_EQ(mygemm_set_stream(handle_, stream_), MYGEMM_STATUS_SUCCESS);
    chain_.enqueue(handle_, stream_, [&](int step) {
      stream_.wait();
      if (step == kCopied) chain_.enqueue_copy(step, stream_);
    });
    stream_.wait();
    one_by_one_ = chain_.result();
  }

  // The chain and the copy on one stream.
  void enqueue() {
    chain_.enqueue(handle_, stream_, [&](int step) {
      if (step == kCopied) chain_.enqueue_copy(step, stream_);
    });
  }

  static constexpr int kCopied = 20;  // the step whose result other work reads
  Stream stream_;
  Chain chain_;
  Handle handle_;
  std::vector<uint32_t> one_by_one_;  // the result where each grid ends before the next begins
};

TEST_P(Overlap, ProductsInAStream) {
  for (int run = 0; run < 20; ++run) {
    enqueue();
    stream_.wait();
    ASSERT_TRUE(chain_.result() == one_by_one_) << "run " << run;
  }
}

TEST_P(Overlap, ProductsInAGraph) {
  const CapturedGraph graph(stream_, cudaStreamCaptureModeGlobal, [&] { enqueue(); });
  for (int run = 0; run < 20; ++run) graph.launch(stream_);
  stream_.wait();
  EXPECT_TRUE(chain_.result() == one_by_one_);
}

// The copy is made on another stream, which forks off behind a product and joins before the next.
TEST_P(Overlap, ProductsInAGraphOfTwoStreams) {
  const Stream other;
  cudaEvent_t fork, join;
  require(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  require(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  const CapturedGraph graph(stream_, cudaStreamCaptureModeGlobal, [&] {
    chain_.enqueue(handle_, stream_, [&](int step) {
      if (step != kCopied) return;
      require(cudaEventRecord(fork, stream_));
      require(cudaStreamWaitEvent(other, fork, 0));
      chain_.enqueue_copy(step, other);
      require(cudaEventRecord(join, other));
      require(cudaStreamWaitEvent(stream_, join, 0));
    });
  });
  for (int run = 0; run < 20; ++run) graph.launch(stream_);
  stream_.wait();
  EXPECT_TRUE(chain_.result() == one_by_one_);
  cudaEventDestroy(fork);
  cudaEventDestroy(join);
}

std::string text_of(const ::testing::TestParamInfo<Shape>& info) {
  return std::to_string(info.param.m) + "x" + std::to_string(info.param.n);
}

// For naive, thin, sliced and persistent kernels, with and without splits of k.
INSTANTIATE_TEST_SUITE_P(Shapes, Overlap,
                         ::testing::Values(Shape{3, 2}, Shape{33, 1}, Shape{40, 40}, Shape{130, 7},
                                           Shape{257, 300}, Shape{700, 1}, Shape{704, 16},
                                           Shape{1000, 60}, Shape{1024, 1024}, Shape{2048, 4}),
                         text_of);

}  // namespace
}  // namespace mygemm_tests
