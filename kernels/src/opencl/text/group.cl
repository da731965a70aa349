// What kernels of triangles and of Cholesky blocks share, if a group has several work-items. Barriers are where
// `batch.cl` says.

// A barrier after which a group sees what it wrote to its own memory, and one after which it also sees what it wrote to
// global memory. NVIDIA's GPUs take about 0.5 us longer for the second one.
#define TOGETHER barrier(CLK_LOCAL_MEM_FENCE)
#define TOGETHER_IN_HEAP barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

typedef struct {
    __global elem *at;
    long rs, cs;
} Matrix;
