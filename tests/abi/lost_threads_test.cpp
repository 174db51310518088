// ABI tests: threads of the host backend that cannot be started, and those that a child of fork()
// has lost. The results are the same, and the process goes on.
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/handle.h"
#include "support/random.h"

namespace {

int threads_left = -1;  // that can be started; -1: any number
int threads_started = 0;
int threads_refused = 0;

}  // namespace

// Stands before the C library's function, which the libraries call by name.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*body)(void*), void* argument) {
  if (threads_left == 0) {
    ++threads_refused;
    return EAGAIN;
  }
  if (threads_left > 0) --threads_left;
  ++threads_started;
  static const auto next =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return next(thread, attributes, body, argument);
}

namespace mygemm_tests {
namespace {

constexpr int64_t kExtent = 500;  // enough work for four threads in each of the calls

std::vector<float> random_matrix() {
  Random random(1);
  std::vector<float> matrix(kExtent * kExtent);
  for (float& value : matrix) value = static_cast<float>(random.real(-1, 1));
  return matrix;
}

std::vector<float> compute(mygemmHandle_t handle) {
  const std::vector<float> a = random_matrix();
  const float one = 1;
  const float zero = 0;
  std::vector<float> c(a.size());
  EXPECT_EQ(mygemm_sgemm(handle, MYGEMM_OP_N, MYGEMM_OP_T, kExtent, kExtent, kExtent, &one,
                         a.data(), kExtent, a.data(), kExtent, &zero, c.data(), kExtent),
            MYGEMM_STATUS_SUCCESS);
  EXPECT_EQ(mygemm_softmax(handle, MYGEMM_SOFTMAX, kExtent, kExtent, 0.5f, c.data(), MYGEMM_R_32F,
                           kExtent, c.data(), MYGEMM_R_32F, kExtent),
            MYGEMM_STATUS_SUCCESS);
  EXPECT_EQ(mygemm_transpose(handle, 4, kExtent, kExtent, c.data(), kExtent, c.data(), kExtent),
            MYGEMM_STATUS_SUCCESS);
  return c;
}

// Whether a child of this process computes the same, before an alarm ends it.
bool same_in_child(mygemmHandle_t handle, const std::vector<float>& expected, bool with_threads) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    threads_started = 0;
    const bool same = compute(handle) == expected;
    _exit(same && (threads_started > 0) == with_threads ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(LostThreads, OnesThatCannotBeStartedAreDoneWithout) {
  Handle handle(Family::kGemm, "host_blocked", 0);
  threads_left = 0;
  const std::vector<float> alone = compute(handle);
  EXPECT_GT(threads_refused, 0);
  threads_left = 1;
  EXPECT_EQ(compute(handle), alone);
  EXPECT_EQ(threads_left, 0);
  threads_left = -1;
  EXPECT_EQ(compute(handle), alone);
}

TEST(LostThreads, AreStartedAgainInAChild) {
  Handle handle(Family::kGemm, "host_blocked", 0);
  threads_left = -1;
  const std::vector<float> expected = compute(handle);
  EXPECT_GT(threads_started, 0);
  EXPECT_TRUE(same_in_child(handle, expected, true));
  // The child of a thread that is not the program's first.
  std::thread([&] { EXPECT_TRUE(same_in_child(handle, expected, true)); }).join();
  EXPECT_EQ(compute(handle), expected);
}

TEST(LostThreads, OfAnotherBlasDoNotKeepAChildWaiting) {
  Handle handle;
  threads_left = -1;
  const std::vector<float> expected = compute(handle);
  EXPECT_TRUE(same_in_child(handle, expected, true));
}

// OpenBLAS ends a process in which it cannot start its threads.
TEST(NoThreads, NoOtherBlasIsOpenedWhereItCouldNotStartIts) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one processor";
  threads_left = 0;
  Handle handle;
  compute(handle);
  EXPECT_GT(threads_refused, 0);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    EXPECT_EQ(line.find("libopenblas"), std::string::npos) << line;
  }
}

// Run as one of a million processes on this node: each has a thread.
TEST(SharedNode, IsDividedAmongTheProcessesOfAJob) {
  Handle handle(Family::kGemm, "host_blocked", 0);
  threads_left = -1;
  threads_started = 0;
  compute(handle);
  EXPECT_EQ(threads_started, 0);
}

}  // namespace
}  // namespace mygemm_tests
