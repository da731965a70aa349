// How the blocks of a grid that run at once tell each other something through the device's memory, in turns: each sends a message, and goes
// on when it has those of all. Defined before: WORDS of mail: a number, and a row; PATIENCE, cycles of the processor's clock that a block
// waits for the others at most.
//
// Half of each word is the turn, so a word says itself whether it is there: nobody counts arrivals at one place, and nothing else has to be
// read. There are some PLACES for messages, by turns. With two of them, all threads of a block are past what they do with a turn's messages
// before it sends the next: a block that writes that of turn t + 2 has had those of turn t + 1 of all others. With three, messages are
// still read while the next is sent, but no longer. The mail is zero at first, and turns count from one.

__device__ inline word stamped(half what, half turn) { return (word)what << 32 | turn; }

// Sends a number and a row. What this thread has written before is there for who reads it behind `await`.
__device__ inline void send(volatile word *to, half turn, double value, int row) {
    const word bits = (word)__double_as_longlong(value);
    __threadfence();
    to[0] = stamped((half)(bits >> 32), turn);
    to[1] = stamped((half)bits, turn);
    to[2] = stamped((half)row, turn);
}

// Awaits a block's mail; whether it came. A block that never runs must not keep the device for ever.
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
    // The largest of each warp, by turns, and one message of another block for each place.
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
    // The place of this turn, and that of the last.
    int at, last;

    // `mail` has PLACES * BLOCKS * WORDS words, zeros before the first turn, and `room` PLACES * BLOCKS messages.
    __device__ exchange(kept &memory, word *mail, message<COUNT> *room, half turn)
        : memory(memory), mail(mail), room(room), turn(turn), at(0), last(0) {}

    // One warp sends the block's message of so many pieces.
    __device__ void post(const message<COUNT> &what, int pieces, int) {
        const piece *from = (const piece *)&what;
        piece *to = (piece *)&room[at * BLOCKS + blockIdx.x];
        for (int p = lane_of(); p < pieces; p += 32) to[p] = from[p];
        __threadfence();
        __syncwarp();
        if (lane_of() == 0) send(mail + (at * BLOCKS + blockIdx.x) * WORDS, turn, what.size, what.row);
        // Nobody of the warp waits before its first lane has sent.
        __syncwarp();
    }

    // All threads await the messages of all blocks. Returns the number of the block whose size is the largest, and row the upper one, or -1 if
    // one does not answer.
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
        return memory.blocks[odd][largest_lane(has ? (real)memory.sizes[odd][warp] : 0, has ? memory.rows[odd][warp] : NOBODY)];
    }

    // The message of a block, for all threads, of so many pieces.
    __device__ const message<COUNT> &whole(int block, int pieces) {
        const volatile word *from = (const volatile word *)&room[last * BLOCKS + block];
        word *to = (word *)&memory.whole[last];
        for (int p = threadIdx.x; p < 2 * pieces; p += THREADS) to[p] = from[p];
        __syncthreads();
        return memory.whole[last];
    }

    // One element of it.
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

// What is there before a call's first turn.
KERNEL(THREADS) clear(word *mail, int count) {
    for (int i = threadIdx.x; i < count; i += THREADS) mail[i] = 0;
}
