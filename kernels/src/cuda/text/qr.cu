// Q R of a few columns by several blocks, each of which has some rows. Required definitions: see panel.cu, and grid.cu
// or cluster.cu.

__device__ inline real larger_of(real a, real b) { return b > a ? b : a; }

// Returns the larger absolute value of the parts; NaN is ignored.
__device__ inline real largest_part(elem x) {
    const real a = re(x), b = im(x);
    return larger_of(larger_of(0, a < 0 ? -a : a), b < 0 ? -b : b);
}

// Returns a power of two that scales a number to a size of about one, and whose inverse is finite.
__device__ inline real leveller_of(real x) {
#if DOUBLE
    const int exponent = (int)(__double_as_longlong(x) >> 52 & 0x7ff);
    return __longlong_as_double((long long)min(max(2046 - exponent, 1), 2045) << 52);
#else
    const int exponent = __float_as_int(x) >> 23 & 0xff;
    return __int_as_float(min(max(254 - exponent, 1), 253) << 23);
#endif
}

// Returns 1 / √x to full precision, for an x that is not tiny. A root would be a function call.
__device__ inline real reciprocal_root(real x) {
    real rough;
#if DOUBLE
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(rough) : "d"(x));
#else
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(rough) : "f"(x));
#endif
    const real miss = 1 - x * rough * rough;
    return rough + rough * (miss * (real)0.5 + miss * miss * (real)0.375);
}

__device__ inline elem inverse_of(elem x) {
#if COMPLEX
    const real by = reciprocal(largest_part(x));
    const real a = x.re * by, b = x.im * by, norm = reciprocal(x.re * a + x.im * b);
    return make(a * norm, -b * norm);
#else
    return reciprocal(x);
#endif
}

// H = I - tau v vᴴ with Hᴴ x = beta e1 and v[0] = 1. The rest of v is that of x times scale.
struct reflector {
    real beta;
    elem tau, scale;
};

// Returns the reflector of a vector with this first element, and this sum of squares of the others. Their squares are
// ordinary numbers.
__device__ inline reflector reflector_of(elem alpha, real squares) {
    const real square = re(alpha) * re(alpha) + im(alpha) * im(alpha) + squares, inverse = reciprocal_root(square);
    const real rough = square * inverse, norm = rough + (square - rough * rough) * (inverse * (real)0.5);
    const real beta = re(alpha) < 0 ? norm : -norm, by = re(alpha) < 0 ? inverse : -inverse;
    return reflector{beta, make((beta - re(alpha)) * by, -im(alpha) * by), inverse_of(alpha - make(beta, 0))};
}

// Returns the value of the lane whose number differs in the bits `by`.
__device__ inline elem from_apart(elem x, int by) {
#if COMPLEX
    return make(__shfl_xor_sync(ALL, re(x), by), __shfl_xor_sync(ALL, im(x), by));
#else
    return __shfl_xor_sync(ALL, x, by);
#endif
}

