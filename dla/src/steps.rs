//! The order of a factorization by block columns.

/// A step of a factorization by block columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Block column k is factored.
    Panel(usize),
    /// Block column k updates block column j behind it.
    Update(usize, usize),
}

/// The steps that factor the first so many of nt block columns and update what is behind them, as a serial program could take them.
///
/// Of tasks that are ready and as urgent as each other, devices take the one that was inserted first. If all updates by a panel came
/// before those by the next, then the next panels would wait until columns far behind, which are needed late, have had the updates that
/// are due. If each column had all its updates before the next one, then in the end only those of the last columns would be left, too small
/// to keep a device busy. So a step comes the sooner the earlier its panel *and* the nearer its column are: by the sum of k and j.
pub(crate) fn steps(panels: usize, nt: usize) -> impl Iterator<Item = Step> {
    (0..panels + nt).flat_map(move |sum| {
        let updates = (sum + 1).saturating_sub(nt)..panels.min(sum.div_ceil(2));
        let panel = (sum % 2 == 0 && sum / 2 < panels.min(nt)).then_some(Step::Panel(sum / 2));
        updates.rev().map(move |k| Step::Update(k, sum - k)).chain(panel)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_comes_once_and_after_those_that_it_needs() {
        for (panels, nt) in [(0, 0), (0, 3), (1, 1), (1, 4), (2, 7), (5, 5), (7, 7), (4, 9)] {
            let all: Vec<Step> = steps(panels, nt).collect();
            let at = |step: Step| all.iter().position(|&it| it == step);
            let updates: usize = (0..panels).map(|k| nt - k - 1).sum();
            assert_eq!(all.len(), panels + updates, "{panels} of {nt}: {all:?}");
            for k in 0..panels {
                let panel = at(Step::Panel(k)).expect("it is there");
                assert!(k == 0 || at(Step::Update(k - 1, k)) < Some(panel));
                for j in k + 1..nt {
                    let update = at(Step::Update(k, j)).expect("it is there");
                    assert!(panel < update && (k == 0 || at(Step::Update(k - 1, j)) < Some(update)));
                }
            }
        }
    }
}
