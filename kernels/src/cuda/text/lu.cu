// P L U of a few columns by several blocks, each of which has some rows. Defined before: see panel.cu, and grid.cu or cluster.cu.
//
// Rows stay where they are in registers: an interchange changes the places that they will have. The block that has a pivot sends its whole row,
// and the first block writes it where it belongs.
//
// What the blocks wait for is the next pivot. So of what a pivot's row does to the others, only the next column is computed at once, and
// of the block's best row, which is sent, the rest of the row. All else is done while messages are on their way.

// The size by which pivots are chosen. NaN is none as long as there is another.
__device__ inline real size_of(elem x) {
    const real a = re(x), b = im(x);
    return (a < 0 ? -a : a) + (b < 0 ? -b : b);
}

// What a pivot's multiples are made by: x * scale_of(pivot) * inverse_of(pivot) = x / pivot. The reciprocal of a tiny pivot may overflow;
// nothing in its column is larger, so both can be enlarged.
__device__ inline real scale_of(elem pivot) { return size_of(pivot) < 2 * TINY ? 1 / TINY : 1; }

__device__ inline elem inverse_of(elem pivot) {
    const elem p = times_real(pivot, scale_of(pivot));
#if COMPLEX
    const real a = p.re < 0 ? -p.re : p.re, b = p.im < 0 ? -p.im : p.im, most = a > b ? a : b;
    const real x = p.re / most, y = p.im / most, norm = p.re * x + p.im * y;
    return make(x / norm, -y / norm);
#else
    return 1 / p;
#endif
}

// A row that may be a pivot's: which of the lane's it is, its place, and its element.
struct candidate {
    int which, row;
    elem value;
};

// The largest of each warp, by turns.
struct candidates {
    real sizes[2][WARPS];
    int rows[2][WARPS];
};