// The rows of a panel. Rows up to column j's diagonal are not part of its reflector. If rows do not fit into registers,
// they stay in memory.
template <int GROUPS, bool IS_KEPT> struct qr_rows : rows_of<GROUPS> {
    typedef shape<GROUPS> S;
    typedef rows_of<GROUPS> base;
    using base::x, base::group, base::w;
    // The column whose reflector is applied, below the diagonal.
    elem column[ROWS];

    __device__ qr_rows(elem *a, place ld, int m, int w, int each) : base(a, ld, m, w, each) {}

    __device__ void hold(int turn, int j) {
        if (!IS_KEPT) base::load(turn, j / GROUPS);
    }

    // Gives column j below the diagonal, scaled by `level`, to the lanes of all groups.
    __device__ void share(int turn, int j, real level) {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const elem y = base::from_group(x[r][0], j % GROUPS);
            column[r] = base::row(turn, r) > j ? y : make(0, 0);
        }
        if (level == 1) return;
        keep_branch();
#pragma unroll
        for (int r = 0; r < ROWS; ++r) column[r] = times_real(column[r], level);
    }

    // Adds xᴴ A for this lane's rows, where x is the scaled column j of A: one sum for each slot. The sum of column j
    // is xᴴ x.
    __device__ void multiply(int j, elem *sums) const {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const elem left = conj_if(column[r], true);
#pragma unroll
            for (int s = 0; s < COLUMNS; ++s) {
                const elem right = s == 0 && group == j % GROUPS ? column[r] : x[r][s];
                sums[s] = sums[s] + left * right;
            }
        }
    }

    // Writes the row on column j's diagonal, by slots, if this lane has it.
    __device__ void give(int turn, int j, elem *to) const {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            if (base::row(turn, r) != j) continue;
#pragma unroll
            for (int s = 0; s < COLUMNS; ++s) to[group * COLUMNS + s] = x[r][s];
        }
    }

    // Applies the reflector to the columns after j: subtracts the column times z. Column j becomes the reflector's
    // vector.
    __device__ void reflect(int turn, int j, elem scale, const elem *z) {
#pragma unroll
        for (int s = 0; s < COLUMNS; ++s) {
            if (!base::has_rest(s, j) || !base::is_behind(s, j)) continue;
            const elem by = z[group * COLUMNS + s];
#pragma unroll
            for (int r = 0; r < ROWS; ++r) x[r][s] = x[r][s] - column[r] * by;
        }
        if (group != j % GROUPS) return;
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
            if (base::row(turn, r) > j) x[r][0] = column[r] * scale;
    }

    // Stores the columns from j on, below row j.
    __device__ void put(int turn, int j) const {
#pragma unroll
        for (int s = 0; s < COLUMNS; ++s) {
            if (!base::has_rest(s, j) || !(base::is_behind(s, j) || group == j % GROUPS)) continue;
            const int c = base::column(s, j / GROUPS);
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                const int i = base::row(turn, r);
                if (i > j && i < base::end && c < w) base::a[i + c * base::ld] = x[r][s];
            }
        }
    }

    // Stores the elements below the diagonal.
    __device__ void finish(int renamed) const {
#pragma unroll
        for (int s = 0; s < COLUMNS; ++s) {
            const int c = base::column(s, renamed);
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                const int i = base::row(0, r);
                if (i < base::end && c < w && c < i) base::a[i + c * base::ld] = x[r][s];
            }
        }
    }
};

// The shared state of a block's threads: the sums of each warp, their totals over all blocks, the row on the diagonal,
// and the factors z of the update, by slots; the largest part of a column in each warp's rows; the reflector's scale,
// and whether there is a reflector at all.
template <int WIDTH> struct qr_memory {
    elem sums[WARPS][WIDTH], total[WIDTH], head[WIDTH], z[WIDTH];
    real most[WARPS];
    elem scale;
    bool is_some;
    message<2 * WIDTH> staged;
};

