//! Several files made one.
