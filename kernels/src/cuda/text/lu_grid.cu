// Factors in the device's memory, for more rows than registers hold. Rows are interchanged afterwards.
KERNEL(THREADS, 1) getrf_in_place GETRF { FACTOR(1, false); }
