// The batched reduction to bidiagonal form, for m >= n: Q^H A P = B, where B is upper bidiagonal. Included after
// `batch_gemm.cu` and `batch_reflector.cu`.
//
// The reduction is by panels of NB columns and rows. Within a panel, A stays as it was, and the current matrix is
// A - V Y^H - X U^H, where V and U have the vectors of the reflectors. Column i of Y is tauq (current A)^H v, and
// column i of X is taup (current A after the reflector of the columns) u.
//
// A straightforward panel reads the rest of A twice in each step: for A^H v, and for A u. Here it is read once. The
// vector u is w = (row i of the current A)^H, scaled and with another first element, and w is linear in A^H v. Hence,
// as soon as the product of a column with v is known, so is this column's component of w, and the column, which is
// still in registers, is added to A w with this factor. Each warp processes whole columns, so no thread waits for
// another warp. Finally A u = (A w - beta A e1) scale. (See Howell, Demmel, Fulton, Hammarling, Marmolejo: Cache
// efficient bidiagonalization using BLAS 2.5 operators, 2008, for the numerical stability.)

// The columns of a panel.
#define NB 16

__device__ inline elem conjugate(elem x) { return conj_if(x, true); }

// Sums and maxima over a block of threads. There are two sets of results, which are used alternately, so that one
// barrier is enough.
struct meeting {
    real *room;
    int warps, turn;
    template <class F> __device__ real join(real x, F both) {
        for (int by = 1; by < 32; by *= 2) x = both(x, __shfl_xor_sync(ALL, x, by));
        real *mine = room + turn * 32;
        turn ^= 1;
        if (lane_of() == 0) mine[warp_of()] = x;
        __syncthreads();
        x = mine[0];
        for (int w = 1; w < warps; ++w) x = both(x, mine[w]);
        return x;
    }
    __device__ real sum(real x) {
        return join(x, [](real a, real b) { return a + b; });
    }
    __device__ real largest(real x) {
        return join(x, [](real a, real b) { return larger_of(a, b); });
    }
};

// Returns the reflector of x, which is in memory that all threads of the block can read. `squares` is the sum of
// squares of all elements but the first.
__device__ inline reflector find_reflector(const elem *x, int length, real squares, meeting &all) {
    return any_reflector(
        x[0], squares,
        [&] {
            real largest = 0;
            for (int i = 1 + threadIdx.x; i < length; i += blockDim.x) largest = larger_of(largest, largest_part(x[i]));
            return all.largest(largest);
        },
        [&](real level) {
            real sum = 0;
            for (int i = 1 + threadIdx.x; i < length; i += blockDim.x) sum += square_of(times_real(x[i], level));
            return all.sum(sum);
        });
}

// The operands of a panel. Rows and columns are those of the whole matrix. x, y and u have NB columns.
struct panel {
    elem *a, *x, *y, *u;
    place ld, x_ld, y_ld;
    int m, n, at, width;
    // For the current step: v, and the sums of A w, from row `at` on; and what becomes y and w, from column `at` on.
    elem *v, *aw, *next_y, *w;
    // Whether columns of A can be read by packs.
    bool by_packs;
    // Products of V, X, Y and U with vectors, and their rows.
    elem *of_v, *of_x, *row_v, *row_x;
};

// The matrix that is reduced. Without flipped matrices it is A if A has no less rows than columns; with them, it is the
// conjugate transpose of any other A. Otherwise it is empty. Flipped matrices are `stride` elements apart.
__device__ inline view<elem> tall_of(const view<elem> &a, elem *flipped, place stride, place p) {
    if ((a.m < a.n) != (flipped != nullptr)) return view<elem>{a.a, 0, 0, a.ld};
    return flipped == nullptr ? a : view<elem>{flipped + p * stride, a.n, a.m, up_to(a.n, PACK) * PACK};
}

#define LABRD                                                                                                          \
    (int at, OPERAND(elem, a), OPERAND(real, d), OPERAND(real, e), OPERAND(elem, tauq), OPERAND(elem, taup),           \
     elem *flipped, place flipped_stride, elem *room, place room_stride, int count)

