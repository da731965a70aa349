// How blocks that run at once tell each other something, in turns: each sends a message, and goes on when it has those of all. Defined before:
// BLOCKS, the most blocks; WORDS, those of a message: a number, and a row; WIDTH, the most columns of a factorization; THREADS, no fewer than these; PATIENCE, cycles of the processor's
// clock that a block waits for the others at most.
//
// Half of each word is the turn, so a word says itself whether it is there: nobody counts arrivals at one place, and nothing else has to be
// read. There are two messages of each block, by turns: who sends the next but one has had the next one of all others, who by then had
// read this one. The mail is zero at first, and turns count from one.
typedef unsigned long long word;
typedef unsigned int half;

#define WARPS (THREADS / 32)
#define ALL 0xffffffffu
// Columns of a row that a thread changes at once.
#define AT_ONCE 8

__device__ inline volatile word *mail_of(word *mail, half turn, int block) {
    return mail + ((turn & 1) * BLOCKS + block) * WORDS;
}

__device__ inline word stamped(half what, half turn) { return (word)what << 32 | turn; }

// Sends a number and a row. What this thread has written before is there for who reads it behind `await`.
__device__ inline void send(word *mail, half turn, double value, int row) {
    const word bits = (word)__double_as_longlong(value);
    volatile word *to = mail_of(mail, turn, blockIdx.x);
    __threadfence();
    to[0] = stamped((half)(bits >> 32), turn);
    to[1] = stamped((half)bits, turn);
    to[2] = stamped((half)row, turn);
}

// Awaits the message of a block; whether it came. A block that never runs must not keep the device for ever.
__device__ inline bool await(word *mail, half turn, int block, double *value, int *row) {
    const volatile word *from = mail_of(mail, turn, block);
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

// An element that another block has written.
__device__ inline elem fetched(const elem *from) {
#if COMPLEX
    const volatile real *parts = (const volatile real *)from;
    const real x = parts[0], y = parts[1];
    return make(x, y);
#else
    return *(const volatile elem *)from;
#endif
}

// What the lane so many places further on has.
__device__ inline elem from_below(elem x, int step) {
#if COMPLEX
    return make(__shfl_down_sync(ALL, re(x), step), __shfl_down_sync(ALL, im(x), step));
#else
    return __shfl_down_sync(ALL, x, step);
#endif
}

// What is there before a call's first turn.
KERNEL(THREADS) clear(word *mail, int count) {
    for (int i = threadIdx.x; i < count; i += THREADS) mail[i] = 0;
}
