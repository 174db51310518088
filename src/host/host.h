// The functions of the host backend, other than kernels, that the layers above call.
#pragma once

namespace mygemm::host {

// Finds a CBLAS on first use: the name of its file, or nullptr. See cblas.cpp.
const char* find_cblas();

// Threads that the host kernels use: OpenMP's answer at this moment, or less where it is the number
// of processors and other processes of a job share them.
int num_threads();

// For a thread that works for another one, whose num_threads() is `threads`.
void set_num_threads(int threads);

// Processors that this process may run on.
int num_processors();

// Says that this process is one of so many of a job on a node, and how many processors of the node
// the job has; 0: all.
void share_node(int processes, int processors);

}  // namespace mygemm::host
