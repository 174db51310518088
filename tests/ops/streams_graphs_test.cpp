// Ops tests for a GPU only: streams, threads and graph capture. A sequence of one call of each
// family runs everywhere, and must give the bits that it gives eagerly on one stream.
#include <cstdint>
#include <thread>
#include <vector>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "repeated_product.h"
#include "stream.h"
#include "support/handle.h"
#include "support/memory.h"
#include "support/random.h"

namespace mygemm_tests {
namespace {

constexpr int64_t kExtent = 300;
constexpr int64_t kDepth = 3000;  // deep enough for kernels that split k
constexpr size_t kWorkspace = size_t{16} << 20;

// The operands of C = alpha A B, softmax of C's rows in place, and the transpose of that.
class Sequence {
 public:
  Sequence()
      : a_(kExtent * kDepth * sizeof(float)),
        b_(kDepth * kExtent * sizeof(float)),
        c_(kExtent * kExtent * sizeof(float)),
        out_(kExtent * kExtent * sizeof(float)),
        scalars_(2 * sizeof(float)) {
    Random random(1);
    std::vector<float> values(kExtent * kDepth);
    for (DeviceBuffer* buffer : {&a_, &b_}) {
      for (float& value : values) value = static_cast<float>(random.real(-1, 1));
      buffer->upload(values.data());
    }
    set_alpha(0.125f);
  }

  void set_alpha(float alpha) {
    const float scalars[2] = {alpha, 0.0f};
    scalars_.upload(scalars);
  }

  // alpha is read from the device when the kernel runs.
  void enqueue(mygemmHandle_t handle, cudaStream_t stream) {
    EXPECT_EQ(mygemm_set_stream(handle, stream), MYGEMM_STATUS_SUCCESS);
    EXPECT_EQ(mygemm_set_pointer_mode(handle, MYGEMM_POINTER_MODE_DEVICE), MYGEMM_STATUS_SUCCESS);
    EXPECT_EQ(mygemm_sgemm(handle, MYGEMM_OP_N, MYGEMM_OP_N, kExtent, kExtent, kDepth,
                           scalars_.as<float>(), a_.as<float>(), kExtent, b_.as<float>(), kDepth,
                           scalars_.as<float>() + 1, c_.as<float>(), kExtent),
              MYGEMM_STATUS_SUCCESS)
        << mygemm_last_error();
    EXPECT_EQ(mygemm_softmax(handle, MYGEMM_SOFTMAX, kExtent, kExtent, 1, c_.data(), MYGEMM_R_32F,
                             kExtent, c_.data(), MYGEMM_R_32F, kExtent),
              MYGEMM_STATUS_SUCCESS)
        << mygemm_last_error();
    EXPECT_EQ(
        mygemm_transpose(handle, 4, kExtent, kExtent, c_.data(), kExtent, out_.data(), kExtent),
        MYGEMM_STATUS_SUCCESS)
        << mygemm_last_error();
  }

  std::vector<uint32_t> result() const {
    std::vector<uint32_t> bits(kExtent * kExtent);
    out_.download(bits.data());
    return bits;
  }

