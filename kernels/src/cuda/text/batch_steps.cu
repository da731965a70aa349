// Steps of eliminations in registers, where a thread has a row of a matrix. Included after `batch.cu`.
//
// A step's column or row passes through shared memory, where a thread reads it by packs. Eight steps are unrolled. Then
// the registers are shifted by eight columns, so that the code stays short.

// Steps that are unrolled.
#define UNROLLED_STEPS 8

// x[c] - left * right[c] for the columns from `from` on; `right` starts at a pack.
template <int W> __device__ inline void subtract(elem (&x)[W], int from, elem left, const elem *right, bool conj) {
#pragma unroll
    for (int p = from / PACK; p < W / PACK; ++p) {
        const pack y = ((const pack *)right)[p];
#pragma unroll
        for (int e = 0; e < PACK; ++e)
            if (p * PACK + e >= from) x[p * PACK + e] = minus(left, conj_if(y.of[e], conj), x[p * PACK + e]);
    }
}

template <int W> __device__ inline void pass(elem (&x)[W]) {
#pragma unroll
    for (int c = 0; c + UNROLLED_STEPS < W; ++c) x[c] = x[c + UNROLLED_STEPS];
}
