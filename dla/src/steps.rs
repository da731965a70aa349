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
/// Of tasks that are ready and as urgent as each other, the one that was inserted first is taken. Cores have each panel's updates together, so that its
/// reflectors or multipliers, once packed, serve all of them. Devices would let the next panels wait for columns far behind, which are needed
/// late. If each column had all its updates before the next one, then in the end only those of the last columns would be left, too small
/// to keep a device busy. So there a step comes the sooner the earlier its panel *and* the nearer its column are: by the sum of k and j.
pub(crate) fn steps(panels: usize, nt: usize, has_devices: bool) -> impl Iterator<Item = Step> {
    let (sums, rest) = if has_devices { (panels + nt, panels) } else { (0, 0) };
    let by_sum = (0..sums).flat_map(move |sum| {
        let updates = (sum + 1).saturating_sub(nt)..panels.min(sum.div_ceil(2));
        let panel = (sum % 2 == 0 && sum / 2 < panels.min(nt)).then_some(Step::Panel(sum / 2));
        updates.rev().map(move |k| Step::Update(k, sum - k)).chain(panel)
    });
    let by_panel = (rest..panels.min(nt)).flat_map(move |k| {
        let updates = (k + 1..nt).map(move |j| Step::Update(k, j));
        std::iter::once(Step::Panel(k)).chain(updates)
    });
    by_sum.chain(by_panel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_comes_once_and_after_those_that_it_needs() {
        let shapes = [(0, 0), (0, 3), (1, 1), (1, 4), (2, 7), (5, 5), (7, 7), (4, 9)];
        for ((panels, nt), has_devices) in shapes.into_iter().flat_map(|shape| [(shape, false), (shape, true)]) {
            let all: Vec<Step> = steps(panels, nt, has_devices).collect();
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
