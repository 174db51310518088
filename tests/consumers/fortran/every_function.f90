! Every function of the module mygemm on the host backend, with sizes of both kinds: the results
! against Fortran's own, and what is said of wrong arguments.
module expectations
  use, intrinsic :: iso_c_binding, only: c_float, c_int
  use mygemm, only: MYGEMM_STATUS_SUCCESS, mygemm_last_error, mygemm_status_string
  implicit none
  integer :: failures = 0

contains

  subroutine fail(what)
    character(len=*), intent(in) :: what
    print '(a)', what
    failures = failures + 1
  end subroutine fail

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    if (.not. holds) call fail(what)
  end subroutine expect

  subroutine succeeds(status)
    integer(c_int), intent(in) :: status
    if (status /= MYGEMM_STATUS_SUCCESS) then
      call fail(mygemm_status_string(status)//': '//mygemm_last_error())
    end if
  end subroutine succeeds

  ! The call is refused as it should be, with a sentence that begins with `sentence`.
  subroutine refused(status, wanted, sentence)
    integer(c_int), intent(in) :: status, wanted
    character(len=*), intent(in) :: sentence
    if (status /= wanted) then
      call fail('"'//mygemm_status_string(status)//'" instead of: '//sentence)
    else if (index(mygemm_last_error(), sentence) /= 1) then
      call fail('"'//mygemm_last_error()//'" instead of: '//sentence)
    end if
  end subroutine refused

  subroutine near(what, got, wanted)
    character(len=*), intent(in) :: what
    real(c_float), intent(in) :: got(:, :), wanted(:, :)
    if (.not. all(abs(got - wanted) <= 1e-5)) call fail(what//' is wrong')
  end subroutine near
end module expectations

module calls_32
  use, intrinsic :: iso_c_binding, only: c_float, c_int, c_int16_t, c_int64_t, c_loc, &
    c_null_ptr, c_ptr, c_size_t, ik => c_int32_t
  use expectations
  use mygemm
  implicit none
  private
  include 'every_function.inc'
end module calls_32

module calls_64
  use, intrinsic :: iso_c_binding, only: c_float, c_int, c_int16_t, c_int64_t, c_loc, &
    c_null_ptr, c_ptr, c_size_t, ik => c_int64_t
  use expectations
  use mygemm
  implicit none
  private
  include 'every_function.inc'
end module calls_64

program every_function
  use, intrinsic :: iso_c_binding, only: c_associated, c_int, c_int8_t, c_loc, c_null_ptr, c_ptr, &
    c_size_t
  use calls_32, only: call_with_32 => call_everything
  use calls_64, only: call_with_64 => call_everything
  use expectations
  use mygemm
  implicit none
  type(c_ptr) :: handle

  call expect(mygemm_version() >= 100, 'mygemm_version')
  call expect(mygemm_status_string(MYGEMM_STATUS_INVALID_VALUE) == 'invalid value', 'status_string')
  call expect(len(mygemm_last_error()) == 0, 'mygemm_last_error before anything failed')
  call refused(mygemm_create(handle, backend=7_c_int), MYGEMM_STATUS_INVALID_VALUE, &
    'config->backend = 7')
  call expect(.not. c_associated(handle), 'a handle that was not created')
  call succeeds(mygemm_create(handle, backend=MYGEMM_BACKEND_HOST))
  call settings()
  call call_with_32(handle)
  call call_with_64(handle)
  call succeeds(mygemm_destroy(handle))
  call expect(.not. c_associated(handle), 'a handle that was destroyed')
  call refused(mygemm_set_stream(handle, c_null_ptr), MYGEMM_STATUS_NOT_INITIALIZED, 'handle')
  if (failures /= 0) error stop 'wrong'
  print '(a)', 'every function: right'

contains

  ! The settings of a handle, read back.
  subroutine settings()
    integer(c_int) :: backend, mode
    integer(c_int8_t), target :: byte
    type(c_ptr) :: stream
    call succeeds(mygemm_get_backend(handle, backend))
    call expect(backend == MYGEMM_BACKEND_HOST, 'get_backend')
    call succeeds(mygemm_set_stream(handle, c_loc(byte)))
    call succeeds(mygemm_get_stream(handle, stream))
    call expect(c_associated(stream, c_loc(byte)), 'get_stream')
    call succeeds(mygemm_set_stream(handle, c_null_ptr))
    call succeeds(mygemm_get_stream(handle, stream))
    call expect(.not. c_associated(stream), 'get_stream after c_null_ptr')
    call succeeds(mygemm_set_math_mode(handle, MYGEMM_MATH_STRICT))
    call succeeds(mygemm_get_math_mode(handle, mode))
    call expect(mode == MYGEMM_MATH_STRICT, 'get_math_mode')
    call succeeds(mygemm_set_math_mode(handle, MYGEMM_MATH_DEFAULT))
    call refused(mygemm_set_math_mode(handle, 5_c_int), MYGEMM_STATUS_INVALID_VALUE, 'mode = 5')
    call succeeds(mygemm_set_invariance(handle, MYGEMM_INVARIANCE_BATCH))
    call succeeds(mygemm_get_invariance(handle, mode))
    call expect(mode == MYGEMM_INVARIANCE_BATCH, 'get_invariance')
    call succeeds(mygemm_set_invariance(handle, MYGEMM_INVARIANCE_NONE))
    call refused(mygemm_set_invariance(handle, 5_c_int), MYGEMM_STATUS_INVALID_VALUE, 'mode = 5')
    call succeeds(mygemm_get_pointer_mode(handle, mode))
    call expect(mode == MYGEMM_POINTER_MODE_HOST, 'get_pointer_mode of a new handle')
    call succeeds(mygemm_set_pointer_mode(handle, MYGEMM_POINTER_MODE_DEVICE))
    call succeeds(mygemm_get_pointer_mode(handle, mode))
    call expect(mode == MYGEMM_POINTER_MODE_DEVICE, 'get_pointer_mode')
    call succeeds(mygemm_set_pointer_mode(handle, MYGEMM_POINTER_MODE_HOST))
    call refused(mygemm_set_pointer_mode(handle, 5_c_int), MYGEMM_STATUS_INVALID_VALUE, 'mode = 5')
  end subroutine settings
end program every_function
