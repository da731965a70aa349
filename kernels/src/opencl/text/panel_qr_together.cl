// All steps of the QR factorization of a panel by one launch. Included after `panel_qr.cl` and `together.cl`.

// `arrived` is the count of the barriers, of which `before` arrivals are over.
__kernel GROUP(LANES) void geqrf_together(__global real *restrict heap, ulong at, ulong ld, int m, int w, int rows,
                                          ulong state, ulong tau, ulong t, ulong ldt, ulong arrived,
                                          int before) {
    MEMORY;
    volatile __global int *count = (volatile __global int *)heap + arrived;
    for (int j = 0; j <= w; ++j) {
        factor_column(heap, at, ld, m, w, j, rows, state, tau, t, ldt, ratios, sizes, z, room);
        all_together(count, before + (j + 1) * (int)get_num_groups(0));
    }
}
