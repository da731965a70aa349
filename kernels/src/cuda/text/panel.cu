// The common part of the panel kernels. Several blocks of threads have the rows of a few columns in registers, and
// exchange messages for each column. Required definitions: THREADS of a block; BLOCKS, the most blocks. The message
// exchange, `exchange`, is defined after this file.
//
// A lane has ROWS rows of COLUMNS columns, so that a thread reads little for what it computes: the product of ROWS
// numbers that it shares with the lanes of its rows, and COLUMNS numbers that it shares with the lanes of its columns.
// A kernel has GROUPS times as many columns: group g of a warp's lanes has columns g, g + GROUPS, and so on. When one
// column of every group is done, registers are renamed, so that the next columns are always the first and no register
// is indexed by a number that is known late.

#define WARPS (THREADS / 32)
#define ALL 0xffffffffu
#define ROWS (COMPLEX ? 6 : 8)
#define COLUMNS (sizeof(elem) > 8 ? 4 : 8)
// The row of nobody, which is after all rows.
#define NOBODY 0x7fffffff

// The message of a block to the others: a size and a row, by which one block is chosen, and elements. It is moved in
// pieces of 16 bytes. QR has no kind and no inverse.
typedef ulonglong2 piece;
#define HEAD_PIECES 2
template <int COUNT> struct __align__(16) message {
    double size;
    int row, kind;
    __align__(16) elem inverse;
    __align__(16) elem elements[COUNT];
};

// A word of mail, and the number of a turn.
typedef unsigned long long word;
typedef unsigned int half;

template <int GROUPS> struct shape {
    static constexpr int WIDTH = GROUPS * COLUMNS, LANES = 32 / GROUPS, WARP_ROWS = LANES * ROWS,
                         BLOCK_ROWS = WARPS * WARP_ROWS;
    static constexpr int PIECES = WIDTH * (int)sizeof(elem) / (int)sizeof(piece);
};

__device__ inline int lane_of() { return threadIdx.x % 32; }
__device__ inline int warp_of() { return threadIdx.x / 32; }

// Returns 1 / x to full precision, for an x such that neither x nor 1 / x is tiny, and also for zero and infinity. A
// division would be a function call. `volatile` keeps the computation from moving to where others wait for it.
__device__ inline real reciprocal(real x) {
    real rough;
#if DOUBLE
    asm volatile("rcp.approx.ftz.f64 %0, %1;" : "=d"(rough) : "d"(x));
#else
    asm volatile("rcp.approx.ftz.f32 %0, %1;" : "=f"(rough) : "f"(x));
#endif
    const real miss = 1 - x * rough;
    return miss == miss ? rough + rough * (miss + miss * miss) : rough;
}

// Called in a branch that is rarely taken: without it, the compiler computes both branches and selects the results.
__device__ inline void keep_branch() { asm volatile(""); }

__device__ inline unsigned largest_of_warp(unsigned x) {
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(ALL, x);
#else
#pragma unroll
    for (int step = 16; step > 0; step /= 2) x = max(x, __shfl_xor_sync(ALL, x, step));
    return x;
#endif
}

// Returns the lane with the largest size of the warp, and among equals the one with the upper row. No size is negative
// or NaN, so sizes compare like their bits.
__device__ inline int largest_lane(real size, int row) {
#if DOUBLE
    const unsigned long long bits = (unsigned long long)__double_as_longlong(size);
    const unsigned high = (unsigned)(bits >> 32), low = (unsigned)bits;
    unsigned lanes = __ballot_sync(ALL, high == largest_of_warp(high));
    if (lanes & (lanes - 1)) {
        const unsigned here = lanes >> lane_of() & 1 ? low : 0;
        lanes &= __ballot_sync(ALL, here == largest_of_warp(here));
    }
#else
    const unsigned bits = __float_as_uint(size);
    unsigned lanes = __ballot_sync(ALL, bits == largest_of_warp(bits));
#endif
    if (lanes & (lanes - 1)) {
        const unsigned here = lanes >> lane_of() & 1 ? ~(unsigned)row : 0;
        lanes &= __ballot_sync(ALL, here == largest_of_warp(here));
    }
    return __ffs((int)lanes) - 1;
}

// The rows of a panel's m x w part at `a` that this block has: from `first` to before `end`. If they are more than
// BLOCK_ROWS, they are processed in turns.
template <int GROUPS> struct rows_of {
    typedef shape<GROUPS> S;
    elem *a;
    place ld;
    int w, first, end;
    // The group of this lane, and the first of its rows.
    int group, top;
    elem x[ROWS][COLUMNS];

    __device__ rows_of(elem *a, place ld, int m, int w, int each) : a(a), ld(ld), w(w) {
        first = (int)min((long long)blockIdx.x * each, (long long)m);
        end = (int)min((long long)first + each, (long long)m);
        group = lane_of() / S::LANES;
        top = first + warp_of() * S::WARP_ROWS + lane_of() % S::LANES;
    }

    __device__ int row(int turn, int r) const { return top + turn * S::BLOCK_ROWS + r * S::LANES; }

    // Returns the column of a slot after `renamed` renamings; -1 means before the first one.
    __device__ int column(int slot, int renamed) const { return (slot + renamed + COLUMNS) % COLUMNS * GROUPS + group; }

    __device__ void load(int turn, int renamed) {
#pragma unroll
        for (int s = 0; s < COLUMNS; ++s) {
            const int c = column(s, renamed);
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                const int i = row(turn, r);
                x[r][s] = i < end && c < w ? a[i + c * ld] : make(0, 0);
            }
        }
    }

    __device__ void rename() {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const elem done = x[r][0];
#pragma unroll
            for (int s = 0; s + 1 < COLUMNS; ++s) x[r][s] = x[r][s + 1];
            x[r][COLUMNS - 1] = done;
        }
    }

    // While column j is in the first slot: whether any group has a column in this slot, and whether this lane's column
    // is after column j.
    __device__ bool has_rest(int slot, int j) const { return (slot + j / GROUPS) * GROUPS < w; }
    __device__ bool is_behind(int slot, int j) const { return slot > 0 || group > j % GROUPS; }

    // Returns the value of the lane in group `of` that has this lane's rows.
    __device__ elem from_group(elem x, int of) const {
        return GROUPS == 1 ? x : from_lane(x, of * S::LANES + lane_of() % S::LANES);
    }
};
