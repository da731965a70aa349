// P L U of a few columns by several blocks, each of which has some rows. Defined before: see panel.cu, and grid.cu or cluster.cu.
//
// Rows stay where they are in registers: an interchange changes the places that they will have. The block that has a pivot sends its whole row,
// and the first block writes it where it belongs.
//
// What the blocks wait for is the next pivot. So of what a pivot's row does to the others, only the next column is computed at once, and
// of the block's best row, which is sent, the rest of the row. All else is done while messages are on their way.

// The size by which pivots are chosen. NaN is none as long as there is another.
__device__ inline real size_of(elem x) { return COMPLEX ? fabs(re(x)) + fabs(im(x)) : fabs(re(x)); }

// What a pivot's multiples are made by: x * scale_of(pivot) * inverse_of(pivot) = x / pivot. The reciprocal of a tiny pivot may overflow, and
// that of a huge one vanish; nothing in its column is larger, so both can be moved.
__device__ inline real scale_of(elem pivot) {
    const real size = size_of(pivot);
    return size < 2 * TINY ? 1 / TINY : size > 1 / (16 * TINY) ? (real)0.015625 : 1;
}

// 1 / x up to the last digit, for x of which neither that nor x is tiny; of zero and infinity, too. A quotient would be a function to call.
// It is computed where it stands, and not sooner, where others wait.
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

__device__ inline elem inverse_of(elem pivot) {
    const elem p = times_real(pivot, scale_of(pivot));
#if COMPLEX
    const real by = reciprocal(fmax(fabs(p.re), fabs(p.im)));
    const real x = p.re * by, y = p.im * by, norm = reciprocal(p.re * x + p.im * y);
    return make(x * norm, -y * norm);
#else
    return reciprocal(p);
#endif
}

