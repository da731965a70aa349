// Message exchange between the blocks of a cluster, in turns. Each block writes its message into the shared memory of
// all blocks, and continues when it has the messages of all. Arriving blocks are not counted: each block has a barrier
// in its shared memory for a turn, which counts the bytes that have arrived. Needs compute capability 9.0.
//
// Messages are stored in PLACES slots, used in rotation. With two slots, all threads of a block must have finished with
// a turn's messages before the block sends the next: a block that writes the messages of turn t + 2 has received all
// messages of turn t + 1. With three slots, messages may still be read while the next one is sent: a block that writes
// those of turn t + 3 has received all of turn t + 2, each of which was sent after all threads of its block had
// finished with turn t. For the same reason, the phase of a barrier is over before the first byte of its next phase
// arrives. Bytes may arrive before a block declares how many it expects, because the phase does not end before that. No
// block ends before it has received everything that is written into it. All blocks of a cluster run at once, so none
// waits forever.
#define CLUSTER_BLOCKS 16

__device__ inline unsigned shared_address(const void *at) { return (unsigned)__cvta_generic_to_shared(at); }

// Returns the address of the same variable in another block's shared memory.
__device__ inline unsigned address_in(unsigned at, int block) {
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(block));
    return there;
}

__device__ inline void start_barrier(unsigned barrier) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
}

__device__ inline void meet_all() {
    asm volatile("fence.mbarrier_init.release.cluster;\n\t"
                 "barrier.cluster.arrive.release.aligned;\n\t"
                 "barrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
}

__device__ inline void expect(unsigned barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}

__device__ inline void send_piece(unsigned to, piece what, unsigned barrier) {
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %2}, [%3];" ::"r"(to),
                 "l"(what.x), "l"(what.y), "r"(barrier)
                 : "memory");
}

__device__ inline bool is_complete(unsigned barrier, int phase) {
    int is;
    asm volatile("{\n\t.reg .pred p;\n\t"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.b32 %0, 1, 0, p;\n\t}"
                 : "=r"(is)
                 : "r"(barrier), "r"(phase)
                 : "memory");
    return is;
}

template <int COUNT, int PLACES> struct exchange_memory {
    message<COUNT> come[PLACES][CLUSTER_BLOCKS];
    word barriers[PLACES];
};

template <int COUNT, int PLACES> struct exchange {
    typedef exchange_memory<COUNT, PLACES> kept;
    kept &memory;
    // The slot of this turn, and of the last turn; whether the slot's barrier is in an odd phase.
    int at, last, phase;

    // All threads of all blocks must call this.
    __device__ exchange(kept &memory, word *, message<COUNT> *, half) : memory(memory), at(0), last(0), phase(0) {
        if (threadIdx.x == 0)
            for (int k = 0; k < PLACES; ++k) start_barrier(shared_address(&memory.barriers[k]));
        __syncthreads();
        meet_all();
    }

    // Sends `pieces` pieces of the block's message, and declares how many pieces arrive from all blocks. The receivers
    // are divided among `senders` warps; this is number `sender`.
    __device__ void post(const message<COUNT> &what, int pieces, int pieces_of_all, int sender, int senders) {
        const int blocks = gridDim.x;
        const unsigned barrier = shared_address(&memory.barriers[at]),
                       to = shared_address(&memory.come[at][blockIdx.x]);
        if (sender == 0 && lane_of() == 0) expect(barrier, pieces_of_all * (int)sizeof(piece));
        for (int p = lane_of(); p < pieces; p += 32) {
            const piece one = ((const piece *)&what)[p];
#pragma unroll 2
            for (int k = sender; k < blocks; k += senders) {
                // Blocks start with different receivers, to spread the traffic. The number of blocks is a power of two.
                const unsigned there = address_in(to, (blockIdx.x + k) & (blocks - 1));
                send_piece(there + p * (int)sizeof(piece), one, there - to + barrier);
            }
        }
    }

    // All threads wait for the messages of all blocks. Returns the block whose size is the largest, the one with the
    // upper row among equals, or -1 if a block does not answer.
    __device__ int collect() {
        const unsigned barrier = shared_address(&memory.barriers[at]);
        while (!is_complete(barrier, phase)) {}
        last = at;
        at = at + 1 == PLACES ? 0 : at + 1;
        phase ^= at == 0;
        const bool is_one = lane_of() < gridDim.x;
        const message<COUNT> &one = memory.come[last][is_one ? lane_of() : 0];
        return largest_lane(is_one ? (real)one.size : 0, is_one ? one.row : NOBODY);
    }

    // Returns the message of a block to all threads.
    __device__ const message<COUNT> &whole(int block, int) { return memory.come[last][block]; }

    // Returns one element of a block's message.
    __device__ elem element(int block, int k) { return memory.come[last][block].elements[k]; }
};
