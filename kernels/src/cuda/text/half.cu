// Sums in single precision that become numbers of 16 bits. Required definition: THREADS.

struct f16 {
    static __device__ float value(unsigned short bits) {
        float x;
        asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
        return x;
    }
    static __device__ unsigned short rounded(float x) {
        unsigned short bits;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
        return bits;
    }
};
struct bf16 {
    static __device__ float value(unsigned short bits) { return __uint_as_float((unsigned)bits << 16); }
    // To the nearest number, of two to the one whose last bit is zero. NaN stays NaN.
    static __device__ unsigned short rounded(float x) {
        const unsigned bits = __float_as_uint(x);
        return x != x ? (bits >> 16) | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    }
};

// C := S + beta C. Without a sum, S is not read.
template <class Number>
__device__ inline void add_rounded(int has_sum, const float *s, place lds, unsigned short *c, place ldc, place m,
                                   place n, float beta) {
    EACH_COLUMN(j, n) {
        EACH_ROW(i, 0, m) {
            const float kept = beta == 0 ? 0 : beta * Number::value(c[i + j * ldc]);
            c[i + j * ldc] = Number::rounded((has_sum ? s[i + j * lds] : 0) + kept);
        }
    }
}

KERNEL(THREADS) round_f16(int has_sum, const float *s, place lds, unsigned short *c, place ldc, place m, place n,
                          float beta) {
    add_rounded<f16>(has_sum, s, lds, c, ldc, m, n, beta);
}

KERNEL(THREADS) round_bf16(int has_sum, const float *s, place lds, unsigned short *c, place ldc, place m, place n,
                           float beta) {
    add_rounded<bf16>(has_sum, s, lds, c, ldc, m, n, beta);
}
