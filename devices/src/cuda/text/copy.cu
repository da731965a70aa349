// Copies columns of a few kilobytes from one heap to another. A column is `per_column` pieces of 16, 8, 4 or 1 bytes.
// Each thread moves one of the `count` pieces of all columns, so that all are read at once. Strides are in bytes.

typedef unsigned long long place;

template <typename Piece>
__device__ inline void move(const char *from, char *to) {
    *(Piece *)to = *(const Piece *)from;
}

extern "C" __global__ void copy(const char *from, place from_stride, char *to, place to_stride, unsigned per_column,
                                unsigned count, unsigned piece_bytes) {
    const unsigned piece = blockIdx.x * blockDim.x + threadIdx.x;
    if (piece >= count) return;
    const place column = piece / per_column, row = (place)(piece % per_column) * piece_bytes;
    from += column * from_stride + row;
    to += column * to_stride + row;
    switch (piece_bytes) {
    case 16: return move<uint4>(from, to);
    case 8: return move<uint2>(from, to);
    case 4: return move<unsigned>(from, to);
    default: return move<char>(from, to);
    }
}
