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

// Kinds of pivots. The reciprocal of a minute pivot may overflow, and that of a vast one may underflow. No element of
// its column is larger, so both can be scaled.
enum { ORDINARY, MINUTE, VAST, ZERO };

__device__ inline int kind_of(real size) {
    return size == 0 ? ZERO : size < 2 * TINY ? MINUTE : size > 1 / (16 * TINY) ? VAST : ORDINARY;
}

// The scale of a division by a pivot: x * scale_of(kind) * inverse_of(pivot, kind) = x / pivot.
__device__ inline real scale_of(int kind) { return kind == MINUTE ? 1 / TINY : kind == VAST ? (real)0.015625 : 1; }

__device__ inline elem inverse_of(elem pivot, int kind) {
    const elem p = times_real(pivot, scale_of(kind));
#if COMPLEX
    const real by = reciprocal(fmax(fabs(p.re), fabs(p.im)));
    const real x = p.re * by, y = p.im * by, norm = reciprocal(p.re * x + p.im * y);
    return make(x * norm, -y * norm);
#else
    return reciprocal(p);
#endif
}

// Sizes, which are neither negative nor NaN, are compared by their bits, which is faster. Assembly keeps the compiler
// from making branches of it.
#if DOUBLE
typedef unsigned long long bits;
__device__ inline real size_from(bits x) { return __longlong_as_double((long long)x); }
#else
typedef unsigned bits;
__device__ inline real size_from(bits x) { return __uint_as_float(x); }
#endif

// Returns the bits of |x|; zero if x is NaN, or if the row's position `at` is before `least`. A NaN must be quiet, as
// the results of arithmetic are.
__device__ inline bits bits_of(real x, int at, int least) {
    bits size;
#if DOUBLE
    asm volatile("{\n\t.reg .pred p, q;\n\t.reg .b32 low, high;\n\t"
                 "mov.b64 {low, high}, %1;\n\t"
                 "and.b32 high, high, 0x7fffffff;\n\t"
                 "setp.ge.s32 q, %2, %3;\n\t"
                 "setp.le.and.u32 p, high, 0x7ff00000, q;\n\t"
                 "selp.b32 low, low, 0, p;\n\t"
                 "selp.b32 high, high, 0, p;\n\t"
                 "mov.b64 %0, {low, high};\n\t}"
                 : "=l"(size)
                 : "d"(x), "r"(at), "r"(least));
#else
    asm volatile("{\n\t.reg .pred p, q;\n\t.reg .b32 high;\n\t"
                 "and.b32 high, %1, 0x7fffffff;\n\t"
                 "setp.ge.s32 q, %2, %3;\n\t"
                 "setp.le.and.u32 p, high, 0x7f800000, q;\n\t"
                 "selp.b32 %0, high, 0, p;\n\t}"
                 : "=r"(size)
                 : "r"(__float_as_uint(x)), "r"(at), "r"(least));
#endif
    return size;
}

// Replaces a size and the index of its row by others, if the other size is larger.
__device__ inline void take_larger(bits &x, int &which, bits other, int other_which) {
#if DOUBLE
    asm("{\n\t.reg .pred p;\n\t"
        "setp.gt.u64 p, %2, %0;\n\t"
        "selp.b64 %0, %2, %0, p;\n\t"
        "selp.b32 %1, %3, %1, p;\n\t}"
        : "+l"(x), "+r"(which)
        : "l"(other), "r"(other_which));
#else
    asm("{\n\t.reg .pred p;\n\t"
        "setp.gt.u32 p, %2, %0;\n\t"
        "selp.b32 %0, %2, %0, p;\n\t"
        "selp.b32 %1, %3, %1, p;\n\t}"
        : "+r"(x), "+r"(which)
        : "r"(other), "r"(other_which));
#endif
}

// A row that may become a pivot's: its index in the lane, its position, and the size of its element. The element of
// complex types is needed for its inverse; that of real types is the size but for the sign.
struct candidate {
    int which, row;
    real size;
    elem value;
};

