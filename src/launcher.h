// The place of a process in a parallel job, as the variables of its launcher say. Pure.
#pragma once

namespace mygemm {

struct Place {
  int rank = -1;        // in the job; -1: not known
  int local_rank = -1;  // among the job's processes on the node; -1: there is no launcher
  int local_size = 0;   // how many they are; 0: not known
  int processors = 0;   // that the job has on the node; 0: not known

  bool is_known() const { return local_rank >= 0; }
};

// variable: the value of an environment variable, nullptr where it is not set.
Place read_place(const char* (*variable)(const char* name));

}  // namespace mygemm
