// Factors in the device's memory, for more rows than registers hold.
KERNEL(THREADS, 1) geqrf_in_place GEQRF { FACTOR(1, false); }
