// Required definition: LANES, the work-items of a group.

// Y := the sum of so many parts, for Y of so many elements without gaps.
__kernel GROUP(LANES) void add_parts(__global real *restrict heap, ulong parts, int count, ulong y_at, int elements) {
    const int e = get_global_id(0);
    if (e >= elements) return;
    __global const elem *part = (__global const elem *)heap + parts + e;
    elem sum = make(0, 0);
#pragma unroll 8
    for (int b = 0; b < count; ++b) sum += part[(long)b * elements];
    ((__global elem *)heap)[y_at + e] = sum;
}