template <int GROUPS, bool IS_KEPT> struct qr {
    typedef shape<GROUPS> S;
    // Two slots suffice: when a block sends its next message, all its threads have finished with the last one.
    typedef exchange<2 * S::WIDTH, 2> talk;
    qr_rows<GROUPS, IS_KEPT> mine;
    talk others;
    qr_memory<S::WIDTH> &memory;
    // The triangular factor of all reflectors, of order w; below it, their products with earlier reflectors.
    elem *square;
    int turns;

    // Returns the column of index k among the slots of all groups, before column j's group is renamed.
    __device__ int column_of(int k, int j) const { return (k % COLUMNS + j / GROUPS) % COLUMNS * GROUPS + k / COLUMNS; }

    // Sums each group's values over the lanes of its rows, for this warp.
    __device__ void reduce(elem *sums) const {
        elem *to = memory.sums[warp_of()] + mine.group * COLUMNS;
        int first = 0;
        // Halve the slots as long as there are several: each step halves the number of sums per lane.
#pragma unroll
        for (int step = S::LANES / 2, count = COLUMNS; step > 0; step /= 2) {
            if (count > 1) {
                count /= 2;
                const bool is_upper = lane_of() & step;
#pragma unroll
                for (int k = 0; k < COLUMNS / 2; ++k) {
                    if (k >= count) continue;
                    const elem kept = is_upper ? sums[k + count] : sums[k],
                               given = is_upper ? sums[k] : sums[k + count];
                    sums[k] = kept + from_apart(given, step);
                }
                if (is_upper) first += count;
            } else {
                sums[0] = sums[0] + from_apart(sums[0], step);
            }
        }
#pragma unroll
        for (int k = 0; k < (COLUMNS > S::LANES ? COLUMNS / S::LANES : 1); ++k) to[first + k] = sums[k];
    }

    // Sends the block's values: the sums of all warps, or the largest part of the column, and the row on the diagonal.
    __device__ void send(bool is_most) {
        __syncthreads();
        const int k = threadIdx.x;
        if (k < S::WIDTH) {
            elem sums[WARPS];
#pragma unroll
            for (int warp = 0; warp < WARPS; ++warp) sums[warp] = memory.sums[warp][k];
#pragma unroll
            for (int step = 1; step < WARPS; step *= 2)
#pragma unroll
                for (int warp = 0; warp + step < WARPS; warp += 2 * step) sums[warp] = sums[warp] + sums[warp + step];
            memory.staged.elements[k] = sums[0];
        }
        if (k == 0) {
            real most = 0;
            for (int warp = 0; is_most && warp < WARPS; ++warp) most = larger_of(most, memory.most[warp]);
            memory.staged.size = most;
            memory.staged.row = blockIdx.x;
            if (is_most) memory.staged.elements[0] = make(most, 0);
        }
        __syncthreads();
        const int head = blockIdx.x == 0 ? S::PIECES : 0, each = HEAD_PIECES + S::PIECES;
        others.post(memory.staged, each + head, each * gridDim.x + S::PIECES, warp_of(), WARPS);
    }

    // Sums the products of the scaled column j, and sends them.
    __device__ void send_products(int j, real level) {
        elem sums[COLUMNS];
#pragma unroll
        for (int s = 0; s < COLUMNS; ++s) sums[s] = make(0, 0);
        for (int turn = 0; turn < turns; ++turn) {
            mine.hold(turn, j);
            mine.share(turn, j, level);
            mine.multiply(j, sums);
            mine.give(turn, j, memory.staged.elements + S::WIDTH);
        }
        reduce(sums);
        send(false);
    }

    // Finds the largest part of column j, and sends it.
    __device__ void send_largest(int j) {
        real most = 0;
        for (int turn = 0; turn < turns; ++turn) {
            mine.hold(turn, j);
            mine.share(turn, j, 1);
#pragma unroll
            for (int r = 0; r < ROWS; ++r) most = larger_of(most, largest_part(mine.column[r]));
        }
#pragma unroll
        for (int step = 16; step > 0; step /= 2) most = larger_of(most, __shfl_xor_sync(ALL, most, step));
        if (lane_of() == 0) memory.most[warp_of()] = most;
        send(true);
    }

    // Adds up the sums of all blocks. Returns whether the square of one overflows or underflows.
    __device__ bool add_up(int j) {
        constexpr int PARTS = THREADS / S::WIDTH < 32 ? THREADS / S::WIDTH : 32;
        const int k = threadIdx.x / PARTS, part = threadIdx.x % PARTS;
        const bool is_one = k < S::WIDTH;
        elem sum = make(0, 0);
        if (is_one)
            for (int block = part; block < gridDim.x; block += PARTS) sum = sum + others.element(block, k);
#pragma unroll
        for (int step = PARTS / 2; step > 0; step /= 2) sum = sum + from_apart(sum, step);
        if (part == 0 && is_one) {
            memory.total[k] = sum;
            memory.head[k] = others.element(0, S::WIDTH + k);
        }
        const real least = TINY / (ROUNDOFF * ROUNDOFF), most = 1 / least;
        const int c = is_one ? column_of(k, j) : -1;
        const bool is_ordinary = c == j ? re(sum) > least && re(sum) < most : largest_part(sum) < most;
        return __syncthreads_or(c >= j && c < mine.w && !is_ordinary);
    }

    // Finds the reflector of column j, from the products of all blocks. If a square was too small or too large, this is
    // repeated with the scaled column. Returns false if a block does not answer.
    __device__ bool find(int j, reflector *h, real *level) {
        *level = 1;
        for (bool is_levelled = false;; is_levelled = true) {
            send_products(j, *level);
            if (others.collect() < 0) return false;
            const bool is_odd = add_up(j);
            const int place = j % GROUPS * COLUMNS;
            const elem alpha = memory.head[place];
            const real squares = re(memory.total[place]), size = largest_part(alpha);
            if (is_levelled || (!is_odd && size * size < ROUNDOFF * ROUNDOFF / TINY)) {
                *h = reflector_of(times_real(alpha, *level), squares);
                return true;
            }
            send_largest(j);
            const int block = others.collect();
            if (block < 0) return false;
            // Some warps may still send.
            __syncthreads();
            const real most = re(others.element(block, 0));
            if (most == 0 && squares == 0 && im(alpha) == 0) {
                *h = reflector{re(alpha), make(0, 0), make(0, 0)};
                return true;
            }
            *level = leveller_of(larger_of(most, size));
        }
    }

    // Stores, for column j, the products of its reflector with earlier ones, and the row of R.
    __device__ void tell(int j, const reflector &h, real level, elem *tau) {
        const int k = threadIdx.x;
        if (k == 0) {
            memory.is_some = !is_zero(h.tau);
            memory.scale = h.scale;
        }
        if (k >= S::WIDTH) return;
        const int c = column_of(k, j);
        // Earlier columns give the products of their reflectors with this one. Later columns give the row that is
        // subtracted.
        const elem product = memory.head[k] + conj_if(h.scale, true) * memory.total[k],
                   z = conj_if(h.tau, true) * product;
        memory.z[k] = h.scale * z;
        if (blockIdx.x + 1 == gridDim.x && c <= j) square[j + c * mine.w] = c < j ? conj_if(product, true) : h.tau;
        if (blockIdx.x != 0 || c < j || c >= mine.w) return;
        const elem rest = is_zero(h.tau) ? memory.head[k] : memory.head[k] - z;
        mine.a[j + c * mine.ld] = c > j ? rest : make(h.beta / level, 0);
        if (c == j) tau[j] = h.tau;
    }

    // Computes T. The blocks on its diagonal grow one column after the other, -tau T (Vᴴ v); a thread has a row of one.
    // Pairs of them are then joined by T12 = -T1 (V1ᴴ V2) T2, until there is one.
    __device__ void join(elem *t, place ldt) {
        constexpr int BLOCK = S::WIDTH < 16 ? S::WIDTH : 16;
        const int k = threadIdx.x, w = mine.w;
        __syncthreads();
        for (int j = k / BLOCK * BLOCK; k < w && j < min(k / BLOCK * BLOCK + BLOCK, w); ++j) {
            elem sum = make(0, 0);
            for (int c = k; c < j; ++c) sum = sum + square[k + c * w] * square[j + c * w];
            if (k < j) square[k + j * w] = make(0, 0) - square[j + j * w] * sum;
        }
        __syncthreads();
        join_halves<BLOCK>();
        for (int at = k; at < w * w; at += THREADS) {
            const int i = at % w, j = at / w;
            t[i + j * ldt] = i <= j ? square[i + j * w] : make(0, 0);
        }
    }

    template <int HALF> __device__ void join_halves() {
        if constexpr (HALF < S::WIDTH) {
            const int w = mine.w;
            fill_halves<HALF>([=](int k, int j, int middle) {
                elem sum = make(0, 0);
                for (int l = middle; l <= j; ++l) sum = sum + square[l + k * w] * square[l + j * w];
                return sum;
            });
            fill_halves<HALF>([=](int k, int j, int middle) {
                elem sum = make(0, 0);
                for (int c = k; c < middle; ++c) sum = sum - square[k + c * w] * square[c + j * w];
                return sum;
            });
            join_halves<2 * HALF>();
        }
    }

    // Computes the elements (k, j) of the blocks T12, of HALF rows and columns; T2 begins with column `middle`. They
    // are stored when all threads have computed theirs.
    template <int HALF, class Element> __device__ void fill_halves(Element element) {
        constexpr int EACH = (S::WIDTH / 2 * HALF + THREADS - 1) / THREADS;
        elem x[EACH];
        int places[EACH];
#pragma unroll
        for (int e = 0; e < EACH; ++e) {
            const int at = threadIdx.x + e * THREADS, k = at % HALF + at / (HALF * HALF) * 2 * HALF,
                      middle = k / HALF * HALF + HALF, j = middle + at / HALF % HALF;
            const bool is_there = k < S::WIDTH && j < mine.w;
            places[e] = is_there ? k + j * mine.w : -1;
            if (is_there) x[e] = element(k, j, middle);
        }
        __syncthreads();
#pragma unroll
        for (int e = 0; e < EACH; ++e)
            if (places[e] >= 0) square[places[e]] = x[e];
        __syncthreads();
    }

    // Processes column j. Returns false if a block does not answer.
    __device__ bool step(int j, elem *tau) {
        reflector h;
        real level;
        if (!find(j, &h, &level)) return false;
        tell(j, h, level, tau);
        __syncthreads();
        for (int turn = 0; turn < turns && memory.is_some; ++turn) {
            if (!IS_KEPT) {
                mine.hold(turn, j);
                mine.share(turn, j, level);
            }
            mine.reflect(turn, j, memory.scale, memory.z);
            if (!IS_KEPT) mine.put(turn, j);
        }
        return true;
    }

    // Factors w columns with m >= w rows; block b has the rows from b * each on, and the first block has the first w.
    // `tau` becomes the scalar factors, and `t` the triangular factor of all reflectors, with zeros below.
    __device__ bool factor(elem *tau, elem *t, place ldt) {
        if (IS_KEPT) mine.load(0, 0);
        int renamed = 0;
#pragma unroll 1
        for (int begin = 0; begin < mine.w; begin += GROUPS) {
#pragma unroll 1
            for (int j = begin; j < min(begin + GROUPS, mine.w); ++j)
                if (!step(j, tau)) return false;
            if (IS_KEPT) mine.rename();
            ++renamed;
        }
        if (IS_KEPT) mine.finish(renamed);
        if (blockIdx.x + 1 == gridDim.x) join(t, ldt);
        return true;
    }
};

