//! Addresses of the elements of a stored matrix: dense, band or packed.

/// The addresses of a matrix's elements. Those of a column are adjacent; column j + 1 begins `step + bend j` elements
/// after column j.
///
/// In a dense matrix `step` is the leading dimension. In a band each column begins one row later, so `step` is one
/// less. The columns of a packed triangle grow or shrink by one each: `bend` is 1 or -1.
pub(crate) struct Stored<T> {
    ptr: *mut T,
    step: isize,
    bend: isize,
}

impl<T> Clone for Stored<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Stored<T> {}

impl<T> Stored<T> {
    /// Returns the addresses of a dense matrix.
    pub fn dense(ptr: *mut T, ld: usize) -> Self {
        Self { ptr, step: ld as isize, bend: 0 }
    }

    /// Returns those of a band matrix whose diagonal is row `ku` of the array at `ptr`.
    pub fn band(ptr: *mut T, ld: usize, ku: usize) -> Self {
        Self { ptr: ptr.wrapping_add(ku), step: (ld as isize).wrapping_sub(1), bend: 0 }
    }

    /// Returns those of a packed upper triangle.
    pub fn packed_upper(ptr: *mut T) -> Self {
        Self { ptr, step: 1, bend: 1 }
    }

    /// Returns those of a packed lower triangle of order n.
    pub fn packed_lower(ptr: *mut T, n: usize) -> Self {
        Self { ptr, step: n as isize - 1, bend: -1 }
    }

    /// Returns the address of element (i, j).
    #[inline(always)]
    pub fn at(self, i: usize, j: usize) -> *mut T {
        let (i, j) = (i as isize, j as isize);
        let bent = if self.bend == 0 { 0 } else { self.bend * (j * (j - 1) / 2) };
        self.ptr.wrapping_offset(j.wrapping_mul(self.step).wrapping_add(bent + i))
    }

    /// Returns the submatrix that begins at element (i, j).
    #[inline(always)]
    pub fn from(self, i: usize, j: usize) -> Self {
        Self { ptr: self.at(i, j), step: self.step + self.bend * j as isize, bend: self.bend }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_columns_are_adjacent() {
        let n = 7;
        let mut data = [0; 28];
        let base = data.as_mut_ptr();
        let (upper, lower) = (Stored::packed_upper(base), Stored::packed_lower(base, n));
        let mut next = (base, base);
        for j in 0..n {
            assert_eq!((upper.at(0, j), lower.at(j, j)), next);
            for (i, k) in [(0, j), (j, 3)] {
                assert_eq!(upper.from(i, j).at(2, k), upper.at(i + 2, j + k));
                assert_eq!(lower.from(i, j).at(2, k), lower.at(i + 2, j + k));
            }
            next = (next.0.wrapping_add(j + 1), next.1.wrapping_add(n - j));
        }
    }
}
