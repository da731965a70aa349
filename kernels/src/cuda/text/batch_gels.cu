// What a batch of least squares problems needs besides factors and solves. Included after `batch.cu`.

// Writes the table of columns in scratch, `stride` elements apart: one for each A, with an element for each reflector.
KERNEL(128) column_table(OPERAND(const elem, a), place stride, place *table, int count) {
    const place p = (place)blockIdx.x * 128 + threadIdx.x;
    if (p >= count) return;
    const view<const elem> its = PROBLEM(a, p);
    place *entry = table + TABLE_ROWS * p;
    entry[0] = p * stride;
    entry[1] = least_of(its.m, its.n);
    entry[2] = 1;
    entry[3] = stride;
    entry[4] = NUMBER(a, p);
}

// Finds the first zero on the diagonal of R, from one on; zero if there is none. A warp has a problem.
KERNEL(128) find_zero(OPERAND(const elem, r), int *info, int count) {
    const place p = (place)blockIdx.x * 4 + warp_of();
    if (p >= count) return;
    const view<const elem> its = PROBLEM(r, p);
    int found = 0;
    for (place first = 0; first < its.n && found == 0; first += 32) {
        const place i = first + lane_of();
        const unsigned zeros = __ballot_sync(ALL, i < its.n && is_zero(its.a[i + i * its.ld]));
        if (zeros != 0) found = (int)first + __ffs(zeros);
    }
    if (lane_of() == 0) info[NUMBER(r, p)] = found;
}
