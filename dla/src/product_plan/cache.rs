//! Plans that are kept, for products of the same shapes, places and devices.

use super::{Fabric, PlannedProduct, ProductPlan};
use std::sync::{Arc, Mutex, PoisonError};

/// The number of plans that are kept: the ones used last.
const PLANS_MAX: usize = 32;
/// A plan is used again while no rate has changed by more than this factor, because measured rates vary from run to
/// run.
pub(super) const RATE_RATIO_MAX: f64 = 1.5;

/// What a plan was made for.
struct KeptPlan {
    product: PlannedProduct,
    fabric: Fabric,
    /// The given tiles, if they are.
    tile: Option<[usize; 3]>,
    plan: Option<Arc<ProductPlan>>,
}

/// The plans that were used last, the latest one at the end.
static PLANS: Mutex<Vec<KeptPlan>> = Mutex::new(Vec::new());

/// Returns the plan of a product, with these tiles if they are given. It is made if none is kept.
pub(crate) fn plan_of(product: PlannedProduct, fabric: Fabric, tile: Option<[usize; 3]>) -> Option<Arc<ProductPlan>> {
    let plans = || PLANS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(plan) = found(&mut plans(), &product, &fabric, tile) {
        return plan;
    }
    // Two threads may make the same plan at once; the lock is not held meanwhile.
    let plan = match tile {
        Some(tile) => ProductPlan::with_tiles(&product, &fabric, tile),
        None => ProductPlan::of(&product, &fabric),
    };
    let plan = plan.map(Arc::new);
    let mut plans = plans();
    if plans.len() == PLANS_MAX {
        plans.remove(0);
    }
    plans.push(KeptPlan { product, fabric, tile, plan: plan.clone() });
    plan
}

/// Returns the plan of this product, and makes it the latest one.
fn found(
    plans: &mut Vec<KeptPlan>,
    product: &PlannedProduct,
    fabric: &Fabric,
    tile: Option<[usize; 3]>,
) -> Option<Option<Arc<ProductPlan>>> {
    let is_it = |kept: &KeptPlan| kept.tile == tile && is_like(&kept.product, product) && kept.fabric.is_like(fabric);
    // The latest one: several may be for rates that are like these.
    let at = plans.iter().rposition(is_it)?;
    let kept = plans.remove(at);
    let plan = kept.plan.clone();
    plans.push(kept);
    Some(plan)
}

/// Returns whether two products differ at most a little in the devices' rates.
fn is_like(a: &PlannedProduct, b: &PlannedProduct) -> bool {
    /// Takes the rates apart from the rest.
    fn parts(product: &PlannedProduct) -> (&[f64], impl PartialEq) {
        let PlannedProduct {
            shape,
            element_bytes,
            homes,
            is_transposed: transposed,
            reads_c,
            flops_per_s: rates,
            operations,
            latency_ns,
            memory_bytes_per_s: memory_rate,
            room_bytes: room,
            sums,
            features,
        } = product;
        let (machine, wishes) = ((latency_ns, memory_rate, room), (sums, features));
        (rates, (shape, element_bytes, homes, transposed, reads_c, operations, machine, wishes))
    }
    let ((rates, rest), (others, other_rest)) = (parts(a), parts(b));
    rest == other_rest
        && rates.len() == others.len()
        && rates.iter().zip(others).all(|(&a, &b)| are_alike(a, b, RATE_RATIO_MAX))
}

/// Returns whether two rates differ by no more than this factor. Unknown ones, which are zero, are equal to each other.
pub(super) fn are_alike(a: f64, b: f64, ratio: f64) -> bool {
    a <= ratio * b && b <= ratio * a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::PlanFeatures;
    use crate::product_plan::{Homes, ProductSums, tests::four};

    #[test]
    fn plans_are_used_again_for_the_same_product_only() {
        let product = |rate: f64, operations: f64| PlannedProduct {
            shape: [900, 800, 700],
            element_bytes: [8; 4],
            homes: [0, 1, 2].map(Homes::One),
            is_transposed: [false; 2],
            reads_c: true,
            flops_per_s: vec![rate; 4],
            operations,
            latency_ns: 5e3,
            memory_bytes_per_s: 3e12,
            room_bytes: 1 << 37,
            sums: ProductSums::IfLate,
            features: PlanFeatures::default(),
        };
        let of = |product: PlannedProduct| plan_of(product, four(), Some([256; 3])).expect("a grid of four devices");
        let first = of(product(1e12, 2.0));
        assert!(Arc::ptr_eq(&first, &of(product(1.4e12, 2.0))), "the rate was measured again");
        assert!(!Arc::ptr_eq(&first, &of(product(1e13, 2.0))), "other devices");
        let complex = of(product(1e12, 8.0));
        assert!(complex.predicted_ns() > first.predicted_ns(), "elements of the same size, but complex");
        for number in 0..2 * PLANS_MAX {
            of(PlannedProduct { shape: [900, 800, 700 + number], ..product(1e12, 2.0) });
        }
        assert!(PLANS.lock().unwrap_or_else(PoisonError::into_inner).len() <= PLANS_MAX);
        assert_eq!(*of(product(1e12, 2.0)), *first, "it is made again");
    }
}
