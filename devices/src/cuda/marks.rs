//! The marks of work in a stream, and how to count the work that is over.

use super::stream::Mark;
use superscalar_runtime::DeviceError;

/// The marks of a piece of work: one behind it, and one before it if it is timed. Work that has put nothing into the
/// stream has none; it is over when the work before it in the queue is.
#[derive(Debug, Default)]
pub(super) struct WorkMarks {
    pub(super) begin: Option<Mark>,
    pub(super) end: Option<Mark>,
}

/// Marks that are free for reuse. Besides those of the queue, each inserter keeps some, to take them without the lock.
#[derive(Debug, Default)]
pub(super) struct SpareMarks {
    pub(super) plain: Vec<Mark>,
    pub(super) timed: Vec<Mark>,
}

impl SpareMarks {
    pub(super) fn keep(&mut self, WorkMarks { begin, end }: WorkMarks) {
        match begin {
            Some(begin) => self.timed.extend([Some(begin), end].into_iter().flatten()),
            None => self.plain.extend(end),
        }
    }
}

/// Returns a lower bound of how many pieces of work are over. They end in order, and `last` is the index of the last
/// one. The caller expects that about `left` are not over.
///
/// A query of the driver takes half as long as a launch. The first query is therefore for the last piece of work that
/// is expected to be over, and the search stops at the first one that is: of many short pieces most are over, of long
/// ones none or the oldest.
pub(super) fn count_over(
    last: usize,
    left: usize,
    mut is_over: impl FnMut(usize) -> Result<bool, DeviceError>,
) -> Result<usize, DeviceError> {
    let (mut asked, mut step) = (last.saturating_sub(left), 1);
    while !is_over(asked)? {
        if asked == 0 {
            return Ok(0);
        }
        (asked, step) = (asked.saturating_sub(step), 2 * step);
    }
    Ok(asked + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number found, and the number of queries, if the first `over` pieces are over.
    fn found(last: usize, left: usize, over: usize) -> (usize, usize) {
        let mut questions = 0;
        let found = count_over(last, left, |at| {
            questions += 1;
            Ok(at < over)
        });
        (found.expect("no driver fails"), questions)
    }

    #[test]
    fn over_count_is_a_lower_bound() {
        for last in 0..40 {
            for left in 0..45 {
                for over in 0..=last + 1 {
                    let (found, questions) = found(last, left, over);
                    assert!(found <= over && (found > 0) == (over > 0), "{found} of {over}");
                    assert!(questions <= 8, "{questions} questions");
                }
            }
        }
    }

    #[test]
    fn one_query_suffices_in_steady_state() {
        // Short pieces of work: all are over. Long ones: none is, or the oldest.
        assert_eq!(found(15, 0, 16), (16, 1));
        assert_eq!(found(15, 15, 0), (0, 1));
        assert_eq!(found(15, 15, 1), (1, 1));
        assert_eq!(found(15, 1, 15), (15, 1));
    }

    #[test]
    fn failed_query_is_not_repeated() {
        let mut questions = 0;
        let failed = count_over(15, 0, |_| {
            questions += 1;
            Err(DeviceError::new("no answer"))
        });
        assert!(failed.is_err() && questions == 1);
    }
}
