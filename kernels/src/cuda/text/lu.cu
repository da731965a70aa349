// P L U of a few columns by several blocks, each of which has some rows. Required definitions: see panel.cu, and
// grid.cu or cluster.cu.
//
// Rows stay in their registers: an interchange only changes the positions where they will be stored. The block that has
// a pivot sends its whole row, and the first block stores it.
//
// The blocks wait for the next pivot only. Of the update by a pivot's row, only the next column is therefore computed
// at once, and the rest of the row in the block's best row, which is sent. Everything else is computed while messages
// are in transit.

// The size by which pivots are chosen. NaN is not chosen unless there is nothing else.
__device__ inline real size_of(elem x) { return COMPLEX ? fabs(re(x)) + fabs(im(x)) : fabs(re(x)); }

// The scale of a division by a pivot: x * scale_of(pivot) * inverse_of(pivot) = x / pivot. The reciprocal of a tiny
// pivot may overflow, and that of a huge one may underflow. No element of its column is larger, so both can be scaled.
__device__ inline real scale_of(elem pivot) {
    const real size = size_of(pivot);
    return size < 2 * TINY ? 1 / TINY : size > 1 / (16 * TINY) ? (real)0.015625 : 1;
}

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

// Compares sizes, which are neither negative nor NaN, by their bits, which is faster.
__device__ inline bool is_larger(real a, real b) {
#if DOUBLE
    return __double_as_longlong(a) > __double_as_longlong(b);
#else
    return __float_as_int(a) > __float_as_int(b);
#endif
}

// A row that may become a pivot's: its index in the lane, its position, and its element.
struct candidate {
    int which, row;
    elem value;
};

// The largest of each warp, for odd and even turns.
struct candidates {
    real sizes[2][WARPS];
    int rows[2][WARPS];
};

