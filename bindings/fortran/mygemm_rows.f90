! Softmax and transposes. The C interface speaks of row-major matrices: row r of x is x(:, r) of a
! Fortran array x(ldx, rows), so softmax works on columns of the array, and the transpose of
! a(ldin, rows) is b(ldout, cols) with b(r, c) = a(c, r).
module mygemm_rows
  use, intrinsic :: iso_c_binding, only: c_float, c_int, c_int32_t, c_int64_t, c_loc, c_ptr, &
    c_size_t
  use mygemm_abi
  implicit none
  private
  public :: mygemm_softmax, mygemm_transpose

  ! y(:, r) = softmax(scale * x(:, r)) of the first `cols` elements, or its logarithm. Addresses:
  ! xtype and ytype are MYGEMM_R_32F and the like.
  interface mygemm_softmax
    module procedure softmax_arrays, softmax_arrays_64, softmax_addresses, softmax_addresses_64
  end interface mygemm_softmax

  ! Addresses: element_size is in bytes.
  interface mygemm_transpose
    module procedure transpose_arrays, transpose_arrays_64, transpose_addresses, &
      transpose_addresses_64
  end interface mygemm_transpose

  integer(c_size_t), parameter :: float_bytes = 4

contains

  function softmax_addresses_64(handle, mode, rows, cols, scale, x, xtype, ldx, y, ytype, ldy) &
      result(status)
    type(c_ptr), intent(in) :: handle, x, y
    integer(c_int), intent(in) :: mode, xtype, ytype
    integer(c_int64_t), intent(in) :: rows, cols, ldx, ldy
    real(c_float), intent(in) :: scale
    integer(c_int) :: status
    status = c_softmax(handle, mode, rows, cols, scale, x, xtype, ldx, y, ytype, ldy)
  end function softmax_addresses_64

  function softmax_addresses(handle, mode, rows, cols, scale, x, xtype, ldx, y, ytype, ldy) &
      result(status)
    type(c_ptr), intent(in) :: handle, x, y
    integer(c_int), intent(in) :: mode, xtype, ytype
    integer(c_int32_t), intent(in) :: rows, cols, ldx, ldy
    real(c_float), intent(in) :: scale
    integer(c_int) :: status
    status = c_softmax(handle, mode, wide(rows), wide(cols), scale, x, xtype, wide(ldx), y, &
      ytype, wide(ldy))
  end function softmax_addresses

  function softmax_arrays_64(handle, mode, rows, cols, scale, x, ldx, y, ldy) result(status)
    type(c_ptr), intent(in) :: handle
    integer(c_int), intent(in) :: mode
    integer(c_int64_t), intent(in) :: rows, cols, ldx, ldy
    real(c_float), intent(in) :: scale
    real(c_float), intent(in), target, contiguous :: x(..)
    real(c_float), intent(inout), target, contiguous :: y(..)
    integer(c_int) :: status
    status = c_softmax(handle, mode, rows, cols, scale, c_loc(x), MYGEMM_R_32F, ldx, c_loc(y), &
      MYGEMM_R_32F, ldy)
  end function softmax_arrays_64

  function softmax_arrays(handle, mode, rows, cols, scale, x, ldx, y, ldy) result(status)
    type(c_ptr), intent(in) :: handle
    integer(c_int), intent(in) :: mode
    integer(c_int32_t), intent(in) :: rows, cols, ldx, ldy
    real(c_float), intent(in) :: scale
    real(c_float), intent(in), target, contiguous :: x(..)
    real(c_float), intent(inout), target, contiguous :: y(..)
    integer(c_int) :: status
    status = c_softmax(handle, mode, wide(rows), wide(cols), scale, c_loc(x), MYGEMM_R_32F, &
      wide(ldx), c_loc(y), MYGEMM_R_32F, wide(ldy))
  end function softmax_arrays

  function transpose_addresses_64(handle, element_size, rows, cols, in, ldin, out, ldout) &
      result(status)
    type(c_ptr), intent(in) :: handle, in, out
    integer(c_size_t), intent(in) :: element_size
    integer(c_int64_t), intent(in) :: rows, cols, ldin, ldout
    integer(c_int) :: status
    status = c_transpose(handle, element_size, rows, cols, in, ldin, out, ldout)
  end function transpose_addresses_64

  function transpose_addresses(handle, element_size, rows, cols, in, ldin, out, ldout) &
      result(status)
    type(c_ptr), intent(in) :: handle, in, out
    integer(c_size_t), intent(in) :: element_size
    integer(c_int32_t), intent(in) :: rows, cols, ldin, ldout
    integer(c_int) :: status
    status = c_transpose(handle, element_size, wide(rows), wide(cols), in, wide(ldin), out, &
      wide(ldout))
  end function transpose_addresses

  function transpose_arrays_64(handle, rows, cols, in, ldin, out, ldout) result(status)
    type(c_ptr), intent(in) :: handle
    integer(c_int64_t), intent(in) :: rows, cols, ldin, ldout
    real(c_float), intent(in), target, contiguous :: in(..)
    real(c_float), intent(inout), target, contiguous :: out(..)
    integer(c_int) :: status
    status = c_transpose(handle, float_bytes, rows, cols, c_loc(in), ldin, c_loc(out), ldout)
  end function transpose_arrays_64

  function transpose_arrays(handle, rows, cols, in, ldin, out, ldout) result(status)
    type(c_ptr), intent(in) :: handle
    integer(c_int32_t), intent(in) :: rows, cols, ldin, ldout
    real(c_float), intent(in), target, contiguous :: in(..)
    real(c_float), intent(inout), target, contiguous :: out(..)
    integer(c_int) :: status
    status = c_transpose(handle, float_bytes, wide(rows), wide(cols), c_loc(in), wide(ldin), &
      c_loc(out), wide(ldout))
  end function transpose_arrays
end module mygemm_rows
