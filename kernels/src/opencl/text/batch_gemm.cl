// Batched products C := alpha op(A) op(B) + beta C. Required definitions: TILE, the order of a group's tile of C; SIDE,
// whose square is LANES; ITEM_ROWS, the rows of a work-item of gemv_n; DOT_COLUMNS, the dot products of a group of
// gemv_t. Included after `batch.cl`.
//
// `op_a` and `op_b` have 1 if the operation transposes, and 2 if it conjugates. For alpha = 0 there are no products, so
// that neither A nor B is read.

#define GEMM                                                                                                           \
    (__global real *restrict heap, OPERAND(a), OPERAND(b), OPERAND(c), int op_a, int op_b, elem alpha, elem beta,      \
     int count)

inline int depth_of(Place a, int op, elem alpha) { return is_zero(alpha) ? 0 : op & 1 ? a.m : a.n; }

// A work-item has ITEM_ROWS elements of y = alpha A x + beta y.
__kernel GROUP(LANES) void gemv_n GEMM {
    const int parts = (int)((c_m + ITEM_ROWS - 1) / ITEM_ROWS);
    const long item = get_global_id(0), p = item / parts;
    if (p >= count) return;
    const Place its_a = PLACE(a, p), its_b = PLACE(b, p), its_c = PLACE(c, p);
    const int i = (int)(item % parts) * ITEM_ROWS, have = min(ITEM_ROWS, its_c.m - i);
    const int depth = have > 0 && its_c.n > 0 ? depth_of(its_a, op_a, alpha) : 0;
    const long step = op_b & 1 ? its_b.ld : 1;
    __global const elem *from = ELEMENTS(its_a) + i, *x = ELEMENTS(its_b);
    elem sum[ITEM_ROWS];
    for (int r = 0; r < ITEM_ROWS; ++r) sum[r] = make(0, 0);
    for (int k = 0; k < depth; ++k, from += its_a.ld) {
        const elem by = conj_if(x[k * step], op_b & 2);
        if (have == ITEM_ROWS) {
            for (int r = 0; r < ITEM_ROWS; ++r) sum[r] += times(from[r], by);
        } else {
            for (int r = 0; r < have; ++r) sum[r] += times(from[r], by);
        }
    }
    __global elem *y = ELEMENTS(its_c) + i;
    for (int r = 0; r < have && its_c.n > 0; ++r) update(&y[r], sum[r], alpha, beta, 0);
}

// A group has DOT_COLUMNS elements of y = alpha op(A) x + beta y, for a transposed A.
__kernel GROUP(LANES) void gemv_t GEMM {
    OWN elem room[DOT_COLUMNS * (LANES + 1)];
    const int parts = (int)((c_m + DOT_COLUMNS - 1) / DOT_COLUMNS), lane = get_local_id(0), group = get_group_id(0);
    const Place its_a = PLACE(a, group / parts), its_b = PLACE(b, group / parts), its_c = PLACE(c, group / parts);
    const int j = group % parts * DOT_COLUMNS, have = its_c.n > 0 ? min(DOT_COLUMNS, its_c.m - j) : 0;
    const int depth = have > 0 ? depth_of(its_a, op_a, alpha) : 0;
    const long step = op_b & 1 ? its_b.ld : 1;
    __global const elem *from = ELEMENTS(its_a) + j * its_a.ld, *x = ELEMENTS(its_b);
    elem sum[DOT_COLUMNS];
    for (int r = 0; r < DOT_COLUMNS; ++r) sum[r] = make(0, 0);
    for (int k = lane; k < depth; k += LANES) {
        const elem by = conj_if(x[k * step], op_b & 2);
        for (int r = 0; r < DOT_COLUMNS; ++r)
            if (r < have) sum[r] += times(conj_if(from[k + r * its_a.ld], op_a & 2), by);
    }
    for (int r = 0; r < DOT_COLUMNS; ++r) room[r * (LANES + 1) + lane] = sum[r];
    TOGETHER;
    __global elem *y = ELEMENTS(its_c) + j;
    for (int r = lane; r < have; r += LANES) {
        elem total = room[r * (LANES + 1)];
        for (int l = 1; l < LANES; ++l) total += room[r * (LANES + 1) + l];
        update(&y[r], total, alpha, beta, 0);
    }
}

