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
// resume() is the host of it and of the fibers that run until one of them suspends; only one fiber
// runs at a time.
class Fiber {
 public:
  // `body` starts at the first resume() and must never return: it suspends for ever instead.
  explicit Fiber(void (*body)());
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs the fiber until it suspends.
  void resume();
  // Called on a fiber: goes back to the host, or to another fiber in its place; returns when
  // something goes on to this fiber again.
  static void suspend();
  void replace_running();

 private:
#if defined(__x86_64__)
  using Context = void*;  // the stack pointer, below the saved registers
#else
  using Context = ucontext_t;
#endif
  struct Host;
  static Host host;
  static void start();
  static void switch_context(Context* from, Context* to);
  static void arrive(void* fake_stack);
  void enter(Context* from, void** fake_stack);

  void (*body_)();
  std::byte* mapping_;
  Context context_;
  void* fake_stack_ = nullptr;  // of the address sanitizer
};

}  // namespace emulator
