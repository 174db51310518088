// Emulator of the CUDA runtime: the switch between stacks. See fiber.h.
#include "fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

#include "sanitizer.h"

namespace emulator {
namespace {

constexpr size_t kGuardBytes = 64 << 10;  // a multiple of any page size
constexpr size_t kStackBytes = 64 << 10;

Fiber* running = nullptr;

}  // namespace

// The host of the running fiber. `entered`: it was left just now, and its stack is to be noted.
struct Fiber::Host {
  Context context;
  bool entered = false;
  const void* stack = nullptr;
  size_t stack_bytes = 0;
};
Fiber::Host Fiber::host;

#if defined(__x86_64__)
// void emulator_switch_stack(void** save, void* load): saves the registers that a called function
// must preserve on the old stack, and takes them from the new one.
asm(R"(
  .text
  .p2align 4
  .hidden emulator_switch_stack
  .globl emulator_switch_stack
  .type emulator_switch_stack, @function
emulator_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size emulator_switch_stack, . - emulator_switch_stack
)");
extern "C" void emulator_switch_stack(void** save, void* load);

void Fiber::switch_context(Context* from, Context* to) { emulator_switch_stack(from, *to); }
#else
void Fiber::switch_context(Context* from, Context* to) { swapcontext(from, to); }
#endif

Fiber::Fiber(void (*body)()) : body_(body) {
  void* mapping = mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<std::byte*>(mapping);
  mprotect(mapping_, kGuardBytes, PROT_NONE);
#if defined(__x86_64__)
  // The initial stack for the switch, which pops six registers and the return address. Above them a
  // null return address ends stack traces and aligns the stack as after a call.
  auto* top = reinterpret_cast<uintptr_t*>(mapping_ + kGuardBytes + kStackBytes);
  top[-2] = reinterpret_cast<uintptr_t>(&Fiber::start);
  context_ = top - 8;
#else
  getcontext(&context_);
  context_.uc_stack.ss_sp = mapping_ + kGuardBytes;
  context_.uc_stack.ss_size = kStackBytes;
  context_.uc_link = nullptr;
  makecontext(&context_, &Fiber::start, 0);
#endif
}

Fiber::~Fiber() {
  // A fiber that is dropped while suspended leaves the red zones of its frames behind.
  unpoison(mapping_, kGuardBytes + kStackBytes);
  munmap(mapping_, kGuardBytes + kStackBytes);
}

void Fiber::start() {
  arrive(nullptr);
  running->body_();
  std::abort();
}

// The running fiber goes on, behind a switch to it.
void Fiber::arrive(void* fake_stack) {
  const void* stack = nullptr;
  size_t bytes = 0;
  finish_switch(fake_stack, &stack, &bytes);
  if (host.entered) host.stack = stack, host.stack_bytes = bytes;
  host.entered = false;
}

// Goes on to this fiber. The context of what ran is kept in `from`.
void Fiber::enter(Context* from, void** fake_stack) {
  running = this;
  start_switch(fake_stack, mapping_ + kGuardBytes, kStackBytes);
  switch_context(from, &context_);
}

void Fiber::resume() {
  void* host_fake_stack = nullptr;
  host.entered = true;
  enter(&host.context, &host_fake_stack);
  finish_switch(host_fake_stack, nullptr, nullptr);
  running = nullptr;
}

void Fiber::suspend() {
  Fiber* const self = running;
  start_switch(&self->fake_stack_, host.stack, host.stack_bytes);
  switch_context(&self->context_, &host.context);
  arrive(self->fake_stack_);
}

void Fiber::replace_running() {
  Fiber* const self = running;
  enter(&self->context_, &self->fake_stack_);
  arrive(self->fake_stack_);
}

}  // namespace emulator
