//! The graph as GraphViz text.

use crate::samples::*;
use superscalar_runtime::recording::*;

/// The first steps of a tiled Cholesky factorization.
fn cholesky() -> Recording {
    Recording {
        tasks: vec![
            task(0, "potrf", TileIndex::from(0)),
            task(1, "trsm", TileIndex::from([1, 0])),
            task(2, "syrk", TileIndex::from([1, 1, 0])),
            task(3, "potrf", TileIndex::from(1)),
            task(4, "say \"hi\"\\n", TileIndex::NONE),
        ],
        hazards: vec![
            hazard(0, 1, Hazard::RaW),
            hazard(1, 2, Hazard::RaW),
            hazard(0, 2, Hazard::WaR),
            hazard(2, 3, Hazard::WaW),
            hazard(2, 3, Hazard::RaW),
            hazard(3, 4, Hazard::WaW),
        ],
        ..Recording::default()
    }
}

#[test]
fn a_small_graph_is_printed_as_expected() -> Result<(), RecordingError> {
    let expected = r#"digraph tasks {
  node [shape=box, style="rounded,filled", fontname="Helvetica"];
  t0 [label="potrf (0)", fillcolor="0.580 0.350 0.950"];
  t1 [label="trsm (1, 0)", fillcolor="0.198 0.350 0.950"];
  t2 [label="syrk (1, 1, 0)", fillcolor="0.816 0.350 0.950"];
  t3 [label="potrf (1)", fillcolor="0.580 0.350 0.950"];
  t4 [label="say \"hi\"\\n", fillcolor="0.434 0.350 0.950"];
  t0 -> t1 [style=solid];
  t0 -> t2 [style=dashed];
  t1 -> t2 [style=solid];
  t2 -> t3 [style=solid, label="RaW, WaW"];
  t3 -> t4 [style=dotted];
}
"#;
    let dag = Dag::new(&cholesky())?;
    assert_eq!(Dot::new(&dag).to_string(), expected);
    let reduced = Dot::new(&dag.transitive_reduction()?).to_string();
    let without = expected.replace("  t0 -> t2 [style=dashed];\n", "");
    assert_eq!(reduced, without);
    Ok(())
}
