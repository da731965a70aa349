//! Drivers: what makes a device of an accelerator for the runtime. They know no algorithm.
