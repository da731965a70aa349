// Products of a warp, with sums in registers. Included after `batch.cu`.

#if HAS_UNITS
// A product takes four columns of the left factor at once, and a lane has one of them. Of the right factor's block of
// eight columns it has one element.
#define DEPTH 4
#define LEFT_AT (lane_of() % 4)
#define RIGHT_PARTS 1
#define RIGHT_COLUMN(e) (lane_of() / 4)
#else
#define DEPTH 1
#define LEFT_AT 0
#define RIGHT_PARTS 2
#define RIGHT_COLUMN(e) (lane_of() % 4 * 2 + (e))
#endif
// The row of a lane in a block of eight rows.
#define LEFT_ROW (lane_of() / 4)

// Returns a lane's pointers to N blocks: at(8 x + own) for each x.
#define EACH_BLOCK(x, N) _Pragma("unroll") for (int x = 0; x < N; ++x)

// Steps between the load of an operand and its use.
#define AHEAD (HAS_UNITS && !COMPLEX ? 4 : 2)

// 8 R x 8 C sums.
template <int R, int C> struct product {
    unit sum[R][C];

    __device__ void clear() {
        EACH_BLOCK(r, R) EACH_BLOCK(c, C) sum[r][c].clear();
    }

    // Adds the products of one step, of DEPTH columns.
    __device__ void add(const elem (&left)[R], const elem (&right)[C][RIGHT_PARTS]) {
        EACH_BLOCK(r, R) EACH_BLOCK(c, C) {
#if HAS_UNITS
            multiply_add(sum[r][c], left[r], right[c][0]);
#else
            EACH_BLOCK(e, 2) {
                const elem more = fused(left[r], right[c][e], sum[r][c].get(e));
                sum[r][c].re[e] = re(more);
#if COMPLEX
                sum[r][c].im[e] = im(more);
#endif
            }
#endif
        }
    }

    // Adds the products of two steps.
    __device__ void add(const elem (&left)[R], const elem (&right)[C][RIGHT_PARTS], const elem (&left2)[R],
                        const elem (&right2)[C][RIGHT_PARTS]) {
#if HAS_UNITS && !COMPLEX
        EACH_BLOCK(r, R / 2) EACH_BLOCK(c, C)
            multiply_add_two<2>(sum[2 * r][c].re, sum[2 * r + 1][c].re, {left[2 * r], left2[2 * r]},
                             {left[2 * r + 1], left2[2 * r + 1]}, {right[c][0], right2[c][0]});
#else
        add(left, right);
        add(left2, right2);
#endif
    }

    // Adds the products of a(i, k) and b(k, j), k = 0 .. count, a multiple of four. These return addresses, and rise by
    // a step from one k to the next. Operands are loaded AHEAD steps before they are used.
    template <class A, class B>
    __device__ void multiply(int count, const A &a, place a_step, bool a_conj, const B &b, place b_step, bool b_conj) {
        const elem *from_left[R], *from_right[C][RIGHT_PARTS];
        EACH_BLOCK(r, R) from_left[r] = a(8 * r + LEFT_ROW, LEFT_AT);
        EACH_BLOCK(c, C) EACH_BLOCK(e, RIGHT_PARTS) from_right[c][e] = b(LEFT_AT, 8 * c + RIGHT_COLUMN(e));
        elem left[AHEAD][R], right[AHEAD][C][RIGHT_PARTS];
        // The step that is loaded next. After the last step, that step is loaded again: a load under a condition would
        // make the compiler wait for it at once, in order to copy its result.
        int next = 0;
        const auto load = [&](int to) {
            next += DEPTH;
            const place a_by = next < count ? DEPTH * a_step : 0, b_by = next < count ? DEPTH * b_step : 0;
            EACH_BLOCK(r, R) {
                left[to][r] = *from_left[r];
                from_left[r] += a_by;
            }
            EACH_BLOCK(c, C) EACH_BLOCK(e, RIGHT_PARTS) {
                right[to][c][e] = *from_right[c][e];
                from_right[c][e] += b_by;
            }
        };
        if (count <= 0) return;
        EACH_BLOCK(s, AHEAD) load(s);
#pragma unroll 1
        for (int k = 0; k < count; k += AHEAD * DEPTH) {
#if COMPLEX
            EACH_BLOCK(s, AHEAD) {
                EACH_BLOCK(r, R) left[s][r] = conj_if(left[s][r], a_conj);
                EACH_BLOCK(c, C) EACH_BLOCK(e, RIGHT_PARTS) right[s][c][e] = conj_if(right[s][c][e], b_conj);
            }
#endif
            EACH_BLOCK(t, AHEAD / 2) {
                const int s = 2 * t;
                if (k + (s + 1) * DEPTH < count) add(left[s], right[s], left[s + 1], right[s + 1]);
                else if (k + s * DEPTH < count) add(left[s], right[s]);
                load(s);
                load(s + 1);
            }
        }
    }

    // Calls f(i, j, sum) for the sums of this lane.
    template <class F> __device__ void each(const F &f) const {
        EACH_BLOCK(r, R) EACH_BLOCK(c, C) EACH_BLOCK(e, 2)
            f(8 * r + LEFT_ROW, 8 * c + lane_of() % 4 * 2 + e, sum[r][c].get(e));
    }

    // Sets the sums to f(i, j).
    template <class F> __device__ void set(const F &f) {
        EACH_BLOCK(r, R) EACH_BLOCK(c, C) EACH_BLOCK(e, 2) {
            const elem x = f(8 * r + LEFT_ROW, 8 * c + lane_of() % 4 * 2 + e);
            sum[r][c].re[e] = re(x);
#if COMPLEX
            sum[r][c].im[e] = im(x);
#endif
        }
    }
};

// A left factor of 8 R rows and K columns in registers, which are loaded before the right factor is known.
template <int R, int K> struct left_factor {
    elem x[K / DEPTH][R];
    // Loads the elements a(i, k).
    template <class A> __device__ void load(const A &a) {
        EACH_BLOCK(k, K / DEPTH) EACH_BLOCK(r, R) x[k][r] = a(8 * r + LEFT_ROW, k * DEPTH + LEFT_AT);
    }
    // Adds the products with b(k, j).
    template <int C, class B> __device__ void multiply(product<R, C> &to, const B &b) const {
        EACH_BLOCK(t, K / DEPTH / 2) {
            elem right[2][C][RIGHT_PARTS];
            EACH_BLOCK(s, 2) EACH_BLOCK(c, C) EACH_BLOCK(e, RIGHT_PARTS)
                right[s][c][e] = b((2 * t + s) * DEPTH + LEFT_AT, 8 * c + RIGHT_COLUMN(e));
            to.add(x[2 * t], right[0], x[2 * t + 1], right[1]);
        }
    }
};

// The distance of columns in shared memory for this number of rows: four rows of each of eight columns, and eight rows
// of each of four, are read without a bank conflict.
__device__ inline int panel_pitch(int rows) { return (rows + 31) / 32 * 32 + 32 / (int)sizeof(elem); }
