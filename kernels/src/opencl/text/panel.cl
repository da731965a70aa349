// What the steps of the panels of LU and QR share. Included after `batch.cl`. Required definitions: LANES, WIDTH, the
// most columns of a panel, and GROUPS_MAX, the most groups with rows.
//
// Step j updates the columns on the right of column c = j - 1 by that column, and prepares column j. Each of many
// work-groups has `rows` rows, the same ones in every step. A group cannot wait for another one, so what a step finds
// out about column j is combined when the next step begins: each group has stored what it found in its rows, and the
// group of row j has stored that row, which it changes while others read it. What is stored for odd and for even
// columns alternates.
//
// The first step has nothing to combine, and the last one no column to prepare. Their barriers are the same as those of
// all steps: see `batch.cl`.

// The work-items of a group form ROW_LANES rows and COLUMN_LANES columns. Each has ROWS rows of a block at a time.
#if LANES < 16
#define ROW_LANES LANES
#else
#define ROW_LANES 16
#endif
#define COLUMN_LANES (LANES / ROW_LANES)
#define ROWS 4
#define ROW_LANE ((int)get_local_id(0) % ROW_LANES)
#define COLUMN_LANE ((int)get_local_id(0) / ROW_LANES)
#define ROW(block, r) ((block) + ROW_LANE + (r) * ROW_LANES)

// A panel of m rows and w columns in step j. The group has the rows from `first` to `end`, and changes those from
// `begin` on.
typedef struct {
    __global elem *a;
    ulong ld;
    int m, w, j, first, begin, end;
} Panel;

inline Panel panel_of(__global elem *a, ulong ld, int m, int w, int j, int rows) {
    const int first = min(m, (int)get_group_id(0) * rows);
    const Panel its = {a, ld, m, w, j, first, max(first, j), min(m, first + rows)};
    return its;
}
inline int has_row(Panel its, int i) { return its.first <= i && i < its.end; }
