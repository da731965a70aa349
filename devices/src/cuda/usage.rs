//! Parses the compiler's log for the registers and memory that kernels use.

/// The resources that one kernel uses, as `ptxas` reports them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The kernel's linker name.
    pub kernel: String,
    /// Registers per thread.
    pub registers: u32,
    /// Stack per thread in bytes.
    pub stack_bytes: u32,
    /// Bytes that are stored because of missing registers.
    pub spill_store_bytes: u32,
    /// Bytes that are loaded because of missing registers.
    pub spill_load_bytes: u32,
    /// Static shared memory per block in bytes.
    pub shared_bytes: u32,
}

/// Returns the kernels in a log of [`compile`](super::compile), in its order.
///
/// # Examples
/// ```
/// # mod superscalar { pub use superscalar_devices as devices; pub use superscalar_runtime::*; }
/// use superscalar::devices::cuda::usage;
///
/// let log = "ptxas info    : Compiling entry function 'add' for 'sm_90'\n\
///            ptxas info    : Function properties for add\n\
///            \x20   0 bytes stack frame, 8 bytes spill stores, 16 bytes spill loads\n\
///            ptxas info    : Used 32 registers, used 1 barriers, 2048 bytes smem";
/// let add = &usage(log)[0];
/// assert_eq!((add.registers, add.spill_store_bytes, add.spill_load_bytes, add.shared_bytes), (32, 8, 16, 2048));
/// ```
#[must_use]
pub fn usage(log: &str) -> Vec<Usage> {
    let mut kernels: Vec<Usage> = Vec::new();
    for line in log.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            let kernel = rest.split('\'').next().unwrap_or_default().to_owned();
            kernels.push(Usage { kernel, ..Usage::default() });
        }
        let Some(kernel) = kernels.last_mut() else { continue };
        let set = |place: &mut u32, words: &str| {
            if let Some(number) = number_before(line, words) {
                *place = number;
            }
        };
        set(&mut kernel.registers, " registers");
        set(&mut kernel.stack_bytes, " bytes stack frame");
        set(&mut kernel.spill_store_bytes, " bytes spill stores");
        set(&mut kernel.spill_load_bytes, " bytes spill loads");
        set(&mut kernel.shared_bytes, " bytes smem");
    }
    kernels
}

fn number_before(line: &str, words: &str) -> Option<u32> {
    line.split_once(words)?.0.rsplit([' ', ',']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_of_a_log_is_found() {
        let log = "
ptxas info    : 0 bytes gmem, 24 bytes cmem[4]
ptxas info    : Compiling entry function 'first' for 'sm_90'
ptxas info    : Function properties for first
    16 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 255 registers, used 0 barriers, 16 bytes cumulative stack size
ptxas info    : Compile time = 3.1 ms
program.cu(7): warning: variable \"x\" was declared but never referenced
ptxas info    : Compiling entry function 'second' for 'sm_90'
ptxas info    : Function properties for second
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 18 registers, used 1 barriers, 4096 bytes smem";
        let [first, second] = &usage(log)[..] else { panic!("not two") };
        assert_eq!((first.kernel.as_str(), first.registers, first.stack_bytes), ("first", 255, 16));
        assert_eq!((first.spill_store_bytes, first.spill_load_bytes), (4, 12));
        assert_eq!((second.kernel.as_str(), second.registers, second.shared_bytes), ("second", 18, 4096));
        assert_eq!(second.spill_store_bytes + second.spill_load_bytes + second.stack_bytes, 0);
        assert_eq!(usage("nothing of the sort, 8 registers"), []);
    }
}
