// Message exchange between the blocks of a grid that run at once, through the device's memory, in turns. Each block
// sends a message, and continues when it has the messages of all. Required definitions: WORDS of mail, for a number and
// a row; PATIENCE, the most cycles of the processor's clock that a block waits for the others.
//
// Half of each word is the turn, so a word itself shows whether it has arrived: there is no shared counter, and nothing
// else has to be read. Messages are stored in PLACES slots, used in rotation. With two slots, all threads of a block
// must have finished with a turn's messages before the block sends the next: a block that writes the message of turn t
// + 2 has received those of turn t + 1 of all others. With three slots, messages may still be read while the next one
// is sent. The mail is zero at first, and turns count from one.

__device__ inline word stamped(half what, half turn) { return (word)what << 32 | turn; }

// Sends a number and a row. Everything that this thread has written before is visible to a thread that reads it after
// `await`.
__device__ inline void send(volatile word *to, half turn, double value, int row) {
    const word bits = (word)__double_as_longlong(value);
    __threadfence();
    to[0] = stamped((half)(bits >> 32), turn);
    to[1] = stamped((half)bits, turn);
    to[2] = stamped((half)row, turn);
}

// Waits for a block's mail. Returns false if it does not arrive, because a block that never runs must not block the
// device.
__device__ inline bool await(const volatile word *from, half turn, double *value, int *row) {
    const long long start = clock64();
    word got[WORDS];
    for (;;) {
        bool is_there = true;
        for (int k = 0; k < WORDS; ++k) {
            got[k] = from[k];
            is_there = is_there && (half)got[k] == turn;
        }
        if (is_there) break;
        if (clock64() - start > PATIENCE) return false;
    }
    __threadfence();
    *value = __longlong_as_double((long long)((got[0] >> 32) << 32 | got[1] >> 32));
    *row = (int)(half)(got[2] >> 32);
    return true;
}

template <int COUNT, int PLACES> struct exchange_memory {
    // The largest of each warp, for odd and even turns, and one message of another block for each slot.
    double sizes[2][WARPS];
    int rows[2][WARPS], blocks[2][WARPS];
    message<COUNT> whole[PLACES];
};

template <int COUNT, int PLACES> struct exchange {
    typedef exchange_memory<COUNT, PLACES> kept;
    kept &memory;
    word *mail;
    message<COUNT> *room;
    half turn;
    // The slot of this turn, and of the last turn.
    int at, last;

    // `mail` has PLACES * BLOCKS * WORDS words, zeros before the first turn, and `room` has PLACES * BLOCKS messages.
    __device__ exchange(kept &memory, word *mail, message<COUNT> *room, half turn)
        : memory(memory), mail(mail), room(room), turn(turn), at(0), last(0) {}

    // Sends `pieces` pieces of the block's message, by the first of the warps that call this.
    __device__ void post(const message<COUNT> &what, int pieces, int, int sender, int) {
        if (sender != 0) return;
        const piece *from = (const piece *)&what;
        piece *to = (piece *)&room[at * BLOCKS + blockIdx.x];
        for (int p = lane_of(); p < pieces; p += 32) to[p] = from[p];
        __threadfence();
        __syncwarp();
        if (lane_of() == 0) send(mail + (at * BLOCKS + blockIdx.x) * WORDS, turn, what.size, what.row);
        // No lane of the warp may wait before the first one has sent.
        __syncwarp();
    }

    // All threads wait for the messages of all blocks. Returns the block whose size is the largest, the one with the
    // upper row among equals, or -1 if a block does not answer.
    __device__ int collect() {
        double size = 0;
        int row = NOBODY;
        const bool is_one = threadIdx.x < gridDim.x;
        const bool is_silent = is_one && !await(mail + (at * BLOCKS + threadIdx.x) * WORDS, turn, &size, &row);
        const int lane = largest_lane((real)size, row), odd = turn & 1;
        if (lane_of() == lane) {
            memory.sizes[odd][warp_of()] = size;
            memory.rows[odd][warp_of()] = row;
            memory.blocks[odd][warp_of()] = threadIdx.x;
        }
        last = at;
        at = at + 1 == PLACES ? 0 : at + 1;
        ++turn;
        if (__syncthreads_or(is_silent)) return -1;
        const bool has = lane_of() < WARPS;
        const int warp = has ? lane_of() : 0;
        return memory.blocks[odd][largest_lane(has ? (real)memory.sizes[odd][warp] : 0,
                                               has ? memory.rows[odd][warp] : NOBODY)];
    }

    // Returns `pieces` pieces of a block's message to all threads.
    __device__ const message<COUNT> &whole(int block, int pieces) {
        const volatile word *from = (const volatile word *)&room[last * BLOCKS + block];
        word *to = (word *)&memory.whole[last];
        for (int p = threadIdx.x; p < 2 * pieces; p += THREADS) to[p] = from[p];
        __syncthreads();
        return memory.whole[last];
    }

    // Returns one element of a block's message.
    __device__ elem element(int block, int k) {
        const volatile real *from = (const volatile real *)&room[last * BLOCKS + block].elements[k];
#if COMPLEX
        const real x = from[0], y = from[1];
        return make(x, y);
#else
        return from[0];
#endif
    }
};

// Clears the mail before a call's first turn.
KERNEL(THREADS) clear(word *mail, int count) {
    for (int i = threadIdx.x; i < count; i += THREADS) mail[i] = 0;
}
