// Support for ops tests on a GPU: streams, and graphs captured from them.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

namespace mygemm_tests {

inline void require(cudaError_t error) {
  ASSERT_EQ(error, cudaSuccess) << cudaGetErrorString(error);
}

class Stream {
 public:
  Stream() { require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }
  void wait() const { require(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

// A graph of the work that `enqueue` enqueues on a stream, captured once.
class CapturedGraph {
 public:
  template <class F>
  CapturedGraph(cudaStream_t stream, cudaStreamCaptureMode mode, F enqueue) {
    cudaGraph_t graph = nullptr;
    require(cudaStreamBeginCapture(stream, mode));
    enqueue();
    require(cudaStreamEndCapture(stream, &graph));
    require(cudaGraphInstantiate(&executable_, graph, 0));
    require(cudaGraphDestroy(graph));
  }
  ~CapturedGraph() { cudaGraphExecDestroy(executable_); }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;

  void launch(cudaStream_t stream) const { require(cudaGraphLaunch(executable_, stream)); }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace mygemm_tests