// Products of columns with a vector in shared memory: left^H right, of `length` elements. The columns are the first of
// two matrices. A warp computes four products at a time.
struct column_products {
    const elem *left[2], *right;
    place ld[2];
    elem *to[2];
    int length;
    __device__ void compute(int first, int second) const {
        const int lane = lane_of(), count = first + second;
        for (int q = warp_of() * 4; q < count; q += blockDim.x / 32 * 4) {
            const elem *x[4];
            elem sums[4];
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                const int its = min(q + c, count - 1);
                x[c] = its < first ? left[0] + its * ld[0] : left[1] + (its - first) * ld[1];
                sums[c] = make(0, 0);
            }
#pragma unroll 4
            for (int i = lane; i < length; i += 32) {
                const elem y = right[i];
#pragma unroll
                for (int c = 0; c < 4; ++c) sums[c] = fused(conjugate(x[c][i]), y, sums[c]);
            }
            const elem sum = sum_four(sums);
            const int its = q + lane / 8;
            if (lane % 8 == 0 && its < count) *(its < first ? to[0] + its : to[1] + its - first) = sum;
        }
    }
};

// The pass over A for v^H A and A w, from column `first` on. A lane has PER elements of each of COLUMNS columns, in
// packs of adjacent rows. There must be room in `sums` for all rows for each warp.
template <int PER, int COLUMNS> __device__ inline void pass(const panel &p, int first, elem tau, elem *sums) {
    constexpr int ROWS = PER * 32;
    const int lane = lane_of(), warps = blockDim.x / 32;
    elem added[PER];
#pragma unroll
    for (int r = 0; r < PER; ++r) added[r] = make(0, 0);
    // Of the rows from this lane's first one on.
    const int left = p.m - p.at - lane * PACK;
    const elem *a = p.a + p.at + lane * PACK;
#pragma unroll 1
    for (int k = first + warp_of() * COLUMNS; k < p.n; k += warps * COLUMNS) {
        elem x[COLUMNS][PER], dots[COLUMNS];
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
            const elem *from = a + min(k + c, p.n - 1) * p.ld;
#pragma unroll
            for (int r = 0; r < PER; r += PACK) {
                const pack y = read_pack(from + r * 32, left - r * 32, p.by_packs);
#pragma unroll
                for (int e = 0; e < PACK; ++e) x[c][r + e] = y.of[e];
            }
            dots[c] = make(0, 0);
        }
#pragma unroll
        for (int r = 0; r < PER; r += PACK) {
            const pack v = *(const pack *)(p.v + lane * PACK + r * 32);
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c)
#pragma unroll
                for (int e = 0; e < PACK; ++e) dots[c] = fused(conjugate(x[c][r + e]), v.of[e], dots[c]);
        }
#pragma unroll
        for (int by = 1; by < 32; by *= 2)
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c) dots[c] = dots[c] + from_apart(dots[c], by);
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
            const int at = min(k + c, p.n - 1) - p.at;
            const elem y = tau * (dots[c] - p.next_y[at]);
            const elem w = k + c < p.n ? p.w[at] - y : make(0, 0);
            dots[c] = y;
#pragma unroll
            for (int r = 0; r < PER; ++r) added[r] = fused(x[c][r], w, added[r]);
        }
        __syncwarp();
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c)
            if (lane == c && k + c < p.n) {
                p.w[k + c - p.at] = p.w[k + c - p.at] - dots[c];
                p.next_y[k + c - p.at] = dots[c];
            }
    }
    sums += warp_of() * ROWS;
#pragma unroll
    for (int r = 0; r < PER; ++r) sums[(lane + r / PACK * 32) * PACK + r % PACK] = added[r];
}

// The same for any number of rows, by two passes.
__device__ inline void two_passes(const panel &p, int first, int row, elem tau) {
    for (int k = first + warp_of(); k < p.n; k += blockDim.x / 32) {
        const elem *from = p.a + k * p.ld;
        elem sum = make(0, 0);
#pragma unroll 8
        for (int i = row + lane_of(); i < p.m; i += 32) sum = fused(conjugate(from[i]), p.v[i - p.at], sum);
        sum = sum_over(sum, 32);
        if (lane_of() != 0) continue;
        const elem y = tau * (sum - p.next_y[k - p.at]);
        p.next_y[k - p.at] = y;
        p.w[k - p.at] = p.w[k - p.at] - y;
    }
    __syncthreads();
    for (int i = row + 1 + threadIdx.x; i < p.m; i += blockDim.x) {
        elem sum = make(0, 0);
#pragma unroll 8
        for (int k = first; k < p.n; ++k) sum = fused(p.a[i + k * p.ld], p.w[k - p.at], sum);
        p.aw[i - p.at] = sum;
    }
}

