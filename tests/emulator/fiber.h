// Emulator of the CUDA runtime: fibers, the stacks that CUDA threads run on. Knows nothing of CUDA.
// Hand-written switch on x86-64 (a switch is some ten instructions), ucontext elsewhere. The
// address sanitizer is told of every switch.
#pragma once

#include <cstddef>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace emulator {

// A function with a stack of its own, guarded by a page that cannot be touched. Whoever calls
// resume() is its host; only one fiber runs at a time.
class Fiber {
 public:
  // `body` starts at the first resume() and must never return: it suspends for ever instead.
  explicit Fiber(void (*body)());
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs the fiber until it suspends.
  void resume();
  // Called on a fiber: goes back to the host; returns at the next resume().
  static void suspend();

 private:
#if defined(__x86_64__)
  using Context = void*;  // the stack pointer, below the saved registers
#else
  using Context = ucontext_t;
#endif
  static void start();
  static void switch_context(Context* from, Context* to);

  void (*body_)();
  std::byte* mapping_;
  Context context_;
  Context host_context_;
  void* fake_stack_ = nullptr;  // of the address sanitizer
  const void* host_stack_ = nullptr;
  size_t host_stack_bytes_ = 0;
};

}  // namespace emulator
