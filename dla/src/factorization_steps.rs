//! Task order of a factorization by block columns.

/// A step of a factorization by block columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FactorizationStep {
    /// Factors block column k.
    Panel(usize),
    /// Updates block column j > k by block column k.
    Update(usize, usize),
}

/// Returns the steps that factor the first `panels` of nt block columns and update the columns to their right, in a
/// valid serial order.
///
/// Among ready tasks of equal priority, the one that was inserted first runs first, so this order affects performance.
/// Without devices, the updates by one panel are consecutive, which reuses its packed reflectors or multipliers. With
/// devices, that order would delay the next panels behind updates of far columns; a left-looking order would leave only
/// small updates of the last columns at the end. So with devices, steps are ordered by k + j.
pub(crate) fn factorization_steps(
    panels: usize,
    nt: usize,
    has_devices: bool,
) -> impl Iterator<Item = FactorizationStep> {
    let (sums, rest) = if has_devices { (panels + nt, panels) } else { (0, 0) };
    let by_sum = (0..sums).flat_map(move |sum| {
        let updates = (sum + 1).saturating_sub(nt)..panels.min(sum.div_ceil(2));
        let panel = (sum % 2 == 0 && sum / 2 < panels.min(nt)).then_some(FactorizationStep::Panel(sum / 2));
        updates.rev().map(move |k| FactorizationStep::Update(k, sum - k)).chain(panel)
    });
    let by_panel = (rest..panels.min(nt)).flat_map(move |k| {
        let updates = (k + 1..nt).map(move |j| FactorizationStep::Update(k, j));
        std::iter::once(FactorizationStep::Panel(k)).chain(updates)
    });
    by_sum.chain(by_panel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_complete_and_ordered() {
        let shapes = [(0, 0), (0, 3), (1, 1), (1, 4), (2, 7), (5, 5), (7, 7), (4, 9)];
        for ((panels, nt), has_devices) in shapes.into_iter().flat_map(|shape| [(shape, false), (shape, true)]) {
            let all: Vec<FactorizationStep> = factorization_steps(panels, nt, has_devices).collect();
            let at = |step: FactorizationStep| all.iter().position(|&it| it == step);
            let updates: usize = (0..panels).map(|k| nt - k - 1).sum();
            assert_eq!(all.len(), panels + updates, "{panels} of {nt}: {all:?}");
            for k in 0..panels {
                let panel = at(FactorizationStep::Panel(k)).expect("it is there");
                assert!(k == 0 || at(FactorizationStep::Update(k - 1, k)) < Some(panel));
                for j in k + 1..nt {
                    let update = at(FactorizationStep::Update(k, j)).expect("it is there");
                    assert!(panel < update && (k == 0 || at(FactorizationStep::Update(k - 1, j)) < Some(update)));
                }
            }
        }
    }
}
