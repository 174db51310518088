! Softmax, its gradient and transposes; see the module mygemm. mygemm_rows.inc is compiled twice,
! for sizes of either kind.
module mygemm_rows_32
  use, intrinsic :: iso_c_binding, only: c_loc, ik => c_int32_t
  use mygemm_abi
  implicit none
  private
  include 'mygemm_rows.inc'
end module mygemm_rows_32

module mygemm_rows_64
  use, intrinsic :: iso_c_binding, only: c_loc, ik => c_int64_t
  use mygemm_abi
  implicit none
  private
  include 'mygemm_rows.inc'
end module mygemm_rows_64
