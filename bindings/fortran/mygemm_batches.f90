! Products of batches of matrices that lie a stride apart; see the module mygemm.
module mygemm_batches
  use, intrinsic :: iso_c_binding, only: c_float, c_int, c_int32_t, c_int64_t, c_loc, c_ptr
  use mygemm_abi
  implicit none
  private
  public :: mygemm_sgemm_strided_batched

  interface mygemm_sgemm_strided_batched
    module procedure batched_arrays, batched_arrays_64, batched_addresses, batched_addresses_64
  end interface mygemm_sgemm_strided_batched

contains

  function batched_addresses_64(handle, transa, transb, m, n, k, alpha, a, lda, stride_a, b, ldb, &
      stride_b, beta, c, ldc, stride_c, batch_count) result(status)
    type(c_ptr), intent(in) :: handle, a, b, c
    integer(c_int), intent(in) :: transa, transb
    integer(c_int64_t), intent(in) :: m, n, k, lda, stride_a, ldb, stride_b, ldc, stride_c, &
      batch_count
    real(c_float), intent(in) :: alpha, beta
    integer(c_int) :: status
    status = c_sgemm_strided_batched(handle, transa, transb, m, n, k, alpha, a, lda, stride_a, b, &
      ldb, stride_b, beta, c, ldc, stride_c, batch_count)
  end function batched_addresses_64

  function batched_addresses(handle, transa, transb, m, n, k, alpha, a, lda, stride_a, b, ldb, &
      stride_b, beta, c, ldc, stride_c, batch_count) result(status)
    type(c_ptr), intent(in) :: handle, a, b, c
    integer(c_int), intent(in) :: transa, transb
    integer(c_int32_t), intent(in) :: m, n, k, lda, stride_a, ldb, stride_b, ldc, stride_c, &
      batch_count
    real(c_float), intent(in) :: alpha, beta
    integer(c_int) :: status
    status = c_sgemm_strided_batched(handle, transa, transb, wide(m), wide(n), wide(k), alpha, a, &
      wide(lda), wide(stride_a), b, wide(ldb), wide(stride_b), beta, c, wide(ldc), &
      wide(stride_c), wide(batch_count))
  end function batched_addresses

  function batched_arrays_64(handle, transa, transb, m, n, k, alpha, a, lda, stride_a, b, ldb, &
      stride_b, beta, c, ldc, stride_c, batch_count) result(status)
    type(c_ptr), intent(in) :: handle
    integer(c_int), intent(in) :: transa, transb
    integer(c_int64_t), intent(in) :: m, n, k, lda, stride_a, ldb, stride_b, ldc, stride_c, &
      batch_count
    real(c_float), intent(in) :: alpha, beta
    real(c_float), intent(in), target, contiguous :: a(..), b(..)
    real(c_float), intent(inout), target, contiguous :: c(..)
    integer(c_int) :: status
    status = c_sgemm_strided_batched(handle, transa, transb, m, n, k, alpha, c_loc(a), lda, &
      stride_a, c_loc(b), ldb, stride_b, beta, c_loc(c), ldc, stride_c, batch_count)
  end function batched_arrays_64

  function batched_arrays(handle, transa, transb, m, n, k, alpha, a, lda, stride_a, b, ldb, &
      stride_b, beta, c, ldc, stride_c, batch_count) result(status)
    type(c_ptr), intent(in) :: handle
    integer(c_int), intent(in) :: transa, transb
    integer(c_int32_t), intent(in) :: m, n, k, lda, stride_a, ldb, stride_b, ldc, stride_c, &
      batch_count
    real(c_float), intent(in) :: alpha, beta
    real(c_float), intent(in), target, contiguous :: a(..), b(..)
    real(c_float), intent(inout), target, contiguous :: c(..)
    integer(c_int) :: status
    status = c_sgemm_strided_batched(handle, transa, transb, wide(m), wide(n), wide(k), alpha, &
      c_loc(a), wide(lda), wide(stride_a), c_loc(b), wide(ldb), wide(stride_b), beta, c_loc(c), &
      wide(ldc), wide(stride_c), wide(batch_count))
  end function batched_arrays
end module mygemm_batches
