//! The reader of Chrome's trace event format: streaming, in bounded memory, with the position of each fault.
