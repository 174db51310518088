// See thread_pool.h. POSIX threads, since a thread that cannot be started is no exception then.
// Host backend, and staging of the drop-in BLAS.
#include "host/thread_pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <condition_variable>
#include <mutex>
#include <new>
#include <vector>

namespace mygemm::host {
namespace {

thread_local bool inside_a_loop = false;

// A loop under way, on its caller's stack.
struct Job {
  void (*task)(void* context, int slot);
  void* context;
  std::fenv_t floating_point;
  int slots;          // of all threads
  int next_slot = 1;  // the caller's is 0
  int helpers = 0;    // at work
  Job* next = nullptr;

  bool is_open() const { return next_slot < slots; }
  void run(int slot) {
    inside_a_loop = true;
    task(context, slot);
    inside_a_loop = false;
  }
};

class Pool {
 public:
  void prepare(int workers) {
    const std::lock_guard lock(mutex_);
    start_workers(workers);
  }

  void run(Job* job) {
    open(job);
    job->run(0);
    std::unique_lock lock(mutex_);
    close(job);
    helper_left_.wait(lock, [job] { return job->helpers == 0; });
  }

 private:
  void open(Job* job) {
    const std::lock_guard lock(mutex_);
    const int wanted = job->slots - 1;
    // Threads of concurrent loops are shared: together they are no more than the largest one's,
    // unless more have been prepared.
    start_workers(wanted);
    Job** last = &jobs_;
    while (*last != nullptr) last = &(*last)->next;
    *last = job;
    for (int i = std::min(wanted, workers_); i > 0; --i) work_came_.notify_one();
  }

  void start_workers(int wanted) {
    while (workers_ < wanted && start_worker()) ++workers_;
  }

  bool start_worker() {
    pthread_t thread;
    const auto body = [](void* pool) -> void* {
      static_cast<Pool*>(pool)->work();
      return nullptr;
    };
    if (!start_thread(body, this, &thread)) return false;
    pthread_detach(thread);
    return true;
  }

  void close(Job* job) {
    for (Job** at = &jobs_; *at != nullptr; at = &(*at)->next) {
      if (*at != job) continue;
      *at = job->next;
      return;
    }
  }

  Job* find_open() const {
    Job* job = jobs_;
    while (job != nullptr && !job->is_open()) job = job->next;
    return job;
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      Job* job = nullptr;
      work_came_.wait(lock, [&] { return (job = find_open()) != nullptr; });
      const int slot = job->next_slot++;
      ++job->helpers;
      lock.unlock();
      std::fesetenv(&job->floating_point);
      job->run(slot);
      lock.lock();
      if (--job->helpers == 0) helper_left_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable work_came_, helper_left_;
  Job* jobs_ = nullptr;
  int workers_ = 0;
};

// Never destroyed: its threads sleep in it when the process exits.
constinit std::atomic<Pool*> pool{nullptr};
constinit std::atomic<Pool*> pool_of_parent{nullptr};  // kept for leak checkers

// Runs in a child of fork(), where the pool's threads are gone and its lock may be held.
void forget_pool() {
  if (Pool* const lost = pool.exchange(nullptr)) pool_of_parent = lost;
  inside_a_loop = false;
}

[[gnu::constructor]] void watch() { pthread_atfork(nullptr, nullptr, forget_pool); }

// nullptr where there is no memory for one.
Pool* the_pool() {
  if (Pool* const known = pool.load(std::memory_order_acquire)) return known;
  Pool* made = new (std::nothrow) Pool;
  Pool* expected = nullptr;
  if (made == nullptr || pool.compare_exchange_strong(expected, made)) return made;
  delete made;  // another thread was first
  return expected;
}

}  // namespace

bool start_thread(void* (*body)(void*), void* argument, pthread_t* thread) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = pthread_create(thread, nullptr, body, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

void prepare_threads(int threads) {
  if (Pool* const prepared = the_pool()) prepared->prepare(threads - 1);
}

void run_on_threads(int threads, void (*task)(void* context, int slot), void* context) {
  Pool* const helpers = threads > 1 && !inside_a_loop ? the_pool() : nullptr;
  if (helpers == nullptr) {
    task(context, 0);
    return;
  }
  Job job{.task = task, .context = context, .floating_point = {}, .slots = threads};
  std::fegetenv(&job.floating_point);
  helpers->run(&job);
}

bool can_start_threads(int count) {
  std::mutex hold;
  std::vector<pthread_t> threads;
  threads.reserve(static_cast<size_t>(count));
  {
    const std::lock_guard all_at_once(hold);
    const auto body = [](void* mutex) -> void* {
      const std::lock_guard wait(*static_cast<std::mutex*>(mutex));
      return nullptr;
    };
    pthread_t thread;
    while (static_cast<int>(threads.size()) < count && start_thread(body, &hold, &thread)) {
      threads.push_back(thread);
    }
  }
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  return static_cast<int>(threads.size()) == count;
}

}  // namespace mygemm::host
