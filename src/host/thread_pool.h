// Threads that sleep between loops. They stand where OpenMP's would: a runtime of OpenMP ends the
// process where it cannot start a thread, spins between loops, and hangs in children of fork().
#pragma once

#include <pthread.h>

namespace mygemm::host {

// Calls task(context, slot) on this thread, with slot 0, and at the same time on others of the
// pool, with slots of their own in [1, threads). They are as many as can be had, also none: a task
// must take its share of the work from a counter. Returns when all calls have. A task that calls
// this function again gets no other threads. The threads have the caller's floating-point
// environment.
void run_on_threads(int threads, void (*task)(void* context, int slot), void* context);

// For loops that run at the same time and have so many threads in all. Without it they share as
// many as the largest of them has.
void prepare_threads(int threads);

// Starts a thread that no signal of the program is delivered to. False where it cannot be started.
bool start_thread(void* (*body)(void*), void* argument, pthread_t* thread);

// Whether `count` threads more can run in this process now.
bool can_start_threads(int count);

}  // namespace mygemm::host
