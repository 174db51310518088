! Products of matrices and of batches of them; see the module mygemm. mygemm_products.inc is
! compiled twice, for sizes of either kind.
module mygemm_products_32
  use, intrinsic :: iso_c_binding, only: c_loc, ik => c_int32_t
  use mygemm_abi
  implicit none
  private
  include 'mygemm_products.inc'
end module mygemm_products_32

module mygemm_products_64
  use, intrinsic :: iso_c_binding, only: c_loc, ik => c_int64_t
  use mygemm_abi
  implicit none
  private
  include 'mygemm_products.inc'
end module mygemm_products_64
