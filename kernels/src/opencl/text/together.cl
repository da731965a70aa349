// What the groups of a launch do together, and the work-items of a warp. Groups may wait for each other only where they
// are sure to run at the same time: on GPUs by NVIDIA, if there are no more groups than
// `DeviceClass::concurrent_groups`. OpenCL C 1.2 has neither fences for a whole device nor exchanges within a warp, so
// these are inline PTX. Required definition: LANES, a multiple of WARP.

#define WARP 32
#define WARPS (LANES / WARP)

// Counts an arrival. Whoever reads the count afterwards also sees what the group has written before.
inline void count_arrival(__global int *arrived) {
    asm volatile("red.release.gpu.global.add.s32 [%0], 1;" : : "l"((ulong)arrived) : "memory");
}
inline int arrivals(__global int *arrived) {
    int count;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(count) : "l"((ulong)arrived) : "memory");
    return count;
}

// A barrier for all groups has two halves, and a group may work between them. After `wait_for_all` it sees what all
// groups wrote before they called `arrive`. `count` is the number of arrivals that it waits for, from zero on.
inline void arrive(__global int *arrived) {
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0) count_arrival(arrived);
}
inline void wait_for_all(__global int *arrived, int count) {
    if (get_local_id(0) == 0)
        while (arrivals(arrived) < count) {
        }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

// x of the work-item of the warp whose number differs in the bits `by`, and of the one with the number `from`. All
// work-items of the warp call these together.
inline int exchanged_int(int x, int by) {
    int other;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(other) : "r"(x), "r"(by));
    return other;
}
inline int broadcast_int(int x, int from) {
    int other;
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(other) : "r"(x), "r"(from));
    return other;
}
#if DOUBLE
#define IN_WARP(name)                                                                                                  \
    inline real name##_real(real x, int which) {                                                                       \
        const long bits = as_long(x);                                                                                  \
        const int low = name##_int((int)bits, which), high = name##_int((int)(bits >> 32), which);                     \
        return as_double((long)high << 32 | (long)(uint)low);                                                          \
    }
#else
#define IN_WARP(name)                                                                                                  \
    inline real name##_real(real x, int which) { return as_float(name##_int(as_int(x), which)); }
#endif
IN_WARP(exchanged)
IN_WARP(broadcast)
#if COMPLEX
inline elem exchanged(elem x, int by) { return make(exchanged_real(RE(x), by), exchanged_real(IM(x), by)); }
inline elem broadcast(elem x, int from) { return make(broadcast_real(RE(x), from), broadcast_real(IM(x), from)); }
#else
#define exchanged exchanged_real
#define broadcast broadcast_real
#endif
