! Products of different sizes in one call, mygemm_gemm_grouped(); see the module mygemm. Arguments
! are those of mygemm_gemm(), with the most of each size, and the components of mygemm_groups_t,
! which begin as none that differ: set those that do. Sizes are arrays of 32-bit or 64-bit integers,
! as index_type says, in host memory or on the device.
module mygemm_groups
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int32_t, c_int64_t, c_loc, c_null_ptr, &
    c_ptr, c_size_t, c_sizeof
  use mygemm_abi
  use mygemm_general, only: mygemm_gemm_t
  implicit none
  private
  public :: mygemm_groups_t, mygemm_gemm_grouped, mygemm_gemm_grouped_workspace_size, &
    mygemm_explain_gemm_grouped

  ! mygemmGroups_t. struct_size is filled in by the functions below. Arrays are addresses: c_loc()
  ! of a target, or of device memory.
  type, bind(C) :: mygemm_groups_t
    integer(c_size_t) :: struct_size = 0
    type(c_ptr) :: m = c_null_ptr, n = c_null_ptr, k = c_null_ptr
    type(c_ptr) :: lda = c_null_ptr, ldb = c_null_ptr, ldc = c_null_ptr, ldd = c_null_ptr
    integer(c_int64_t) :: total = 0
    integer(c_int32_t) :: index_type = MYGEMM_INDEX_32I
    integer(c_int32_t) :: location = MYGEMM_POINTER_MODE_HOST
    integer(c_int32_t) :: stacked = 0
    integer(c_int32_t) :: ends = 0
  end type mygemm_groups_t

  interface
    function c_gemm_grouped(handle, call, groups) bind(C, name="mygemm_gemm_grouped") &
        result(status)
      import :: c_int, c_ptr, mygemm_gemm_t, mygemm_groups_t
      type(c_ptr), value :: handle
      type(mygemm_gemm_t), intent(in) :: call
      type(mygemm_groups_t), intent(in) :: groups
      integer(c_int) :: status
    end function c_gemm_grouped

    function c_gemm_grouped_workspace_size(handle, call, groups, bytes) &
        bind(C, name="mygemm_gemm_grouped_workspace_size") result(status)
      import :: c_int, c_ptr, c_size_t, mygemm_gemm_t, mygemm_groups_t
      type(c_ptr), value :: handle
      type(mygemm_gemm_t), intent(in) :: call
      type(mygemm_groups_t), intent(in) :: groups
      integer(c_size_t), intent(inout) :: bytes
      integer(c_int) :: status
    end function c_gemm_grouped_workspace_size

    function c_explain_gemm_grouped(handle, device, call, groups, text, capacity, length) &
        bind(C, name="mygemm_explain_gemm_grouped") result(status)
      import :: c_char, c_int, c_ptr, c_size_t, mygemm_gemm_t, mygemm_groups_t
      character(kind=c_char), intent(in), optional :: device(*)
      type(c_ptr), value :: handle, text
      type(mygemm_gemm_t), intent(in) :: call
      type(mygemm_groups_t), intent(in) :: groups
      integer(c_size_t), value :: capacity
      integer(c_size_t), intent(inout) :: length
      integer(c_int) :: status
    end function c_explain_gemm_grouped
  end interface

  interface sized
    procedure sized_call, sized_groups
  end interface sized

contains

  ! The same arguments with their sizes.
  function sized_call(call) result(whole)
    type(mygemm_gemm_t), intent(in) :: call
    type(mygemm_gemm_t) :: whole
    whole = call
    whole%struct_size = c_sizeof(whole)
  end function sized_call

  function sized_groups(groups) result(whole)
    type(mygemm_groups_t), intent(in) :: groups
    type(mygemm_groups_t) :: whole
    whole = groups
    whole%struct_size = c_sizeof(whole)
  end function sized_groups

  ! The batch_count products of mygemm_gemm(), each with sizes of its own.
  function mygemm_gemm_grouped(handle, call, groups) result(status)
    type(c_ptr), intent(in) :: handle
    type(mygemm_gemm_t), intent(in) :: call
    type(mygemm_groups_t), intent(in) :: groups
    integer(c_int) :: status
    status = c_gemm_grouped(handle, sized(call), sized(groups))
  end function mygemm_gemm_grouped

  ! The workspace in bytes with which the call would run fastest; 0 where none would help, or where
  ! the question is refused.
  function mygemm_gemm_grouped_workspace_size(handle, call, groups, bytes) result(status)
    type(c_ptr), intent(in) :: handle
    type(mygemm_gemm_t), intent(in) :: call
    type(mygemm_groups_t), intent(in) :: groups
    integer(c_size_t), intent(out) :: bytes
    integer(c_int) :: status
    bytes = 0
    status = c_gemm_grouped_workspace_size(handle, sized(call), sized(groups), bytes)
  end function mygemm_gemm_grouped_workspace_size

  ! The plan of the call; device and text are as for mygemm_explain_sgemm().
  function mygemm_explain_gemm_grouped(handle, device, call, groups, text) result(status)
    type(c_ptr), intent(in) :: handle
    character(len=*), intent(in) :: device
    type(mygemm_gemm_t), intent(in) :: call
    type(mygemm_groups_t), intent(in) :: groups
    character(len=:), allocatable, intent(out) :: text
    integer(c_int) :: status
    character(kind=c_char), allocatable :: name(:)
    character(kind=c_char), allocatable, target :: room(:)
    integer(c_size_t) :: length
    length = 0
    call name_device(device, name)
    do
      call make_room(room, length)
      status = c_explain_gemm_grouped(handle, name, sized(call), sized(groups), c_loc(room), &
        size(room, kind=c_size_t), length)
      if (length < size(room, kind=c_size_t)) exit
    end do
    text = as_text(c_loc(room))
  end function mygemm_explain_gemm_grouped
end module mygemm_groups
