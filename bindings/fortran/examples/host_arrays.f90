! A product, a softmax and a transpose of arrays in host memory, each compared with Fortran's own.
program host_arrays
  use, intrinsic :: iso_c_binding, only: c_float, c_int, c_int64_t, c_ptr
  use mygemm
  implicit none
  integer, parameter :: m = 5, n = 3, k = 4, batch = 2
  type(c_ptr) :: handle
  real(c_float) :: a(m, k, batch), b(k, n, batch), c(m, n, batch), y(m, k), at(k, m)
  integer :: i

  call random_number(a)
  call random_number(b)
  c = 1
  call check(mygemm_create(handle, backend=MYGEMM_BACKEND_HOST))

  ! C = 2 A B + C, sizes as default integers; then all matrices of a batch, as 64-bit ones.
  call check(mygemm_sgemm(handle, MYGEMM_OP_N, MYGEMM_OP_N, m, n, k, 2.0, a(:, :, 1), m, &
    b(:, :, 1), k, 1.0, c(:, :, 1), m))
  call expect('product', c(:, :, 1), 2 * matmul(a(:, :, 1), b(:, :, 1)) + 1)
  call check(mygemm_sgemm_strided_batched(handle, MYGEMM_OP_N, MYGEMM_OP_N, long(m), long(n), &
    long(k), 1.0, a, long(m), long(m * k), b, long(k), long(k * n), 0.0, c, long(m), &
    long(m * n), long(batch)))
  do i = 1, batch
    call expect('batch', c(:, :, i), matmul(a(:, :, i), b(:, :, i)))
  end do

  ! Softmax of every column, and the transpose.
  call check(mygemm_softmax(handle, MYGEMM_SOFTMAX_MODE, k, m, 1.0, a, m, y, m))
  call expect('softmax', y, exp(a(:, :, 1)) / spread(sum(exp(a(:, :, 1)), 1), 1, m))
  call check(mygemm_transpose(handle, k, m, a, m, at, k))
  call expect('transpose', at, transpose(a(:, :, 1)))

  ! A refused call writes nothing, and the error names the argument.
  if (mygemm_sgemm(handle, MYGEMM_OP_N, MYGEMM_OP_N, m, n, k, 1.0, a, m - 1, b, k, 0.0, c, m) &
      /= MYGEMM_STATUS_INVALID_VALUE) error stop 'a leading dimension too small was taken'
  print '(2a)', 'refused: ', mygemm_last_error()
  call check(mygemm_destroy(handle))
  print '(a, i0, a)', 'mygemm ', mygemm_version(), ': right'

contains

  elemental function long(size) result(wide)
    integer, intent(in) :: size
    integer(c_int64_t) :: wide
    wide = size
  end function long

  subroutine check(status)
    integer(c_int), intent(in) :: status
    if (status == MYGEMM_STATUS_SUCCESS) return
    print '(3a)', mygemm_status_string(status), ': ', mygemm_last_error()
    error stop
  end subroutine check

  subroutine expect(what, got, wanted)
    character(len=*), intent(in) :: what
    real(c_float), intent(in) :: got(:, :), wanted(:, :)
    if (maxval(abs(got - wanted)) <= 1e-5) return
    print '(2a, es10.2)', what, ' is off by ', maxval(abs(got - wanted))
    error stop
  end subroutine expect
end program host_arrays
