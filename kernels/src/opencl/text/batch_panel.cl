// What the batched factorizations share. Included after `batch.cl`. Required definitions: NB, the columns of a panel;
// PANEL_BYTES, the memory for a panel of a group's own.
//
// A file of kernels is included twice, with these definitions: SPACE is OWN, NAME `_own` and IS_OWN 1 where panels are
// copied to memory of the group's own, and they are `__global`, `_in_place` and 0 where panels would not fit there.

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
inline void load_panel(OWN elem *panel, __global const elem *a, long ld, int m, int n) {
    for (int j = COLUMN_LANE; j < n; j += COLUMN_LANES)
        for (int i = ROW_LANE; i < m; i += ROW_LANES) panel[i + j * m] = a[i + j * ld];
}
inline void store_panel(OWN const elem *panel, __global elem *a, long ld, int m, int n) {
    for (int j = COLUMN_LANE; j < n; j += COLUMN_LANES)
        for (int i = ROW_LANE; i < m; i += ROW_LANES) a[i + j * ld] = panel[i + j * m];
}