// Rows with the positions where they will be stored. If they do not fit into registers, elements and positions stay in
// memory, and the rows are interchanged at the end.
template <int GROUPS, bool IS_KEPT> struct lu_rows : rows_of<GROUPS> {
    typedef shape<GROUPS> S;
    typedef rows_of<GROUPS> base;
    using base::x, base::group, base::w;
    // The positions of all rows, if they stay in memory.
    int *places;
    // The positions of this lane's rows; -1 for a row that does not exist.
    int at[ROWS];
    // The multiples of the pivot's row that are subtracted from the rows.
    elem multiple[ROWS];

    __device__ lu_rows(elem *a, place ld, int m, int w, int each, int *places)
        : base(a, ld, m, w, each), places(places) {}

    __device__ void begin(int turn) {
        base::load(turn, 0);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int i = base::row(turn, r);
            at[r] = i < base::end ? i : -1;
        }
        keep(turn);
        forget();
    }

    // Loads rows and their positions when column j's pivot is known, if they are not kept in registers.
    __device__ void hold(int turn, int j) {
        if (IS_KEPT) return;
        base::load(turn, (j + GROUPS) / GROUPS - 1);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int i = base::row(turn, r);
            at[r] = i < base::end ? places[i] : -1;
        }
    }

    // Stores the positions of rows that are not kept in registers.
    __device__ void keep(int turn) const {
        if (IS_KEPT) return;
        // Lanes of the other groups must have read the positions.
        __syncwarp();
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int i = base::row(turn, r);
            if (group == 0 && i < base::end) places[i] = at[r];
        }
        __syncwarp();
    }

    // Interchanges rows j and p.
    __device__ void move(int turn, int j, int p) {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) at[r] = at[r] == p ? j : at[r] == j ? p : at[r];
        keep(turn);
    }

    // Divides column j by the pivot, and gives the multiples to the lanes of all groups; they are zero if the pivot is.
    // Rows of earlier pivots get arbitrary values from here on, because their elements on the diagonal and to the right
    // of it have been stored.
    __device__ void divide(int j, int kind, elem inverse) {
        if (kind == ZERO) {
            forget();
            return;
        }
        if (group == j % GROUPS) {
            keep_branch();
            if (kind != ORDINARY) {
                keep_branch();
#pragma unroll
                for (int r = 0; r < ROWS; ++r) x[r][0] = times_real(x[r][0], scale_of(kind));
            }
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
    __device__ void look(int turn, int column, bool is_second, const elem (&u)[COLUMNS], candidate *best) const {
        if (is_second)
            look_in<1>(turn, column, u[1], best);
        else
            look_in<0>(turn, column, u[0], best);
    }

    template <int SLOT> __device__ void look_in(int turn, int column, elem by, candidate *best) const {
        const int least = group == column % GROUPS ? column : NOBODY;
        elem y[ROWS];
        bits sizes[ROWS];
        int which[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            y[r] = x[r][SLOT] - multiple[r] * by;
            sizes[r] = bits_of(COMPLEX ? size_of(y[r]) : re(y[r]), at[r], least);
            which[r] = r;
        }
#pragma unroll
        for (int step = 1; step < ROWS; step *= 2)
#pragma unroll
            for (int r = 0; r + step < ROWS; r += 2 * step)
                take_larger(sizes[r], which[r], sizes[r + step], which[r + step]);
        const real size = size_from(sizes[0]);
        if (size > best->size) {
            best->which = turn * ROWS + which[0];
            best->row = pick(at, which[0]);
            best->size = size;
            best->value = COMPLEX ? pick(y, which[0]) : make(size, 0);
        } else if (least != NOBODY && best->size == 0) {
            look_for_least(turn, column, best);
        }
    }

    // Returns the value of row `which` of the lane.
    template <class T> __device__ static T pick(const T (&from)[ROWS], int which) {
        T x[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) x[r] = from[r];
#pragma unroll
        for (int step = 1; step < ROWS; step *= 2)
#pragma unroll
            for (int r = 0; r + step < ROWS; r += 2 * step) x[r] = which & step ? x[r + step] : x[r];
        return x[0];
    }

    __device__ void look_for_least(int turn, int column, candidate *best) const {
        keep_branch();
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            if (at[r] >= column && at[r] < best->row) {
                best->which = turn * ROWS + r;
                best->row = at[r];
            }
        }
    }

    // Writes row `which` of the lane, one of COUNT from FIRST on, after subtracting `u` times the multiples, in the
    // order of the slots; slots without columns get arbitrary values. Rows that were loaded again are one slot behind,
    // with the column that was divided in front.
    template <int FIRST = 0, int COUNT = ROWS>
    __device__ void stage(int which, bool is_mine, const elem (&u)[COLUMNS], elem *to) const {
        if constexpr (COUNT == 1) {
#pragma unroll
            for (int s = 0; s < COLUMNS; ++s) {
                const elem y = x[FIRST][s] - multiple[FIRST] * u[s];
                if (is_mine) to[(IS_KEPT ? s : (s + COLUMNS - 1) % COLUMNS) * GROUPS + group] = y;
            }
        } else if (which < FIRST + COUNT / 2) {
            stage<FIRST, COUNT / 2>(which, is_mine, u, to);
        } else {
            stage<FIRST + COUNT / 2, COUNT - COUNT / 2>(which, is_mine, u, to);
        }
    }

    // Subtracts `u` times the multiples while column j is in the first slot. In that slot, only the columns of the
    // groups from `first_group` on are updated.
    __device__ void subtract(int j, int first_group, const elem (&u)[COLUMNS]) {
#pragma unroll
        for (int s = 0; s < COLUMNS; ++s) {
            if (!base::has_rest(s, j)) break;
            if (s == 0 && group < first_group) continue;
#pragma unroll
            for (int r = 0; r < ROWS; ++r) x[r][s] = x[r][s] - multiple[r] * u[s];
        }
    }

    // Stores the columns from j on of rows that are not yet a pivot's, row by row, which needs fewer registers for
    // positions.
    __device__ void put(int turn, int j) const {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            if (at[r] <= j) continue;
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
#pragma unroll
            for (int s = 0; s < COLUMNS; ++s) {
                const int c = base::column(s, renamed);
                if (c < w && c < at[r]) base::a[at[r] + c * base::ld] = x[r][s];
            }
        }
    }
};

