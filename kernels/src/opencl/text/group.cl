// What kernels of triangles and of Cholesky blocks share, if a group has several work-items. Required definition: PART,
// the rows or columns of a block that a work-item solves for at a time. Barriers are where `batch.cl` says.

#define TOGETHER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

typedef struct {
    __global elem *at;
    long rs, cs;
} Matrix;
