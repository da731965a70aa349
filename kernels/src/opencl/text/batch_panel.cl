// What the batched factorizations share. Included after `batch.cl`. Required definitions: NB, the columns of a panel;
// PANEL_BYTES, the memory for a panel of a group's own.
//
// A file of kernels is included with these definitions: SPACE is `__global`, NAME `_in_place` and IS_OWN 0 for kernels
// that leave panels where they are. If a group has several work-items, the file is included again with `__local`,
// `_own` and 1, for panels that are copied to a group's own memory.

#define PANEL_ELEMENTS (PANEL_BYTES / (int)sizeof(elem))

// The work-items of a group form ROW_LANES rows and COLUMN_LANES columns where it computes a block.
#if LANES < 8
#define ROW_LANES LANES
#else
#define ROW_LANES 8
#endif
#define COLUMN_LANES (LANES / ROW_LANES)
#define ROW_LANE ((int)get_local_id(0) % ROW_LANES)
#define COLUMN_LANE ((int)get_local_id(0) / ROW_LANES)

inline elem conjugate(elem x) { return make(RE(x), -IM(x)); }
inline elem over(elem x, real by) { return make(RE(x) / by, IM(x) / by); }

// Copies the m x n matrix at the beginning of A to a panel without gaps, or back.
#if LANES > 1
inline void load_panel(__local elem *panel, __global const elem *a, long ld, int m, int n) {
    for (int j = COLUMN_LANE; j < n; j += COLUMN_LANES)
        for (int i = ROW_LANE; i < m; i += ROW_LANES) panel[i + j * m] = a[i + j * ld];
}
inline void store_panel(__local const elem *panel, __global elem *a, long ld, int m, int n) {
    for (int j = COLUMN_LANE; j < n; j += COLUMN_LANES)
        for (int i = ROW_LANE; i < m; i += ROW_LANES) a[i + j * ld] = panel[i + j * m];
}
#endif
