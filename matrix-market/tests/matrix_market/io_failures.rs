//! Readers and writers that fail after some bytes.

use std::io::{self, BufReader, Read, Write};

use superscalar_matrix_market::{self as matrix_market, Market, Shape, Symmetry, Values};

const BANNER: &str = "%%MatrixMarket matrix coordinate real general\n";

/// A reader and writer that fails after `bytes_left` bytes.
struct FailingStream {
    bytes_left: usize,
}

impl FailingStream {
    fn spend(&mut self, bytes: usize) -> io::Result<usize> {
        if self.bytes_left == 0 {
            return Err(io::Error::other("unplugged"));
        }
        let spent = bytes.min(self.bytes_left);
        self.bytes_left -= spent;
        Ok(spent)
    }
}

impl Read for FailingStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.spend(buffer.len())?;
        buffer[..read].fill(b'\n');
        Ok(read)
    }
}

impl Write for FailingStream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.spend(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn io_errors_are_returned() {
    let broken = BANNER.as_bytes().chain(FailingStream { bytes_left: 2 });
    let error = matrix_market::read(BufReader::new(broken)).expect_err("a broken reader");
    assert_eq!(error.to_string(), "line 4: reading failed: unplugged");
    assert!(std::error::Error::source(&error).is_some());

    let values = Values::Integer(vec![7; 100_000]);
    let market = Market::array(Symmetry::General, Shape { m: 1000, n: 100 }, values).expect("a valid matrix");
    for bytes_left in [0, 1, 40, 65_536, 199_000] {
        let error = matrix_market::write(&market, FailingStream { bytes_left }).expect_err("a broken writer");
        assert_eq!(error.to_string(), "writing failed: unplugged");
        assert_eq!((error.line(), error.column()), (None, None));
    }
}