// Rows with the places that they will have, which are in `places`: for this block's rows in shared memory, or, if elements do not fit into
// registers and stay in memory, for all rows there; then rows are interchanged when all is done.
template <int GROUPS, bool IS_KEPT> struct lu_rows : rows_of<GROUPS> {
    typedef shape<GROUPS> S;
    typedef rows_of<GROUPS> base;
    using base::x, base::group, base::w;
    int *places;
    // Which of the rows were no pivot's yet: one bit each.
    unsigned live;
    elem multiple[ROWS];
    // Whether there are multiples, or nothing was divided.
    bool has_multiples;

    __device__ lu_rows(elem *a, place ld, int m, int w, int each, int *places) : base(a, ld, m, w, each), places(places) {}

    __device__ int place_of(int turn, int r) const {
        const int i = base::row(turn, r);
        return IS_KEPT ? places[i - base::first] : i < base::end ? places[i] : NOBODY;
    }

    // Rows have it from the first group's lanes.
    __device__ void set_place(int turn, int r, int at) const {
        const int i = base::row(turn, r);
        if (group == 0 && (IS_KEPT || i < base::end)) places[IS_KEPT ? i - base::first : i] = at;
    }

    // Column 0 is in the second slot, as the first column of all groups always is before it is that of what is looked for.
    __device__ void begin(int turn) {
        base::load(turn, -1);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int i = base::row(turn, r);
            set_place(turn, r, i < base::end ? i : NOBODY);
        }
        __syncwarp();
        find_live(turn, 0);
        has_multiples = false;
#pragma unroll
        for (int r = 0; r < ROWS; ++r) multiple[r] = make(0, 0);
    }

    // The rows whose places are not above this one.
    __device__ void find_live(int turn, int least) {
        live = 0;
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int at = place_of(turn, r);
            if (at >= least && at != NOBODY) live |= 1u << r;
        }
    }

    // Takes rows up when column j's pivot is known, and nothing that it changes is stored.
    __device__ void hold(int turn, int j) {
        if (!IS_KEPT) base::load(turn, (j + GROUPS) / GROUPS - 1);
    }

    // Rows j and p are interchanged. Only of the first w rows, some are where they were not at first.
    __device__ void move(int turn, int j, int p) {
        const int low = base::first + turn * S::BLOCK_ROWS + warp_of() * S::WARP_ROWS;
        if (low < w || (p >= low && p < low + S::WARP_ROWS)) {
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                const int at = place_of(turn, r);
                // Lanes of the other groups have read it by then.
                __syncwarp();
                if (at == p || at == j) set_place(turn, r, at == p ? j : p);
            }
            __syncwarp();
            if (IS_KEPT) find_live(turn, j + 1);
        }
        if (!IS_KEPT) find_live(turn, j + 1);
    }

    // Column j becomes multiples, which the lanes of all groups get. Rows that were a pivot's before become anything from here on: what is on
    // the diagonal and to the right of it has been written.
    __device__ void divide(int j, elem pivot, elem inverse) {
        const real scale = scale_of(pivot);
        const bool is_mine = group == j % GROUPS;
        has_multiples = !is_zero(pivot);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const elem y = times_real(x[r][0], scale) * inverse;
            if (has_multiples && is_mine) x[r][0] = y;
            if (GROUPS > 1) multiple[r] = base::from_group(has_multiples ? y : make(0, 0), j % GROUPS);
        }
    }

    // Of this row, by what column j has become; with one group, there it is.
    __device__ elem times(int r) const { return GROUPS > 1 ? multiple[r] : has_multiples ? x[r][0] : make(0, 0); }

    // Looks for the pivot of a column once `u` times the multiples is subtracted. Where all are zero or NaN, it is the row with the least place.
    __device__ void look(int turn, int column, const elem *u, candidate *best) const {
        const bool is_second = column % GROUPS == 0;
        const elem by = u[group * COLUMNS + is_second];
        const unsigned there = group == column % GROUPS ? live : 0;
        const int before = best->which;
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const elem y = (is_second ? x[r][1] : x[r][0]) - times(r) * by;
            if ((there >> r & 1) && size_of(y) > size_of(best->value)) {
                best->which = turn * ROWS + r;
                best->value = y;
            }
        }
        if (best->which != before) best->row = place_of(turn, best->which % ROWS);
        if (there != 0 && size_of(best->value) == 0) look_for_least(turn, best);
    }

    __device__ void look_for_least(int turn, candidate *best) const {
#pragma unroll 1
        for (int r = 0; r < ROWS; ++r) {
            const int at = place_of(turn, r);
            if ((live >> r & 1) && at < best->row) {
                best->which = turn * ROWS + r;
                best->row = at;
            }
        }
    }

    // What a lane's row number `which` is once `u` times the multiples is subtracted, in the slots that columns have then.
    __device__ void stage(int which, bool is_renamed, const elem *u, elem *to) const {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            if (r != which) continue;
#pragma unroll
            for (int s = 0; s < COLUMNS; ++s) {
                const elem y = x[r][s] - times(r) * u[group * COLUMNS + s];
                to[group * COLUMNS + (is_renamed ? (s + COLUMNS - 1) % COLUMNS : s)] = y;
            }
        }
    }

    // Subtracts `u` times the multiples of column j from all columns behind it.
    __device__ void subtract(int j, const elem *u) {
#pragma unroll
        for (int s = 0; s < COLUMNS; ++s) {
            if (!base::has_rest(s, j) || !base::is_behind(s, j)) continue;
            const elem by = u[group * COLUMNS + s];
#pragma unroll
            for (int r = 0; r < ROWS; ++r) x[r][s] = x[r][s] - times(r) * by;
        }
    }

    // Stores columns from j on, of rows that are no pivot's yet.
    __device__ void put(int turn, int j) const {
#pragma unroll
        for (int s = 0; s < COLUMNS; ++s) {
            if (!base::has_rest(s, j) || !(base::is_behind(s, j) || group == j % GROUPS)) continue;
            const int c = base::column(s, j / GROUPS);
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                const int at = place_of(turn, r);
                if (c < w && at > j && at != NOBODY) base::a[base::row(turn, r) + c * base::ld] = x[r][s];
            }
        }
    }

    // Stores what is below the diagonal, where it will be.
    __device__ void finish(int renamed) const {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int at = place_of(0, r);
#pragma unroll
            for (int s = 0; s < COLUMNS; ++s) {
                const int c = base::column(s, renamed);
                if (c < w && c < at && at != NOBODY) base::a[at + c * base::ld] = x[r][s];
            }
        }
    }
};

// A pivot's row, as all blocks have got it.
struct eliminator {
    elem pivot, inverse;
    // Its elements by slots; zeros if the pivot is zero, and nothing is eliminated.
    const elem *u;
};

