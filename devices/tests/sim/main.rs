//! Simulated devices, driven through the runtime's traits as the runtime drives them.

mod copies;
mod driving;
mod ends;
mod faults;
mod memory;
mod order;
mod text;
mod time;