// Of sizes, which are neither negative nor NaN: they compare as their bits do, which is sooner known.
__device__ inline bool is_larger(real a, real b) {
#if DOUBLE
    return __double_as_longlong(a) > __double_as_longlong(b);
#else
    return __float_as_int(a) > __float_as_int(b);
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
    // What the rows have become multiples by.
    elem multiple[ROWS];

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

    __device__ void begin(int turn) {
        base::load(turn, 0);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int i = base::row(turn, r);
            set_place(turn, r, i < base::end ? i : NOBODY);
        }
        __syncwarp();
        find_live(turn, 0);
        forget();
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

    // Column j becomes multiples, which the lanes of all groups get; none, if the pivot is zero. Rows that were a pivot's before become anything
    // from here on: what is on the diagonal and to the right of it has been written.
    __device__ void divide(int j, elem pivot, elem inverse) {
        if (is_zero(pivot)) {
            forget();
            return;
        }
        const real scale = scale_of(pivot);
        if (scale != 1) {
#pragma unroll
            for (int r = 0; r < ROWS; ++r) x[r][0] = times_real(x[r][0], group == j % GROUPS ? scale : 1);
        }
        if (group == j % GROUPS) {
#pragma unroll
            for (int r = 0; r < ROWS; ++r) x[r][0] = x[r][0] * inverse;
        }
        __syncwarp();
#pragma unroll
        for (int r = 0; r < ROWS; ++r) multiple[r] = base::from_group(x[r][0], j % GROUPS);
    }

    // Nothing is divided.
    __device__ void forget() {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) multiple[r] = make(0, 0);
    }

    // Looks for the pivot of a column, which is in the first slot or the second, once `u` times the multiples is subtracted. Where all are
    // zero or NaN, it is the row with the least place. By rounds in which pairs of rows compete, as all of a round is done at once.
    __device__ void look(int turn, int column, bool is_second, const elem *u, candidate *best) const {
        const elem by = u[is_second * GROUPS + group];
        const unsigned there = group == column % GROUPS ? live : 0;
        elem y[ROWS];
        real sizes[ROWS];
        int which[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            y[r] = (is_second ? x[r][1] : x[r][0]) - multiple[r] * by;
            // Of NaN, none.
            const real size = size_of(y[r]);
            sizes[r] = (there & 1u << r) != 0 && size > 0 ? size : 0;
            which[r] = r;
        }
#pragma unroll
        for (int step = 1; step < ROWS; step *= 2)
#pragma unroll
            for (int r = 0; r + step < ROWS; r += 2 * step) {
                const bool is_other = is_larger(sizes[r + step], sizes[r]);
                sizes[r] = is_other ? sizes[r + step] : sizes[r];
                y[r] = is_other ? y[r + step] : y[r];
                which[r] = is_other ? which[r + step] : which[r];
            }
        if (is_larger(sizes[0], size_of(best->value))) {
            best->which = turn * ROWS + which[0];
            best->value = y[0];
            best->row = place_of(turn, which[0]);
        }
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

    // What a lane's row number `which` is, one of some from FIRST on, once `u` times the multiples is subtracted, by slots; in those without
    // columns, anything. Rows that were taken up are a slot behind: with the column that was divided, in front.
    template <int FIRST = 0, int COUNT = ROWS> __device__ void stage(int which, const elem (&u)[COLUMNS], elem *to) const {
        if constexpr (COUNT == 1) {
#pragma unroll
            for (int s = 0; s < COLUMNS; ++s)
                to[(IS_KEPT ? s : (s + COLUMNS - 1) % COLUMNS) * GROUPS + group] = x[FIRST][s] - multiple[FIRST] * u[s];
        } else if (which < FIRST + COUNT / 2) {
            stage<FIRST, COUNT / 2>(which, u, to);
        } else {
            stage<FIRST + COUNT / 2, COUNT - COUNT / 2>(which, u, to);
        }
    }

    // While column j is in the first slot, subtracts `u` times the multiples: of that slot, from the columns of some groups.
    __device__ void subtract(int j, int first_group, const elem *u) {
#pragma unroll
        for (int s = 0; s < COLUMNS; ++s) {
            if (!base::has_rest(s, j)) break;
            if (s == 0 && group < first_group) continue;
            const elem by = u[s * GROUPS + group];
#pragma unroll
            for (int r = 0; r < ROWS; ++r) x[r][s] = x[r][s] - multiple[r] * by;
        }
    }

    // Stores columns from j on, of rows that are no pivot's yet. Row by row, which takes fewer registers for places.
    __device__ void put(int turn, int j) const {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int at = place_of(turn, r);
            if (at <= j || at == NOBODY) continue;
            elem *to = base::a + base::row(turn, r) + base::column(0, j / GROUPS) * base::ld;
#pragma unroll
            for (int s = 0; s < COLUMNS; ++s) {
                const bool is_left = base::has_rest(s, j) && (base::is_behind(s, j) || group == j % GROUPS);
                if (is_left && base::column(s, j / GROUPS) < w) *to = x[r][s];
                to += GROUPS * base::ld;
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
    // The elements of a row by slots, as they are read also when they are one slot further.
    static constexpr int COUNT = S::WIDTH + GROUPS;
    typedef exchange<COUNT, 3> talk;
    lu_rows<GROUPS, IS_KEPT> mine;
    talk others;
    candidates &known;
    message<COUNT> &staged;
    const elem *zeros;
    int turns;
    eliminator by;

    // Of a message, those with columns that are left.
    __device__ int pieces_of(int j) const {
        const int columns = (mine.w + GROUPS - 1) / GROUPS * GROUPS - j / GROUPS * GROUPS;
        return HEAD_PIECES + (columns * (int)sizeof(elem) + (int)sizeof(piece) - 1) / (int)sizeof(piece);
    }

    // Sends the best row of this block.
    __device__ void send(int j, const candidate &best) {
        const real size = size_of(best.value);
        const int lane = largest_lane(size, best.row), odd = j & 1;
        if (lane_of() == lane) {
            known.sizes[odd][warp_of()] = size;
            known.rows[odd][warp_of()] = best.row;
        }
        __syncthreads();
        // While it is found out whose is needed.
        const elem inverse = inverse_of(best.value);
        const bool has = lane_of() < WARPS;
        const int k = has ? lane_of() : 0;
        if (largest_lane(has ? known.sizes[odd][k] : 0, has ? known.rows[odd][k] : NOBODY) != warp_of()) return;
        const int which = __shfl_sync(ALL, best.which, lane);
        resume(which / ROWS, j - 1);
        if (lane_of() % S::LANES == lane % S::LANES) {
            elem u[COLUMNS];
#pragma unroll
            for (int s = 0; s < COLUMNS; ++s) u[s] = by.u[s * GROUPS + mine.group];
            mine.stage(which % ROWS, u, staged.elements);
        }
        if (lane_of() == lane) {
            staged.size = size;
            staged.row = best.row;
            staged.inverse = inverse;
        }
        __syncwarp();
        const int pieces = pieces_of(j);
        others.post(staged, pieces, pieces * gridDim.x);
    }

    __device__ void resume(int turn, int j) {
        if (IS_KEPT) return;
        mine.hold(turn, j);
        mine.divide(j, by.pivot, by.inverse);
    }

    // All that is left to do for the column before j, if there is one.
    __device__ void complete(int j) {
        if constexpr (IS_KEPT) {
            mine.subtract(j, j % GROUPS, by.u);
        } else if (j > 0) {
            for (int turn = 0; turn < turns; ++turn) {
                resume(turn, j - 1);
                mine.subtract(j - 1, 1, by.u);
                mine.put(turn, j - 1);
            }
        }
    }

    // The pivot of column j has come, in place p: divides the column by it, and looks for the next one.
    __device__ candidate step(int j, int p) {
        candidate best{-1, NOBODY, make(0, 0)};
        for (int turn = 0; turn < turns; ++turn) {
            mine.hold(turn, j);
            mine.move(turn, j, p);
            mine.divide(j, by.pivot, by.inverse);
            if (j + 1 < mine.w) mine.look(turn, j + 1, (j + 1) % GROUPS == 0, by.u, &best);
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
            mine.look(turn, 0, false, zeros, &best);
        }
#pragma unroll 1
        for (int j = 0; j < mine.w;) {
            // The columns of a slot; with one group it is one, and no loop is left, which would cost registers.
            const int end = min(j / GROUPS * GROUPS + GROUPS, mine.w);
#pragma unroll 1
            for (bool is_left = j < end; is_left; is_left = GROUPS > 1 && j < end) {
                send(j, best);
                complete(j);
                const int block = others.collect();
                if (block < 0) return false;
                const message<COUNT> &got = others.whole(block, pieces_of(j));
                by.pivot = got.elements[j % GROUPS];
                by.inverse = got.inverse;
                by.u = is_zero(by.pivot) ? zeros : got.elements;
                if (blockIdx.x == 0) {
                    const int c = j + threadIdx.x;
                    if (IS_KEPT && c < mine.w) mine.a[j + c * mine.ld] = got.elements[c - j / GROUPS * GROUPS];
                    if (threadIdx.x == 0) ipiv[j] = above + got.row + 1;
                }
                best = step(j, got.row);
                ++j;
            }
            if (IS_KEPT) {
                mine.rename();
                by.u += GROUPS;
            }
        }
        if (IS_KEPT)
            mine.finish((mine.w + GROUPS - 1) / GROUPS);
        else
            complete(mine.w);
        return true;
    }
};

template <int GROUPS, bool IS_KEPT>
__device__ inline void factor(elem *a, place ld, int m, int w, int each, int *ipiv, int above, half turn, int *where, word *mail,
                              void *room, int *status) {
    typedef lu<GROUPS, IS_KEPT> work;
    __shared__ typename work::talk::kept memory;
    __shared__ candidates known;
    __shared__ message<work::COUNT> staged;
    __shared__ elem zeros[work::COUNT];
    __shared__ int places[IS_KEPT ? work::S::BLOCK_ROWS : 1];
    if (threadIdx.x < work::COUNT) zeros[threadIdx.x] = make(0, 0);
    __syncthreads();
    const int turns = IS_KEPT ? 1 : (each + work::S::BLOCK_ROWS - 1) / work::S::BLOCK_ROWS;
    work one{{a, ld, m, w, each, IS_KEPT ? places : where},
             {memory, mail, (message<work::COUNT> *)room, turn}, known, staged, zeros, turns, {}};
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
