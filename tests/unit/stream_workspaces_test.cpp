// Unit tests: which memory of a handle's own each of its streams gets. CUDA is a stand-in here:
// events pass when a test says so.
#include "stream_workspaces.h"

#include <map>
#include <memory>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace {

struct Event {
  int recorded_on = 0;
  bool passed = true;
};

int memory_left, allocations;
std::set<int> captured;      // streams
std::map<int, int> waits;    // on the device: of a stream, for another one's work
std::set<void*> live;        // memory that has not been freed
std::vector<Event*> events;  // in the order of allocations

int number_of(mygemmStream_t stream) {
  return static_cast<int>(reinterpret_cast<uintptr_t>(stream));
}
mygemmStream_t stream(int number) {
  return reinterpret_cast<mygemmStream_t>(static_cast<uintptr_t>(number));
}

}  // namespace

namespace mygemm::cuda {

unsigned long long stream_number(mygemmStream_t stream) {
  EXPECT_EQ(captured.count(number_of(stream)), 0u) << "that ends the capture with an error";
  return static_cast<unsigned long long>(number_of(stream));
}
bool is_capturing(mygemmStream_t stream) { return captured.count(number_of(stream)) > 0; }
bool allocate_workspace(int, size_t bytes, void** memory, void** event) {
  if (memory_left == 0) return false;
  --memory_left;
  ++allocations;
  *memory = new char[bytes];
  live.insert(*memory);
  events.push_back(new Event);
  *event = events.back();
  return true;
}
void free_workspace(void* memory, void* event) {
  live.erase(memory);
  delete[] static_cast<char*>(memory);
  delete static_cast<Event*>(event);
}
void record(void* event, mygemmStream_t stream) {
  *static_cast<Event*>(event) = {number_of(stream), false};
}
bool has_passed(void* event) { return static_cast<Event*>(event)->passed; }
void wait_for(void* event, mygemmStream_t stream) {
  waits[number_of(stream)] = static_cast<Event*>(event)->recorded_on;
}

}  // namespace mygemm::cuda

namespace mygemm_tests {
namespace {

using mygemm::StreamWorkspaces;
constexpr int kMost = StreamWorkspaces::kMost;

class OwnWorkspaces : public ::testing::Test {
 protected:
  void SetUp() override {
    memory_left = 1000;
    allocations = 0;
    captured.clear();
    waits.clear();
    events.clear();
  }
  ~OwnWorkspaces() override {
    workspaces_.reset();
    EXPECT_TRUE(live.empty());
  }

  // A call on the stream; its memory.
  void* call_on(int number) {
    workspaces_->use(stream(number));
    workspaces_->mark_used(stream(number));
    return workspaces_->memory();
  }
  // Calls on streams 1 to kMost, whose work has been marked by events.
  std::vector<void*> fill() {
    std::vector<void*> memory;
    for (int i = 1; i <= kMost; ++i) memory.push_back(call_on(i));
    call_on(1);  // its event was not recorded while it was the only one
    return memory;
  }

  std::unique_ptr<StreamWorkspaces> workspaces_ = std::make_unique<StreamWorkspaces>(0, 64);
};

TEST_F(OwnWorkspaces, AreOneForEachStream) {
  const std::vector<void*> memory = fill();
  EXPECT_EQ(std::set<void*>(memory.begin(), memory.end()).size(), size_t{kMost});
  for (int i = kMost; i >= 1; --i) EXPECT_EQ(call_on(i), memory[static_cast<size_t>(i) - 1]);
  EXPECT_EQ(allocations, kMost);
  EXPECT_EQ(workspaces_->bytes(), 64u);
  EXPECT_TRUE(waits.empty());
}

TEST_F(OwnWorkspaces, OneMoreStreamTakesThatOfEndedWork) {
  const std::vector<void*> memory = fill();
  events[5]->passed = true;
  EXPECT_EQ(call_on(100), memory[5]);
  EXPECT_TRUE(waits.empty());
  EXPECT_EQ(allocations, kMost);
}

TEST_F(OwnWorkspaces, OneMoreStreamWaitsForTheOldestWork) {
  const std::vector<void*> memory = fill();  // stream 2's use is the oldest: 1's was repeated
  EXPECT_EQ(call_on(100), memory[1]);
  EXPECT_EQ(waits, (std::map<int, int>{{100, 2}}));
  // Stream 2 has none any more, and gets the next oldest.
  EXPECT_EQ(call_on(2), memory[2]);
  EXPECT_EQ(waits, (std::map<int, int>{{100, 2}, {2, 3}}));
  EXPECT_EQ(allocations, kMost);
}

TEST_F(OwnWorkspaces, GraphsKeepTheirs) {
  captured = {2, 3};
  const std::vector<void*> memory = fill();
  captured.clear();
  // Eager work on a stream that was captured has other memory, of the oldest that is no graph's.
  EXPECT_EQ(call_on(2), memory[3]);
  EXPECT_EQ(waits, (std::map<int, int>{{2, 4}}));
  captured = {2};
  EXPECT_EQ(call_on(2), memory[3]);  // the stream stays the same
  EXPECT_EQ(call_on(4), memory[4]);
  EXPECT_EQ(call_on(2), memory[1]);
}

TEST_F(OwnWorkspaces, AGraphOfTheOnlyStreamKeepsItsOwnToo) {
  call_on(1);
  captured = {1};
  call_on(1);
  captured.clear();
  const std::vector<void*> memory = fill();
  for (int i = 2; i <= kMost; ++i) call_on(i);  // now stream 1's use is the oldest
  EXPECT_EQ(call_on(100), memory[1]);
}

// The first stream may have been destroyed before there was a second one.
TEST_F(OwnWorkspaces, WorkWithoutAnEventIsNeverOver) {
  for (int i = 1; i <= kMost; ++i) call_on(i);
  call_on(100);
  EXPECT_EQ(waits, (std::map<int, int>{{100, 2}}));
}

TEST_F(OwnWorkspaces, MemoryThatNoCallHasUsedIsTaken) {
  std::vector<void*> memory;
  for (int i = 1; i <= kMost; ++i) {
    workspaces_->use(stream(i));
    memory.push_back(workspaces_->memory());
  }
  EXPECT_EQ(call_on(100), memory[0]);
  EXPECT_TRUE(waits.empty());
}

TEST_F(OwnWorkspaces, ACapturedStreamDoesNotWait) {
  fill();
  captured = {100};
  EXPECT_EQ(call_on(100), nullptr);
  EXPECT_EQ(workspaces_->bytes(), 0u);
  EXPECT_TRUE(waits.empty());
}

TEST_F(OwnWorkspaces, WithoutMemoryThereIsNone) {
  memory_left = 1;
  void* const first = call_on(1);
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(call_on(2), nullptr);
  EXPECT_EQ(workspaces_->bytes(), 0u);
  EXPECT_EQ(call_on(1), first);
}

}  // namespace
}  // namespace mygemm_tests