// A work-item has one element of a tiny C.
__kernel GROUP(LANES) void gemm_tiny GEMM {
    const long item = get_global_id(0), p = item / (c_m * c_n);
    if (p >= count) return;
    const Place its_a = PLACE(a, p), its_b = PLACE(b, p), its_c = PLACE(c, p);
    const int at = (int)(item % (c_m * c_n)), i = at % (int)c_m, j = at / (int)c_m;
    if (i >= its_c.m || j >= its_c.n) return;
    const int depth = depth_of(its_a, op_a, alpha);
    __global const elem *x = ELEMENTS(its_a) + i * (op_a & 1 ? its_a.ld : 1);
    __global const elem *y = ELEMENTS(its_b) + j * (op_b & 1 ? 1 : its_b.ld);
    const long x_step = op_a & 1 ? 1 : its_a.ld, y_step = op_b & 1 ? its_b.ld : 1;
    elem sum = make(0, 0);
    for (int k = 0; k < depth; ++k)
        sum += times(conj_if(x[k * x_step], op_a & 2), conj_if(y[k * y_step], op_b & 2));
    update(ELEMENTS(its_c) + i + j * its_c.ld, sum, alpha, beta, 0);
}

// The steps of the inner dimension for which tiles of the factors are read at a time, and the elements from one of them
// to the next. A work-item has every SIDEth row and column of its group's tile.
#define DEEP (DOUBLE && COMPLEX ? 8 : 16)
#define PITCH (TILE + (LANES > 1))
#define ITS (TILE / SIDE)

// Reads TILE x DEEP elements of a factor, of which rows x deep are there; element (i, k) is at i * rs + k * cs.
inline void read_tile(OWN elem *to, __global const elem *from, int rows, int deep, long rs, long cs, int conj) {
    for (int at = get_local_id(0); at < TILE * DEEP; at += LANES) {
        // Adjacent work-items read adjacent elements.
        const int i = rs == 1 ? at % TILE : at / DEEP, k = rs == 1 ? at / TILE : at % DEEP;
        to[k * PITCH + i] = i < rows && k < deep ? conj_if(from[i * rs + k * cs], conj) : make(0, 0);
    }
}

// A group has one tile of C.
__kernel GROUP(LANES) void gemm GEMM {
    OWN elem left[DEEP * PITCH], right[DEEP * PITCH];
    const int lane = get_local_id(0), row = lane % SIDE, column = lane / SIDE;
    const int down = ((int)c_m + TILE - 1) / TILE, tiles = down * (((int)c_n + TILE - 1) / TILE);
    const int group = get_group_id(0), tile = group % tiles, i = tile % down * TILE, j = tile / down * TILE;
    const Place its_a = PLACE(a, group / tiles), its_b = PLACE(b, group / tiles), its_c = PLACE(c, group / tiles);
    const int rows = min(TILE, its_c.m - i), columns = min(TILE, its_c.n - j);
    const int depth = rows > 0 && columns > 0 ? depth_of(its_a, op_a, alpha) : 0;
    const long a_row = op_a & 1 ? its_a.ld : 1, a_step = op_a & 1 ? 1 : its_a.ld;
    const long b_column = op_b & 1 ? 1 : its_b.ld, b_step = op_b & 1 ? its_b.ld : 1;
    __global const elem *x = ELEMENTS(its_a) + i * a_row, *y = ELEMENTS(its_b) + j * b_column;
    elem sum[ITS * ITS];
    for (int e = 0; e < ITS * ITS; ++e) sum[e] = make(0, 0);
    for (int first = 0; first < depth; first += DEEP) {
        const int deep = min(DEEP, depth - first);
        read_tile(left, x + first * a_step, rows, deep, a_row, a_step, op_a & 2);
        read_tile(right, y + first * b_step, columns, deep, b_column, b_step, op_b & 2);
        TOGETHER;
        for (int k = 0; k < DEEP; ++k) {
            elem u[ITS];
            for (int r = 0; r < ITS; ++r) u[r] = left[k * PITCH + row + r * SIDE];
            for (int s = 0; s < ITS; ++s) {
                const elem v = right[k * PITCH + column + s * SIDE];
                for (int r = 0; r < ITS; ++r) sum[s * ITS + r] += times(u[r], v);
            }
        }
        TOGETHER;
    }
    __global elem *z = ELEMENTS(its_c) + i + j * its_c.ld;
    for (int s = 0; s < ITS; ++s)
        for (int r = 0; r < ITS; ++r) {
            const int at = row + r * SIDE, to = column + s * SIDE;
            if (at < rows && to < columns) update(&z[at + to * its_c.ld], sum[s * ITS + r], alpha, beta, 0);
        }
}
