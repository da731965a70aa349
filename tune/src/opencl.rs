//! OpenCL devices: the kernels of products and of packing.

use crate::{Arguments, Session, with_type};
use std::error::Error;
use superscalar::{
    devices::opencl::{devices, named},
    kernels::opencl::{
        GroupLimits,
        tuning::{Found, Measured, SearchOptions, Stage, Target, TunedRow, Tuner, random_row, store},
    },
};

/// Measures each type and stores its row, or stores a random one.
pub fn tune(arguments: &Arguments, session: &mut Session) -> Result<(), Box<dyn Error>> {
    let found = named(&arguments.device, &devices()?)?;
    let mut tuner = Tuner::open(&found)?;
    // Whether there are matrix instructions is known only of an open device.
    let class = &tuner.class().clone();
    let mut stored = None;
    for &letter in &arguments.types {
        if matches!(letter, 'd' | 'z') && !class.has_f64 {
            println!("{letter}: {} has no double precision", class.name);
            continue;
        }
        if arguments.sample {
            let row = random_row(letter, &GroupLimits::of(class), arguments.seed)?;
            println!("{row}");
            if !arguments.dry_run {
                let (target, remark) = (Target::Device(class.name.clone()), format!("seed {}", arguments.seed));
                stored = Some(store(TunedRow { target, parameters: row, remark }, arguments.out.as_deref())?);
            }
            continue;
        }
        let options = SearchOptions { seconds: arguments.seconds, seed: arguments.seed };
        session.begin(letter, arguments.seconds)?;
        let mut best: Option<f64> = None;
        let report = |&Measured { stage, row, rate }: &Measured<'_>| {
            let line = match rate {
                Ok(rate) => {
                    if stage == Stage::Product && best.is_none_or(|best| rate >= best) {
                        best = Some(rate);
                    }
                    format!("{stage} {rate:.1} {row}")
                }
                Err(why) => format!("{stage} discarded {row}: {}", why.to_string().replace('\n', " ")),
            };
            session.note(line, format_args!("{stage}, best product {:.1}", best.unwrap_or_default()));
        };
        let result = with_type!(letter, T => tuner.search::<T>(&options, report));
        let Found { row, gflops, gflops_in_use, order, measured, discarded } = result?;
        session.end(format_args!(
            "{letter}: {gflops:.1} GFLOP/s at order {order}, before {gflops_in_use:.1}; {measured} rows measured, \
             {discarded} discarded\n{row}"
        ))?;
        if !arguments.dry_run {
            let remark = format!("{}, driver {}, {gflops:.1} GFLOP/s at order {order}", class.vendor, class.driver);
            let row = TunedRow { target: Target::Device(class.name.clone()), parameters: row, remark };
            stored = Some(store(row, arguments.out.as_deref())?);
        }
    }
    if let Some(path) = stored {
        println!("written to {}", path.display());
    }
    // Waits for compilers that are at work.
    drop(tuner);
    Ok(())
}