template <int GROUPS, bool IS_KEPT> struct lu {
    typedef shape<GROUPS> S;
    typedef exchange<S::WIDTH, 3> talk;
    lu_rows<GROUPS, IS_KEPT> mine;
    talk others;
    candidates &known;
    message<S::WIDTH> &staged;
    const elem *zeros;
    int turns;
    eliminator by;

    // Sends the best row of this block.
    __device__ void send(int j, const candidate &best) {
        const real size = size_of(best.value);
        const int lane = largest_lane(size, best.row), odd = j & 1;
        if (lane_of() == lane) {
            known.sizes[odd][warp_of()] = size;
            known.rows[odd][warp_of()] = best.row;
        }
        __syncthreads();
        const bool has = lane_of() < WARPS;
        const int k = has ? lane_of() : 0;
        if (largest_lane(has ? known.sizes[odd][k] : 0, has ? known.rows[odd][k] : NOBODY) != warp_of()) return;
        const elem inverse = inverse_of(best.value);
        const int which = __shfl_sync(ALL, best.which, lane);
        resume(which / ROWS, j - 1);
        if (lane_of() % S::LANES == lane % S::LANES)
            mine.stage(which % ROWS, j % GROUPS == 0, by.u, staged.elements);
        if (lane_of() == lane) {
            staged.size = size;
            staged.row = best.row;
            staged.inverse = inverse;
        }
        __syncwarp();
        const int pieces = HEAD_PIECES + S::PIECES;
        others.post(staged, pieces, pieces * gridDim.x);
    }

    __device__ void resume(int turn, int j) {
        if (IS_KEPT) return;
        mine.hold(turn, j);
        mine.divide(j, by.pivot, by.inverse);
    }

    // All that is left to do for column j, before which there may be none.
    __device__ void complete(int j) {
        for (int turn = 0; turn < turns; ++turn) {
            resume(turn, j);
            mine.subtract(j, by.u);
            if (!IS_KEPT) mine.put(turn, j);
        }
        if (IS_KEPT && (j + 1) % GROUPS == 0) mine.rename();
    }

    // The pivot of column j has come, in place p: divides the column by it, and looks for the next one.
    __device__ candidate step(int j, int p) {
        candidate best{-1, NOBODY, make(0, 0)};
        for (int turn = 0; turn < turns; ++turn) {
            mine.hold(turn, j);
            mine.move(turn, j, p);
            mine.divide(j, by.pivot, by.inverse);
            if (j + 1 < mine.w) mine.look(turn, j + 1, by.u, &best);
        }
        return best;
    }

    // Factors w columns with m >= w rows, of which block b has those from b * each on. The first w are the first block's. ipiv becomes the
    // interchanges, counted from one, with `above` rows above.
    __device__ bool factor(int *ipiv, int above) {
        candidate best{-1, NOBODY, make(0, 0)};
        by = eliminator{make(0, 0), make(0, 0), zeros};
        for (int turn = 0; turn < turns; ++turn) {
            mine.begin(turn);
            mine.look(turn, 0, zeros, &best);
        }
#pragma unroll 1
        for (int j = 0; j < mine.w; ++j) {
            send(j, best);
            complete(j - 1);
            const int block = others.collect();
            if (block < 0) return false;
            const message<S::WIDTH> &got = others.whole(block, HEAD_PIECES + S::PIECES);
            by.pivot = got.elements[j % GROUPS * COLUMNS];
            by.inverse = got.inverse;
            by.u = is_zero(by.pivot) ? zeros : got.elements;
            if (blockIdx.x == 0) {
                const int c = j + threadIdx.x;
                if (IS_KEPT && c < mine.w)
                    mine.a[j + c * mine.ld] = got.elements[c % GROUPS * COLUMNS + c / GROUPS - j / GROUPS];
                if (threadIdx.x == 0) ipiv[j] = above + got.row + 1;
            }
            best = step(j, got.row);
        }
        if (IS_KEPT)
            mine.finish((mine.w - 1) / GROUPS);
        else
            complete(mine.w - 1);
        return true;
    }
};

template <int GROUPS, bool IS_KEPT>
__device__ inline void factor(elem *a, place ld, int m, int w, int each, int *ipiv, int above, half turn, int *where, word *mail,
                              void *room, int *status) {
    typedef lu<GROUPS, IS_KEPT> work;
    __shared__ typename work::talk::kept memory;
    __shared__ candidates known;
    __shared__ message<work::S::WIDTH> staged;
    __shared__ elem zeros[work::S::WIDTH];
    __shared__ int places[IS_KEPT ? work::S::BLOCK_ROWS : 1];
    if (threadIdx.x < work::S::WIDTH) zeros[threadIdx.x] = make(0, 0);
    __syncthreads();
    const int turns = IS_KEPT ? 1 : (each + work::S::BLOCK_ROWS - 1) / work::S::BLOCK_ROWS;
    work one{{a, ld, m, w, each, IS_KEPT ? places : where},
             {memory, mail, (message<work::S::WIDTH> *)room, turn}, known, staged, zeros, turns, {}};
    if (!one.factor(ipiv, above) && threadIdx.x == 0) *status = -1;
}

#define GETRF                                                                                                              \
    (elem * a, place ld, int m, int w, int each, int *ipiv, int above, int turn, int *where, word *mail, void *room, int *status)
#define FACTOR(groups, is_kept) \
    factor<groups, is_kept>(a, ld, m, w, each, ipiv, above, turn, where, mail, room, status)

// By how many groups there are.
KERNEL(THREADS, 1) getrf_1 GETRF { FACTOR(1, true); }
KERNEL(THREADS, 1) getrf_2 GETRF { FACTOR(2, true); }
KERNEL(THREADS, 1) getrf_4 GETRF { FACTOR(4, true); }
KERNEL(THREADS, 1) getrf_8 GETRF { FACTOR(8, true); }