 private:
  DeviceBuffer a_, b_, c_, out_, scalars_;
};

std::vector<uint32_t> eager_result(float alpha) {
  Handle handle(kWorkspace);
  Stream stream;
  Sequence sequence;
  sequence.set_alpha(alpha);
  sequence.enqueue(handle, stream);
  stream.wait();
  return sequence.result();
}

using Streams = BackendTest;
using Graphs = BackendTest;

// The strictest capture mode refuses every call that may synchronise or allocate, on any thread.
TEST_F(Graphs, CaptureTheFirstCallsOfAFreshHandleAndReplay) {
  Stream stream;
  Sequence sequence;
  Handle handle(kWorkspace);
  const CapturedGraph graph(stream, cudaStreamCaptureModeGlobal,
                            [&] { sequence.enqueue(handle, stream); });
  for (const float alpha : {0.125f, -0.25f, 0.125f}) {
    sequence.set_alpha(alpha);
    graph.launch(stream);
    stream.wait();
    EXPECT_TRUE(sequence.result() == eager_result(alpha)) << "alpha " << alpha;
  }
}

TEST_F(Graphs, ReplayTheBitsOfADirectCall) {
  Stream stream;
  Handle handle(kWorkspace);
  ASSERT_EQ(mygemm_set_stream(handle, stream), MYGEMM_STATUS_SUCCESS);
  for (const RepeatedCase& shape : products_to_repeat()) {
    SCOPED_TRACE(shape.text());
    RepeatedProduct product(shape);
    product.repeat(1, [&] { product.enqueue(handle); });
    const CapturedGraph graph(stream, cudaStreamCaptureModeGlobal,
                              [&] { product.enqueue(handle); });
    product.repeat(kManyRuns, [&] { graph.launch(stream); });
  }
}

// A product whose epilogue is more than one launch: RELU with its bits, then sums of D.
TEST_F(Graphs, CaptureAllStepsOfAProduct) {
  const int64_t bits = (kExtent + 31) / 32 * 32;
  DeviceBuffer a(kExtent * kExtent * sizeof(float)), d(kExtent * kExtent * sizeof(float));
  DeviceBuffer aux(static_cast<size_t>(bits / 8 * kExtent)), sums(kExtent * sizeof(float));
  std::vector<float> values(kExtent * kExtent);
  const float one = 1, zero = 0;
  mygemmGemm_t call = MYGEMM_GEMM_INIT;
  call.m = call.n = call.k = call.lda = call.ldb = call.ldd = kExtent;
  call.alpha = &one;
  call.beta = &zero;
  call.A = call.B = a.data();
  call.D = d.data();
  call.activation = MYGEMM_ACTIVATION_RELU;
  call.aux = aux.data();
  call.ldaux = bits;
  call.sums_of = MYGEMM_SUMS_OF_D;
  call.sums = sums.data();
  Stream stream;
  Handle handle(kWorkspace);
  ASSERT_EQ(mygemm_set_stream(handle, stream), MYGEMM_STATUS_SUCCESS);
  const auto enqueue = [&] {
    EXPECT_EQ(mygemm_gemm(handle, &call), MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
  };
  const auto results = [&](auto run) {
    for (DeviceBuffer* buffer : {&d, &aux, &sums}) buffer->poison();
    run();
    stream.wait();
    std::vector<unsigned char> bytes(d.bytes() + aux.bytes() + sums.bytes());
    d.download(bytes.data());
    aux.download(bytes.data() + d.bytes());
    sums.download(bytes.data() + d.bytes() + aux.bytes());
    return bytes;
  };
  const CapturedGraph graph(stream, cudaStreamCaptureModeGlobal, enqueue);
  for (const uint64_t seed : {1, 2}) {
    Random random(seed);
    for (float& value : values) value = static_cast<float>(random.real(-1, 1));
    a.upload(values.data());
    const auto replayed = results([&] { graph.launch(stream); });
    EXPECT_TRUE(replayed == results(enqueue)) << "seed " << seed;
  }
}

TEST_F(Graphs, CaptureOnOneStreamWhileAnotherThreadComputes) {
  const std::vector<uint32_t> expected = eager_result(0.125f);
  Stream stream;
  Sequence sequence;
  Sequence other_sequence;
  Handle handle(kWorkspace);
  Handle other_handle(kWorkspace);
  Stream other_stream;
  const CapturedGraph graph(stream, cudaStreamCaptureModeThreadLocal, [&] {
    std::thread([&] { other_sequence.enqueue(other_handle, other_stream); }).join();
    sequence.enqueue(handle, stream);
  });
  graph.launch(stream);
  stream.wait();
  other_stream.wait();
  EXPECT_TRUE(sequence.result() == expected);
  EXPECT_TRUE(other_sequence.result() == expected);
}

TEST_F(Streams, TwoAtATimeWithAHandleEach) {
  const std::vector<uint32_t> expected = eager_result(0.125f);
  Stream streams[2];
  Sequence sequences[2];
  Handle handles[2] = {Handle(kWorkspace), Handle(kWorkspace)};
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 2; ++i) sequences[i].enqueue(handles[i], streams[i]);
  }
  for (int i = 0; i < 2; ++i) {
    streams[i].wait();
    EXPECT_TRUE(sequences[i].result() == expected) << "stream " << i;
  }
}

TEST_F(Streams, OneHandleGoesFromStreamToStreamWithItsWorkspace) {
  const std::vector<uint32_t> expected = eager_result(0.125f);
  Handle handle(kWorkspace);
  void* workspace_before = nullptr;
  void* workspace_after = nullptr;
  size_t bytes = 0;
  EXPECT_EQ(mygemm_get_workspace(handle, &workspace_before, &bytes), MYGEMM_STATUS_SUCCESS);
  Sequence sequence;
  for (int round = 0; round < 3; ++round) {
    Stream stream;
    sequence.enqueue(handle, stream);
    stream.wait();
    EXPECT_TRUE(sequence.result() == expected) << "stream " << round;
  }
  EXPECT_EQ(mygemm_get_workspace(handle, &workspace_after, &bytes), MYGEMM_STATUS_SUCCESS);
  EXPECT_EQ(workspace_after, workspace_before);
  EXPECT_EQ(bytes, kWorkspace);
}

// A handle as users get it, with workspaces of its own.
class HandleOfItsOwnWorkspaces {
 public:
  HandleOfItsOwnWorkspaces() {
    mygemmConfig_t config = MYGEMM_CONFIG_INIT;
    config.backend = MYGEMM_BACKEND_CUDA;
    config.workspace_bytes = kWorkspace;
    EXPECT_EQ(mygemm_create_with_config(&handle_, &config), MYGEMM_STATUS_SUCCESS);
  }
  ~HandleOfItsOwnWorkspaces() { mygemm_destroy(handle_); }
  HandleOfItsOwnWorkspaces(const HandleOfItsOwnWorkspaces&) = delete;
  HandleOfItsOwnWorkspaces& operator=(const HandleOfItsOwnWorkspaces&) = delete;
  operator mygemmHandle_t() const { return handle_; }