template <int PER, int COLUMNS>
__device__ inline void reduce_panel(panel p, real *d, real *e, elem *tauq, elem *taup, elem *sums) {
    constexpr int ROWS = PER * 32;
    const int t = threadIdx.x, threads = blockDim.x;
    __shared__ real joined[64];
    meeting all{joined, threads / 32, 0};
    const elem *left = p.a + p.at * p.ld;
    real squares = 0;
    for (int r = p.at + t; r < (PER > 0 ? p.at + ROWS : p.m); r += threads) {
        const elem x = r >= p.at && r < p.m ? left[r] : make(0, 0);
        p.v[r - p.at] = x;
        squares += r > p.at ? square_of(x) : 0;
    }
#pragma unroll 1
    for (int j = 0; j < p.width; ++j) {
        const int i = p.at + j;
        squares = all.sum(squares);
        const reflector h = find_reflector(p.v + (i - p.at), p.m - i, squares, all);
        // All must have read the first element.
        __syncthreads();
        for (int r = p.at + t; r < p.m; r += threads) {
            if (r < i) continue;
            const elem v = r == i ? make(1, 0) : h.apply(p.v[r - p.at]);
            p.v[r - p.at] = v;
            p.a[r + i * p.ld] = r == i ? make(h.beta, 0) : v;
        }
        if (t == 0) {
            d[i] = h.beta;
            tauq[i] = h.tau;
            if (i + 1 == p.n) taup[i] = make(0, 0);
        }
        __syncthreads();
        if (i + 1 == p.n) return;
        column_products{{left + i, p.x + i}, p.v + (i - p.at), {p.ld, p.x_ld}, {p.of_v, p.of_x}, p.m - i}
            .compute(j, j);
        if (t < j) {
            p.row_v[t] = conjugate(left[i + t * p.ld]);
            p.row_x[t] = conjugate(p.x[i + t * p.x_ld]);
        }
        __syncthreads();
        for (int k = i + 1 + t; k < p.n; k += threads) {
            elem y = make(0, 0), w = conjugate(p.a[i + k * p.ld]);
#pragma unroll 8
            for (int q = 0; q < j; ++q) {
                const elem its_y = p.y[k + q * p.y_ld], its_u = p.u[k + q * p.y_ld];
                y = fused(its_y, p.of_v[q], fused(its_u, p.of_x[q], y));
                w = fused(negated(its_y), p.row_v[q], fused(negated(its_u), p.row_x[q], w));
            }
            p.next_y[k - p.at] = y;
            p.w[k - p.at] = w;
        }
        __syncthreads();
        if constexpr (PER > 0) {
            pass<PER, COLUMNS>(p, i + 1, h.tau, sums);
            __syncthreads();
        } else {
            two_passes(p, i + 1, i, h.tau);
        }
        squares = 0;
        for (int k = i + 2 + t; k < p.n; k += threads) squares += square_of(p.w[k - p.at]);
        squares = all.sum(squares);
        const reflector g = find_reflector(p.w + (j + 1), p.n - i - 1, squares, all);
        __syncthreads();
        for (int k = i + 1 + t; k < p.n; k += threads) {
            const elem u = k == i + 1 ? make(1, 0) : g.apply(p.w[k - p.at]);
            p.w[k - p.at] = u;
            p.u[k + j * p.y_ld] = u;
            p.y[k + j * p.y_ld] = p.next_y[k - p.at];
            p.a[i + k * p.ld] = k == i + 1 ? make(g.beta, 0) : conjugate(u);
        }
        if (t == 0) {
            e[i] = g.beta;
            taup[i] = g.tau;
        }
        __syncthreads();
        column_products{{p.y + i + 1, p.u + i + 1}, p.w + (j + 1), {p.y_ld, p.y_ld}, {p.of_v, p.of_x}, p.n - i - 1}
            .compute(j + 1, j);
        if (t <= j) {
            p.row_v[t] = conjugate(p.y[i + 1 + t * p.y_ld]);
            p.row_x[t] = conjugate(p.u[i + 1 + t * p.y_ld]);
        }
        __syncthreads();
        // Column j of X, and then the next column of A.
        squares = 0;
        for (int r = p.at + t; r < p.m; r += threads) {
            if (r <= i) {
                p.v[r - p.at] = make(0, 0);
                continue;
            }
            const elem old = p.a[r + (i + 1) * p.ld];
            elem sum = make(0, 0), next = old;
            if constexpr (PER > 0) {
#pragma unroll
                for (int w = 0; w < (PER <= 4 ? 4 : 8); ++w) sum = sum + sums[w * ROWS + r - p.at];
            } else {
                sum = p.aw[r - p.at];
            }
            elem x = (times_real(sum, g.level) - times_real(old, g.scaled_beta)) * g.scale;
#pragma unroll 8
            for (int q = 0; q < j; ++q) {
                const elem its_v = negated(left[r + q * p.ld]), its_x = negated(p.x[r + q * p.x_ld]);
                x = fused(its_v, p.of_v[q], fused(its_x, p.of_x[q], x));
                next = fused(its_v, p.row_v[q], fused(its_x, p.row_x[q], next));
            }
            const elem v = negated(p.v[r - p.at]);
            x = g.tau * fused(v, p.of_v[j], x);
            next = fused(v, p.row_v[j], fused(negated(x), p.row_x[j], next));
            p.x[r + j * p.x_ld] = x;
            p.v[r - p.at] = next;
            squares += r > i + 1 ? square_of(next) : 0;
        }
    }
}

