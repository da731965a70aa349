//! What runs inside one task: tile kernels over strided views, in four precisions.