  void* workspace() const {
    void* memory = nullptr;
    size_t bytes = 0;
    EXPECT_EQ(mygemm_get_workspace(handle_, &memory, &bytes), MYGEMM_STATUS_SUCCESS);
    EXPECT_EQ(bytes, memory ? kWorkspace : 0);
    return memory;
  }

 private:
  mygemmHandle_t handle_ = nullptr;
};

// More streams than a handle has workspaces, each with work in flight when the next one begins.
TEST_F(Streams, OneHandleServesManyAtOnceFromWorkspacesOfItsOwn) {
  constexpr size_t kStreams = 12;
  const std::vector<uint32_t> expected = eager_result(0.125f);
  const HandleOfItsOwnWorkspaces handle;
  Stream streams[kStreams];
  std::vector<Sequence> sequences(kStreams);
  for (int round = 0; round < 5; ++round) {
    for (size_t i = 0; i < kStreams; ++i) {
      sequences[i].enqueue(handle, streams[round % 2 == 0 ? i : kStreams - 1 - i]);
      EXPECT_NE(handle.workspace(), nullptr);
    }
    for (const Stream& stream : streams) stream.wait();
    for (size_t i = 0; i < kStreams; ++i) {
      EXPECT_TRUE(sequences[i].result() == expected) << "sequence " << i;
    }
  }
}

// A stream may be gone when the handle goes on to the next one.
TEST_F(Streams, OneHandleOutlivesItsStreams) {
  const std::vector<uint32_t> expected = eager_result(0.125f);
  const HandleOfItsOwnWorkspaces handle;
  Sequence sequence;
  for (int round = 0; round < 40; ++round) {
    Stream stream;
    sequence.enqueue(handle, stream);
    EXPECT_NE(handle.workspace(), nullptr) << "stream " << round;
    stream.wait();
    EXPECT_TRUE(sequence.result() == expected) << "stream " << round;
  }
}

// The new stream's workspace is made while another stream is captured, and while it is itself.
TEST_F(Streams, WorkspacesOfItsOwnDuringCapture) {
  const std::vector<uint32_t> expected = eager_result(0.125f);
  for (const cudaStreamCaptureMode mode :
       {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
        cudaStreamCaptureModeRelaxed}) {
    const HandleOfItsOwnWorkspaces handle;
    Stream captured, other;
    Sequence sequence, eager;
    const CapturedGraph graph(captured, mode, [&] { sequence.enqueue(handle, captured); });
    void* const of_graph = handle.workspace();
    EXPECT_NE(of_graph, nullptr);
    for (int round = 0; round < 3; ++round) {
      graph.launch(other);
      other.wait();
      eager.enqueue(handle, captured);
      captured.wait();
    }
    EXPECT_TRUE(sequence.result() == expected);
    // Other streams never get it.
    for (int i = 0; i < 20; ++i) {
      Stream next;
      eager.enqueue(handle, next);
      EXPECT_NE(handle.workspace(), of_graph);
      next.wait();
    }
    EXPECT_TRUE(eager.result() == expected);
  }
}

TEST_F(Streams, ThreadsWithHandlesOfTheirOwn) {
  constexpr size_t kThreads = 6;
  const std::vector<uint32_t> expected = eager_result(0.125f);
  std::vector<int> equal(kThreads, 0);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Stream stream;
      Sequence sequence;
      Handle handle(kWorkspace);
      sequence.enqueue(handle, stream);
      stream.wait();
      equal[t] = sequence.result() == expected ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int is_equal : equal) EXPECT_EQ(is_equal, 1);
}

TEST_F(Streams, OneHandleUsedByThreadsInTurn) {
  const std::vector<uint32_t> expected = eager_result(0.125f);
  Handle handle(kWorkspace);
  Stream stream;
  Sequence sequence;
  for (int t = 0; t < 4; ++t) {
    std::thread([&] {
      sequence.enqueue(handle, stream);
      stream.wait();
    }).join();
    EXPECT_TRUE(sequence.result() == expected) << "thread " << t;
  }
}

// Enqueued work outlives the handle.
TEST_F(Streams, DestroyingAHandleDoesNotDisturbItsCalls) {
  const std::vector<uint32_t> expected = eager_result(0.125f);
  Stream stream;
  Sequence sequence;
  mygemmConfig_t config = MYGEMM_CONFIG_INIT;
  config.backend = MYGEMM_BACKEND_CUDA;
  mygemmHandle_t handle = nullptr;
  DeviceBuffer workspace(kWorkspace, 0, 256);
  ASSERT_EQ(mygemm_create_with_config(&handle, &config), MYGEMM_STATUS_SUCCESS);
  ASSERT_EQ(mygemm_set_workspace(handle, workspace.data(), kWorkspace), MYGEMM_STATUS_SUCCESS);
  sequence.enqueue(handle, stream);
  EXPECT_EQ(mygemm_destroy(handle), MYGEMM_STATUS_SUCCESS);
  stream.wait();
  EXPECT_TRUE(sequence.result() == expected);
}

}  // namespace
}  // namespace mygemm_tests