template <int GROUPS, bool IS_KEPT> struct lu {
    typedef shape<GROUPS> S;
    // The elements of a row, by slots.
    static constexpr int COUNT = S::WIDTH;
    typedef exchange<COUNT, 3> talk;
    lu_rows<GROUPS, IS_KEPT> mine;
    talk others;
    // The message of each warp, for odd and even turns.
    message<COUNT> (*staged)[WARPS];
    int turns;
    // The pivot's row by slots; zeros if the pivot is zero, so that nothing is eliminated.
    elem inverse, u[COLUMNS];
    int kind;
    // The last pivot's message.
    const message<COUNT> *pivotal;

    // Returns the pieces of a message that hold the remaining columns.
    __device__ int pieces_of(int j) const {
        const int columns = (mine.w + GROUPS - 1) / GROUPS * GROUPS - j / GROUPS * GROUPS;
        return HEAD_PIECES + (columns * (int)sizeof(elem) + (int)sizeof(piece) - 1) / (int)sizeof(piece);
    }

    // Sends the best row of this block. Each warp makes a message of its best row, so that the block's is ready when it
    // is known.
    __device__ void send(int j, const candidate &best) {
        const int kind = kind_of(best.size);
        const elem inverse = inverse_of(best.value, kind);
        const int lane = largest_lane(best.size, best.row), which = __shfl_sync(ALL, best.which, lane);
        message<COUNT> *each = staged[j & 1], &own = each[warp_of()];
        if (lane_of() == lane) {
            own.size = best.size;
            own.row = best.row;
            own.kind = kind;
            own.inverse = inverse;
        }
        resume(which / ROWS, j - 1);
        mine.stage(which % ROWS, lane_of() % S::LANES == lane % S::LANES, u, own.elements);
        __syncthreads();
        const bool has = lane_of() < WARPS;
        const int k = has ? lane_of() : 0, pieces = pieces_of(j),
                  warp = largest_lane(has ? (real)each[k].size : 0, has ? each[k].row : NOBODY);
        others.post(each[warp], pieces, pieces * gridDim.x, warp_of(), WARPS);
    }

    __device__ void resume(int turn, int j) {
        if (IS_KEPT) return;
        mine.hold(turn, j);
        mine.divide(j, kind, inverse);
    }

    // Completes the update by column j - 1, if there is one.
    __device__ void complete(int j) {
        if constexpr (IS_KEPT) {
            mine.subtract(j, j % GROUPS, u);
        } else if (j > 0) {
            for (int turn = 0; turn < turns; ++turn) {
                resume(turn, j - 1);
                mine.subtract(j - 1, 1, u);
                mine.put(turn, j - 1);
            }
        }
    }

    // Processes the pivot of column j, from position p: divides the column by it, and searches the next one.
    __device__ candidate step(int j, int p) {
        candidate best{-1, NOBODY, 0, make(0, 0)};
        for (int turn = 0; turn < turns; ++turn) {
            mine.hold(turn, j);
            mine.move(turn, j, p);
            mine.divide(j, kind, inverse);
            if (j + 1 < mine.w) mine.look(turn, j + 1, (j + 1) % GROUPS == 0, u, &best);
        }
        return best;
    }

    // Takes the pivot's row of column j from a message. It becomes zeros if the pivot is zero, so that nothing is
    // eliminated.
    __device__ void take(const message<COUNT> &from, int j) {
        pivotal = &from;
        kind = from.kind;
        inverse = from.inverse;
        const elem pivot = from.elements[j % GROUPS];
#if !COMPLEX
        // The sender inverted the size.
        inverse = copysign(inverse, pivot);
#endif
#pragma unroll
        for (int s = 0; s < COLUMNS; ++s) u[s] = from.elements[s * GROUPS + mine.group];
        if (kind == ZERO) {
            keep_branch();
            // A column of zeros and NaN has a pivot of size zero that may be NaN.
            if (re(pivot) == re(pivot) && im(pivot) == im(pivot))
                forget();
            else
                kind = ORDINARY;
        }
    }

    // Sets the pivot's row to zero.
    __device__ void forget() {
#pragma unroll
        for (int s = 0; s < COLUMNS; ++s) u[s] = make(0, 0);
    }

    // The first block stores the row of column j's pivot, and the interchange.
    __device__ void record(int j, int *ipiv, int above) const {
        if (blockIdx.x != 0) return;
        const int c = j + threadIdx.x;
        if (IS_KEPT && c < mine.w) mine.a[j + c * mine.ld] = pivotal->elements[c - j / GROUPS * GROUPS];
        if (threadIdx.x == 0) ipiv[j] = above + pivotal->row + 1;
    }

    // Factors w columns with m >= w rows; block b has the rows from b * each on, and the first block has the first w.
    // ipiv becomes the interchanges, counted from one, with `above` rows above.
    __device__ bool factor(int *ipiv, int above) {
        candidate best{-1, NOBODY, 0, make(0, 0)};
        forget();
        for (int turn = 0; turn < turns; ++turn) {
            mine.begin(turn);
            mine.look(turn, 0, false, u, &best);
        }
#pragma unroll 1
        for (int j = 0; j < mine.w;) {
            // The columns of a slot. With one group there is only one, and the loop disappears, which saves registers.
            const int end = min(j / GROUPS * GROUPS + GROUPS, mine.w);
#pragma unroll 1
            for (bool is_left = j < end; is_left; is_left = GROUPS > 1 && j < end) {
                send(j, best);
                if (j > 0) record(j - 1, ipiv, above);
                complete(j);
                const int block = others.collect();
                if (block < 0) return false;
                const message<COUNT> &got = others.whole(block, pieces_of(j));
                take(got, j);
                best = step(j, got.row);
                ++j;
            }
            if (IS_KEPT) {
                mine.rename();
#pragma unroll
                for (int s = 0; s + 1 < COLUMNS; ++s) u[s] = u[s + 1];
            }
        }
        record(mine.w - 1, ipiv, above);
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
    __shared__ message<work::COUNT> staged[2][WARPS];
    const int turns = IS_KEPT ? 1 : (each + work::S::BLOCK_ROWS - 1) / work::S::BLOCK_ROWS;
    work one{{a, ld, m, w, each, where},
             {memory, mail, (message<work::COUNT> *)room, turn}, staged, turns, {}, {}, ZERO, nullptr};
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
