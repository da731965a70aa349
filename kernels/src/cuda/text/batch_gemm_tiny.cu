// The kernels of tiny batched products, of orders up to 8, 16 and 24. Included after `batch_gemm.cu`.
TINY_GEMM(gemm_tiny_1, 1, 16)
TINY_GEMM(gemm_tiny_2, 2, 16)
#if HAS_UNITS
TINY_GEMM(gemm_tiny_3, 3, (COMPLEX ? 4 : 8))
#endif