// Shared memory, in elements: (warps + 1) * 32 PER + 2 (a_n - at), with PER > 0. Scratch memory of a problem, in
// elements: NB (x_ld + 2 y_ld), and with PER = 0 also 2 (x_ld + y_ld), where x_ld and y_ld are a_m and a_n, rounded up
// to multiples of PACK.
template <int PER, int COLUMNS>
__device__ inline void reduce_panel_of(const view<elem> &a, int at, place most_m, place most_n, real *d, real *e,
                                       elem *tauq, elem *taup, elem *room) {
    DYNAMIC_SHARED(elem, memory);
    __shared__ elem kept[4][NB];
    if (at >= a.n) return;
    constexpr int ROWS = PER * 32;
    panel p;
    p.a = a.a;
    p.ld = a.ld;
    p.m = (int)a.m;
    p.n = (int)a.n;
    p.at = at;
    p.width = min(NB, p.n - at);
    p.x_ld = up_to(most_m, PACK) * PACK;
    p.y_ld = up_to(most_n, PACK) * PACK;
    p.x = room;
    p.y = p.x + NB * p.x_ld;
    p.u = p.y + NB * p.y_ld;
    p.by_packs = has_packs(a.a, a.ld);
    if constexpr (PER > 0) {
        p.v = memory;
        p.w = memory + ROWS * (blockDim.x / 32 + 1);
        p.next_y = p.w + (most_n - at);
        p.aw = nullptr;
    } else {
        p.v = p.u + NB * p.y_ld;
        p.aw = p.v + p.x_ld;
        p.w = p.aw + p.x_ld;
        p.next_y = p.w + p.y_ld;
    }
    p.of_v = kept[0];
    p.of_x = kept[1];
    p.row_v = kept[2];
    p.row_x = kept[3];
    reduce_panel<PER, COLUMNS>(p, d, e, tauq, taup, memory + ROWS);
}

#define LABRD_KERNEL(name, threads, resident, per, columns)                                                            \
    KERNEL(threads, resident) name LABRD {                                                                             \
        const place p = blockIdx.x;                                                                                    \
        const bool is_flipped = flipped != nullptr;                                                                    \
        elem *const its_tauq = PROBLEM(tauq, p).a, *const its_taup = PROBLEM(taup, p).a;                               \
        reduce_panel_of<per, columns>(tall_of(PROBLEM(a, p), flipped, flipped_stride, p), at, is_flipped ? a_n : a_m,  \
                                      is_flipped ? a_m : a_n, PROBLEM(d, p).a, PROBLEM(e, p).a,                        \
                                      is_flipped ? its_taup : its_tauq, is_flipped ? its_tauq : its_taup,              \
                                      room + p * room_stride);                                                         \
    }

// The number is that of the rows from a panel's first on.
LABRD_KERNEL(labrd_128, 128, (COMPLEX && DOUBLE ? 4 : 5), 4, (COMPLEX && DOUBLE ? 2 : 4))
LABRD_KERNEL(labrd_256, 256, 2, 8, (COMPLEX && DOUBLE ? 2 : 4))
LABRD_KERNEL(labrd_512, 256, (COMPLEX && DOUBLE ? 1 : 2), 16, (COMPLEX && DOUBLE ? 1 : 2))
LABRD_KERNEL(labrd, 256, 2, 0, 1)
