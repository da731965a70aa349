// The kernels of batched products. Included after `batch_gemm.cu`.

// For products of orders up to 8, 16 and 24.
TINY_GEMM(gemm_tiny_1, 1, 16)
TINY_GEMM(gemm_tiny_2, 2, 16)
#if HAS_UNITS
TINY_GEMM(gemm_tiny_3, 3, (COMPLEX ? 4 : 8))
#endif

// The products that one step of a tile covers.
#define DEEP_STEP (COMPLEX && DOUBLE ? 8 : 16)
TILED_GEMMS(gemm_32, 32, 32, DEEP_STEP, 2, 1, 1, 8)
TILED_GEMMS(gemm_64, 64, 64, DEEP_STEP, 3, 2, 2, (COMPLEX && DOUBLE ? 2 : 3))
