// A barrier for all work-groups of a launch, on devices where they are sure to run at the same time: GPUs by NVIDIA, if
// there are no more groups than `DeviceClass::concurrent_groups`. OpenCL C 1.2 has no fence for a whole device, so this
// is inline PTX.

// Returns when `count` groups have arrived in all. Everything that they have written before is visible then.
inline void all_together(volatile __global int *arrived, int count) {
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        asm volatile("fence.acq_rel.gpu;" : : : "memory");
        atomic_inc(arrived);
        while (*arrived < count) {
        }
        asm volatile("fence.acq_rel.gpu;" : : : "memory");
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}