// Rows with the positions where they will be stored. `places` has the positions of this block's rows, in shared memory.
// If the elements do not fit into registers and stay in memory, it has the positions of all rows, in memory, and the
// rows are interchanged at the end.
template <int GROUPS, bool IS_KEPT> struct lu_rows : rows_of<GROUPS> {
    typedef shape<GROUPS> S;
    typedef rows_of<GROUPS> base;
    using base::x, base::group, base::w;
    int *places;
    // One bit for each of the rows that is not yet a pivot's.
    unsigned live;
    // The multiples of the pivot's row that are subtracted from the rows.
    elem multiple[ROWS];

    __device__ lu_rows(elem *a, place ld, int m, int w, int each, int *places)
        : base(a, ld, m, w, each), places(places) {}

    __device__ int place_of(int turn, int r) const {
        const int i = base::row(turn, r);
        return IS_KEPT ? places[i - base::first] : i < base::end ? places[i] : NOBODY;
    }

    // The lanes of the first group store the positions of their rows.
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

    // Sets the bits of the rows whose positions are `least` or later.
    __device__ void find_live(int turn, int least) {
        live = 0;
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int at = place_of(turn, r);
            if (at >= least && at != NOBODY) live |= 1u << r;
        }
    }

    // Loads rows when column j's pivot is known, if they are not kept in registers.
    __device__ void hold(int turn, int j) {
        if (!IS_KEPT) base::load(turn, (j + GROUPS) / GROUPS - 1);
    }

    // Interchanges rows j and p. The rows at these positions are among the first w rows, or row p itself.
    __device__ void move(int turn, int j, int p) {
        const int low = base::first + turn * S::BLOCK_ROWS + warp_of() * S::WARP_ROWS;
        if (low < w || (p >= low && p < low + S::WARP_ROWS)) {
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                const int at = place_of(turn, r);
                // Lanes of the other groups must have read the position before it changes.
                __syncwarp();
                if (at == p || at == j) set_place(turn, r, at == p ? j : p);
            }
            __syncwarp();
            if (IS_KEPT) find_live(turn, j + 1);
        }
        if (!IS_KEPT) find_live(turn, j + 1);
    }

    // Divides column j by the pivot, and gives the multiples to the lanes of all groups; they are zero if the pivot is.
    // Rows of earlier pivots get arbitrary values from here on, because their elements on the diagonal and to the right
    // of it have been stored.
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

    // Sets all multiples to zero.
    __device__ void forget() {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) multiple[r] = make(0, 0);
    }

    // Searches the pivot of a column, which is in the first or the second slot, after subtracting `u` times the
    // multiples. If all elements are zero or NaN, it is the row with the least position. Pairs of rows compete in
    // rounds, because a round is computed in parallel.
    __device__ void look(int turn, int column, bool is_second, const elem *u, candidate *best) const {
        const elem by = u[is_second * GROUPS + group];
        const unsigned there = group == column % GROUPS ? live : 0;
        elem y[ROWS];
        real sizes[ROWS];
        int which[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            y[r] = (is_second ? x[r][1] : x[r][0]) - multiple[r] * by;
            // The size of NaN is zero.
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

    // Writes row `which` of the lane, one of COUNT from FIRST on, after subtracting `u` times the multiples, in the
    // order of the slots; slots without columns get arbitrary values. Rows that were loaded again are one slot behind,
    // with the column that was divided in front.
    template <int FIRST = 0, int COUNT = ROWS>
    __device__ void stage(int which, const elem (&u)[COLUMNS], elem *to) const {
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

    // Subtracts `u` times the multiples while column j is in the first slot. In that slot, only the columns of the
    // groups from `first_group` on are updated.
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

    // Stores the columns from j on of rows that are not yet a pivot's, row by row, which needs fewer registers for
    // positions.
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

    // Stores the elements below the diagonal at their final positions.
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

// A pivot's row, as all blocks have received it.
struct eliminator {
    elem pivot, inverse;
    // Its elements by slots; zeros if the pivot is zero, so that nothing is eliminated.
    const elem *u;
};

template <int GROUPS, bool IS_KEPT> struct lu {
    typedef shape<GROUPS> S;
    // The elements of a row by slots, with one more slot, because they are also read one slot further.
    static constexpr int COUNT = S::WIDTH + GROUPS;
    typedef exchange<COUNT, 3> talk;
    lu_rows<GROUPS, IS_KEPT> mine;
    talk others;
    candidates &known;
    message<COUNT> &staged;
    const elem *zeros;
    int turns;
    eliminator by;

    // Returns the pieces of a message that hold the remaining columns.
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
        // This overlaps with the search for the largest of the block.
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

    // Completes the update by column j - 1, if there is one.
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

    // Processes the pivot of column j, from position p: divides the column by it, and searches the next one.
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

    // Factors w columns with m >= w rows; block b has the rows from b * each on, and the first block has the first w.
    // ipiv becomes the interchanges, counted from one, with `above` rows above.
    __device__ bool factor(int *ipiv, int above) {
        candidate best{-1, NOBODY, make(0, 0)};
        by = eliminator{make(0, 0), make(0, 0), zeros};
        for (int turn = 0; turn < turns; ++turn) {
            mine.begin(turn);
            mine.look(turn, 0, false, zeros, &best);
        }
#pragma unroll 1
        for (int j = 0; j < mine.w;) {
            // The columns of a slot. With one group there is only one, and the loop disappears, which saves registers.
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
__device__ inline void factor(elem *a, place ld, int m, int w, int each, int *ipiv, int above, half turn, int *where,
                              word *mail, void *room, int *status) {
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

#define GETRF                                                                                                          \
    (elem * a, place ld, int m, int w, int each, int *ipiv, int above, int turn, int *where, word *mail, void *room,   \
        int *status)
#define FACTOR(groups, is_kept) \
    factor<groups, is_kept>(a, ld, m, w, each, ipiv, above, turn, where, mail, room, status)

// One kernel for each number of groups.
KERNEL(THREADS, 1) getrf_1 GETRF { FACTOR(1, true); }
KERNEL(THREADS, 1) getrf_2 GETRF { FACTOR(2, true); }
KERNEL(THREADS, 1) getrf_4 GETRF { FACTOR(4, true); }
KERNEL(THREADS, 1) getrf_8 GETRF { FACTOR(8, true); }