template <int GROUPS, bool IS_KEPT>
__device__ inline void factor(elem *a, place ld, int m, int w, int each, elem *tau, elem *t, place ldt, half turn,
                              word *mail, void *room, elem *square, int *status) {
    typedef qr<GROUPS, IS_KEPT> work;
    __shared__ typename work::talk::kept kept;
    __shared__ qr_memory<work::S::WIDTH> memory;
    const int turns = IS_KEPT ? 1 : (each + work::S::BLOCK_ROWS - 1) / work::S::BLOCK_ROWS;
    work one{{a, ld, m, w, each}, {kept, mail, (message<2 * work::S::WIDTH> *)room, turn}, memory, square, turns};
    if (!one.factor(tau, t, ldt) && threadIdx.x == 0) *status = -1;
}

#define GEQRF                                                                                                          \
    (elem * a, place ld, int m, int w, int each, elem *tau, elem *t, place ldt, int turn, word *mail, void *room,      \
        int *status)
// Uses w * w elements of shared memory.
#define FACTOR(groups, is_kept)                                                               \
    DYNAMIC_SHARED(elem, square);                                                             \
    factor<groups, is_kept>(a, ld, m, w, each, tau, t, ldt, turn, mail, room, square, status)

// One kernel for each number of groups.
KERNEL(THREADS, 1) geqrf_1 GEQRF { FACTOR(1, true); }
KERNEL(THREADS, 1) geqrf_2 GEQRF { FACTOR(2, true); }
KERNEL(THREADS, 1) geqrf_4 GEQRF { FACTOR(4, true); }
KERNEL(THREADS, 1) geqrf_8 GEQRF { FACTOR(8, true); }
