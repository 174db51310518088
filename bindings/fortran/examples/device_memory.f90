! A product of matrices in device memory, with CUDA's run-time library called from Fortran. Exits
! with 77 where there is no GPU.
program device_memory
  use, intrinsic :: iso_c_binding, only: c_float, c_int, c_loc, c_ptr, c_size_t
  use mygemm
  implicit none

  interface
    function cudaMalloc(address, bytes) bind(C, name="cudaMalloc") result(status)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), intent(out) :: address
      integer(c_size_t), value :: bytes
      integer(c_int) :: status
    end function cudaMalloc

    function cudaFree(address) bind(C, name="cudaFree") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: address
      integer(c_int) :: status
    end function cudaFree

    function cudaMemcpy(to, from, bytes, kind) bind(C, name="cudaMemcpy") result(status)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: to, from
      integer(c_size_t), value :: bytes
      integer(c_int), value :: kind
      integer(c_int) :: status
    end function cudaMemcpy
  end interface

  integer(c_int), parameter :: to_device = 1, to_host = 2
  integer, parameter :: n = 512
  integer(c_size_t), parameter :: bytes = 4_c_size_t * n * n
  real(c_float), target :: a(n, n), b(n, n), c(n, n)
  type(c_ptr) :: handle, device_a, device_b, device_c
  integer(c_int) :: status

  call random_number(a)
  call random_number(b)
  status = mygemm_create(handle, backend=MYGEMM_BACKEND_CUDA)
  if (status == MYGEMM_STATUS_NOT_INITIALIZED) then
    print '(3a)', 'no GPU: nothing to show (', mygemm_last_error(), ')'
    stop 77, quiet=.true.
  end if
  call check(status)
  call require(cudaMalloc(device_a, bytes))
  call require(cudaMalloc(device_b, bytes))
  call require(cudaMalloc(device_c, bytes))
  call require(cudaMemcpy(device_a, c_loc(a), bytes, to_device))
  call require(cudaMemcpy(device_b, c_loc(b), bytes, to_device))
  call check(mygemm_sgemm(handle, MYGEMM_OP_N, MYGEMM_OP_T, n, n, n, 1.0, device_a, n, device_b, &
    n, 0.0, device_c, n))
  call require(cudaMemcpy(c_loc(c), device_c, bytes, to_host))  ! waits for the product
  if (maxval(abs(c - matmul(a, transpose(b)))) > 1e-3) error stop 'the product is wrong'
  call require(cudaFree(device_a))
  call require(cudaFree(device_b))
  call require(cudaFree(device_c))
  call check(mygemm_destroy(handle))
  print '(a)', 'right'

contains

  subroutine check(outcome)
    integer(c_int), intent(in) :: outcome
    if (outcome == MYGEMM_STATUS_SUCCESS) return
    print '(3a)', mygemm_status_string(outcome), ': ', mygemm_last_error()
    error stop
  end subroutine check

  subroutine require(cuda_status)
    integer(c_int), intent(in) :: cuda_status
    if (cuda_status /= 0) error stop 'a call of CUDA failed'
  end subroutine require
end program device_memory
