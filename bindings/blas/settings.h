// The environment variables of the drop-in BLAS, read once. Those of libmygemm.so hold as well. A
// value that is wrong is named on stderr, and is as if it were not set.
#pragma once

namespace mygemm::blas {

enum class OffloadChoice { kAuto, kBySize, kAlways, kNever };

// MYGEMM_BLAS_OFFLOAD = auto, by-size, always or never. Unset: never where MYGEMM_BACKEND = host,
// else auto.
OffloadChoice offload_choice();

// MYGEMM_DEVICE: a number, local-rank, or all. Unset: local-rank in a process of a parallel job,
// else all.
struct DeviceChoice {
  int number;  // of the first device, to be taken modulo the devices; -1: the one that is current
  bool others_too;  // large products may be dealt out to all devices
  bool by_rank;     // another number in each process of a job
};
DeviceChoice device_choice();

// The most processes of this job that share a device where there are so many: the same in all
// processes of a node.
int processes_on_a_device(int devices);

// MYGEMM_PBLAS_BLOCK: the k that PBLAS cuts single-precision products to, 0: its own. Unset: 4096
// where products may go to a GPU, else PBLAS's own. It depends on nothing that ranks with equal
// settings could differ in: they would wait for each other for ever.
int pblas_block();

}  // namespace mygemm::blas
