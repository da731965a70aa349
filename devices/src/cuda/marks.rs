//! The marks of works in a stream, and how many of these are over.

use super::stream::Mark;
use superscalar_runtime::DeviceError;

/// What stands for work in the stream: the mark behind it, and one before it if it is timed. Of work that has put nothing in, as it had nothing
/// to do, there is none: it is over when what is before it in the queue is.
#[derive(Debug, Default)]
pub(super) struct Marks {
    pub(super) begin: Option<Mark>,
    pub(super) end: Option<Mark>,
}

/// Marks that nothing is recorded behind. Besides those that are spare, whoever puts work in keeps some, to take them without the lock.
#[derive(Debug, Default)]
pub(super) struct Stock {
    pub(super) plain: Vec<Mark>,
    pub(super) timed: Vec<Mark>,
}

impl Stock {
    pub(super) fn keep(&mut self, Marks { begin, end }: Marks) {
        match begin {
            Some(begin) => self.timed.extend([Some(begin), end].into_iter().flatten()),
            None => self.plain.extend(end),
        }
    }
}

/// How many of works are over, at least, that end in order and the last of which has this index. About `left` of them probably are not.
///
/// Each question takes the driver half as long as a launch (measured on an H200: 1.3 microseconds). So the first one is about the last that may
/// be over, and the first yes is enough: of many short works most are over, and of long ones none or the oldest.
pub(super) fn over_among(
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

    /// What is found of works, the first `over` of which are over, and after how many questions.
    fn found(last: usize, left: usize, over: usize) -> (usize, usize) {
        let mut questions = 0;
        let found = over_among(last, left, |at| {
            questions += 1;
            Ok(at < over)
        });
        (found.expect("no driver fails"), questions)
    }

    #[test]
    fn what_is_over_is_found_and_no_more() {
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
    fn one_question_is_enough_where_all_goes_on_as_before() {
        // Short works: all over. Long ones: nothing is, or the oldest.
        assert_eq!(found(15, 0, 16), (16, 1));
        assert_eq!(found(15, 15, 0), (0, 1));
        assert_eq!(found(15, 15, 1), (1, 1));
        assert_eq!(found(15, 1, 15), (15, 1));
    }

    #[test]
    fn a_driver_that_fails_is_not_asked_again() {
        let mut questions = 0;
        let failed = over_among(15, 0, |_| {
            questions += 1;
            Err(DeviceError::new("no answer"))
        });
        assert!(failed.is_err() && questions == 1);
    }
}
