// A group's rows of a panel in its own memory, for kernels that make all steps by one launch. Included after `panel.cl`
// and `together.cl`. Required definitions: LANES, WIDTH, which is WARP, and OWN_ELEMENTS, the elements of a group's
// own memory: at least its rows times w.
//
// Warp k has the columns k, k + WARPS and so on, and each of its work-items every WARP-th row.

#define WARP_COLUMNS (WIDTH / WARPS)
#define WARP_COLUMN(k) ((int)get_local_id(0) / WARP + (k) * WARPS)
#define WARP_ROW(block, r) ((block) + (int)get_local_id(0) % WARP + (r) * WARP)

// The group has `have` rows, from row `first` of the panel on. Column q begins at q * rows.
typedef struct {
    __local elem *own;
    int w, rows, have, first;
} OwnRows;

inline int owns(OwnRows its, int i) { return 0 <= i && i < its.have; }

inline void load_own(OwnRows its, __global const elem *a, ulong ld) {
    for (int block = 0; block < its.have; block += WARP * ROWS) {
        elem x[WARP_COLUMNS][ROWS];
#pragma unroll
        for (int k = 0; k < WARP_COLUMNS; ++k)
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                const int i = WARP_ROW(block, r), q = WARP_COLUMN(k);
                x[k][r] = q < its.w && i < its.have ? a[i + q * ld] : make(0, 0);
            }
#pragma unroll
        for (int k = 0; k < WARP_COLUMNS; ++k)
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                const int i = WARP_ROW(block, r), q = WARP_COLUMN(k);
                if (q < its.w && i < its.have) its.own[q * its.rows + i] = x[k][r];
            }
    }
}
