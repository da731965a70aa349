//! A product on several devices by a plan, beside the same product by the scheduling policy.
//!
//! ```text
//! cargo run --release --example product_plan
//! cargo run --release --example product_plan -- --dim 400 --steps
//! cargo run --release --example product_plan -- --dim 400 --places 000
//! cargo run --release --example product_plan -- --dim 400 --element f16
//! cargo run --release --example product_plan -- --devices cuda:0,cuda:1 --places hhh --dim 8192 --dim 16384
//! cargo run --release --example product_plan -- --devices cuda:0,cuda:1 --dim 16384 --memory 512M
//! ```
//!
//! A plan is made before anything runs: it says what each device computes and when, and what is copied over which link.
//! The output shows the plan, the predicted and the measured time, and whether the bytes over each link are the planned
//! ones. `--places` says where A, B and C are: `h` for the host, the number of a device, or `d` if they are dealt to
//! all. Host matrices are pinned if the devices are GPUs. `--memory` limits the memory of each device: larger products
//! are multiplied in turns. `--parts` also times plans that do without some of what plans use. Matrices of `f16` and
//! `bf16` are in host memory.
//!
//! The simulated devices of the first commands are slower than the host, to which the policy leaves small products.
//!
//! The result is checked: C x must equal alpha A (B x) + beta C x up to rounding.

use clap::Parser;
use std::{
    collections::BTreeMap,
    error::Error,
    fs::File,
    ops::DerefMut,
    path::PathBuf,
    sync::{Arc, LazyLock},
    time::Instant,
};
use superscalar::{
    Resource, Runtime, devices,
    dla::{
        DeviceMatrix, Distribution, Half, Layout, Options, PlanFeatures, ProductPlan, Scalar, Tiled, bf16, f16, gemm,
        gemm_half, spawn,
    },
    kernels::{MatMut, MatRef, Op},
    recording::ChromeTrace,
};
use superscalar_oracle::{ROUNDINGS_MAX, at_most, roundoffs};

/// Multiplies two matrices on devices by a plan.
#[derive(Parser)]
struct Arguments {
    /// Orders of the matrices, or `m,n,k`.
    #[arg(long, default_value = "500")]
    dim: Vec<String>,
    /// Where A, B and C are.
    #[arg(long, default_value = "hhh")]
    places: String,
    /// The elements of the matrices.
    #[arg(long, default_value = "f64", value_parser = ["f64", "f32", "f16", "bf16"])]
    element: String,
    /// The devices.
    #[arg(long, default_value = "sim:0,sim:1:flops=2e9:rate=2e9")]
    devices: String,
    /// The memory of each device, such as 512M.
    #[arg(long, value_parser = devices::bytes)]
    memory: Option<usize>,
    /// Time plans of host matrices without some of what plans use, too.
    #[arg(long)]
    parts: bool,
    /// Timed products of each kind.
    #[arg(long, default_value_t = 3)]
    repeat: usize,
    /// Print all steps of the plan.
    #[arg(long)]
    steps: bool,
    /// File for the plan of host matrices as a trace.
    #[arg(long)]
    plan_trace: Option<PathBuf>,
    /// Only plan, by the rates that the devices state.
    #[arg(long)]
    dry: bool,
}

const ALPHA: f64 = 1.5;
const BETA: f64 = 0.5;
const NO_OPS: (Op, Op) = (Op::None, Op::None);
static PLANNED: LazyLock<Options> = LazyLock::new(|| Options::default().distribution(Distribution::Planned));

/// What is timed: names and options.
fn kinds(parts: bool) -> Vec<(&'static str, Options)> {
    let with =
        |routes, arrival_order, late_result| PLANNED.plan_features(PlanFeatures { routes, arrival_order, late_result });
    let mut kinds = vec![("the policy", Options::default().distribution(Distribution::None))];
    if parts {
        kinds.push(("the grid alone", with(false, false, false)));
        kinds.push(("the grid, and routes", with(true, false, false)));
        kinds.push(("the grid, routes, and order of arrival", with(true, true, false)));
    }
    kinds.push(("the plan", *PLANNED));
    kinds
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let rt =
        devices::open(&arguments.devices, arguments.memory)?.builder().weights_file(None).host_helps(false).build()?;
    for text in &arguments.dim {
        let lengths: Vec<usize> = text.split(',').map(str::parse).collect::<Result<_, _>>()?;
        let shape = match lengths[..] {
            [n] => [n; 3],
            [m, n, k] => [m, n, k],
            _ => return Err(format!("`{text}`: expected one number, or m,n,k").into()),
        };
        match &*arguments.element {
            "f32" => show::<f32>(&rt, shape, &arguments)?,
            "f16" => show::<f16>(&rt, shape, &arguments)?,
            "bf16" => show::<bf16>(&rt, shape, &arguments)?,
            _ => show::<f64>(&rt, shape, &arguments)?,
        }
    }
    Ok(())
}

/// Shows the plan of a product, and carries it out.
fn show<E: Element>(rt: &Runtime, shape: [usize; 3], arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    if arguments.dry { show_plan::<E>(rt, shape, arguments) } else { run::<E>(rt, shape, arguments) }
}

/// Prints the plan of host matrices, and writes it as a trace.
fn show_plan<E: Element>(rt: &Runtime, shape: [usize; 3], arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    let plan = E::plan(rt, shape, &PLANNED)?;
    let planning = begun.elapsed().as_secs_f64();
    let plan = plan.ok_or("the product cannot be planned on these devices")?;
    print!("{}", if arguments.steps { format!("{plan:#}") } else { plan.to_string() });
    println!("planned in {:.3} ms", planning * 1e3);
    if let Some(file) = &arguments.plan_trace {
        ChromeTrace::new(&plan.recording(rt)).write(File::create(file)?)?;
    }
    Ok(())
}

/// Where a matrix is.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Host,
    Device(usize),
    /// Dealt to all devices, cyclically in two dimensions.
    Dealt,
}

fn places(text: &str) -> Result<[Place; 3], Box<dyn Error>> {
    let place = |letter: char| match letter {
        'h' => Some(Place::Host),
        'd' => Some(Place::Dealt),
        digit => digit.to_digit(10).map(|at| Place::Device(at as usize)),
    };
    let all: Option<Vec<Place>> = text.chars().map(place).collect();
    let all = all.and_then(|all| all.try_into().ok());
    all.ok_or_else(|| format!("`{text}`: expected three letters, each `h`, `d` or the number of a device").into())
}

/// Fills a matrix with numbers between -1/2 and 1/2.
fn fill<E: Element>(a: &mut [E], seed: usize) {
    let number = |at: usize| ((at * 7 + at / 1021 * 31 + seed) % 1021) as f64 / 1021.0 - 0.5;
    a.iter_mut().enumerate().for_each(|(at, x)| *x = E::of(number(at)));
}

/// y := A x, for A in columns of m.
fn times<E: Element>(a: &[E], m: usize, x: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; m];
    for (column, x) in a.chunks_exact(m).zip(x) {
        y.iter_mut().zip(column).for_each(|(y, a)| *y += a.number() * x);
    }
    y
}

/// Host memory of a matrix, pinned for GPUs.
fn memory<E: Element>(len: usize, for_gpus: bool) -> Result<Box<dyn DerefMut<Target = [E]>>, Box<dyn Error>> {
    #[cfg(feature = "cuda")]
    if for_gpus {
        return Ok(Box::new(devices::PinnedBuffer::new(len)?));
    }
    let _ = for_gpus;
    Ok(Box::new(vec![E::of(0.0); len].into_boxed_slice()))
}

/// The seconds of a product, and the bytes over each link.
type Outcome = Result<(f64, Bytes), Box<dyn Error>>;

/// An element of the matrices.
trait Element: bytemuck::Pod + Send + Sync {
    /// The unit roundoff, and that of sums.
    const ROUNDOFF: f64;
    const SUM_ROUNDOFF: f64;

    fn of(x: f64) -> Self;

    fn number(self) -> f64;

    /// Returns the plan of a product of host matrices.
    fn plan(rt: &Runtime, shape: [usize; 3], options: &Options) -> Result<Option<Arc<ProductPlan>>, Box<dyn Error>>;

    /// Multiplies host matrices.
    fn multiply(
        rt: &Runtime,
        a: MatRef<'_, Self>,
        b: MatRef<'_, Self>,
        c: MatMut<'_, Self>,
        options: &Options,
    ) -> Result<(), Box<dyn Error>>;

    /// Multiplies matrices of which some are on devices.
    fn multiply_on_devices(product: &mut Product<'_, Self>, options: &Options) -> Outcome;
}

/// Implements the trait: the type of the factors, the unit roundoffs, conversion, plan, product, and the product of
/// matrices on devices.
macro_rules! element {
    ($t:ty, $factor:ty, $roundoffs:expr, $of:expr, $plan:expr, $gemm:ident, $on_devices:expr) => {
        impl Element for $t {
            const ROUNDOFF: f64 = $roundoffs[0];
            const SUM_ROUNDOFF: f64 = $roundoffs[1];

            fn of(x: f64) -> Self {
                $of(x)
            }

            fn number(self) -> f64 {
                self.into()
            }

            fn plan(
                rt: &Runtime,
                shape: [usize; 3],
                options: &Options,
            ) -> Result<Option<Arc<ProductPlan>>, Box<dyn Error>> {
                Ok($plan(rt, NO_OPS, shape, true, options)?)
            }

            fn multiply(
                rt: &Runtime,
                a: MatRef<'_, $t>,
                b: MatRef<'_, $t>,
                c: MatMut<'_, $t>,
                options: &Options,
            ) -> Result<(), Box<dyn Error>> {
                Ok($gemm(rt, ALPHA as $factor, Op::None, a, Op::None, b, BETA as $factor, c, options)?)
            }

            fn multiply_on_devices(product: &mut Product<'_, $t>, options: &Options) -> Outcome {
                $on_devices(product, options)
            }
        }
    };
}

macro_rules! scalar {
    ($t:ty) => {
        element! {
            $t, $t, [<$t>::EPSILON as f64 / 2.0; 2], |x| x as $t, ProductPlan::of_host_matrices::<$t>, gemm,
            |product: &mut Product<'_, $t>, options| product.multiply_on_devices(ALPHA as $t, BETA as $t, options)
        }
    };
}

macro_rules! half {
    ($t:ty) => {
        element! {
            $t, f32, [<$t as Half>::ROUNDOFF as f64, f32::EPSILON as f64 / 2.0], <$t>::from_f64,
            ProductPlan::of_half_matrices::<$t, $t>, gemm_half,
            |_, _| Err("matrices in half precision are in host memory: `--places hhh`".into())
        }
    };
}

scalar! { f32 }
scalar! { f64 }
half! { f16 }
half! { bf16 }

fn run<E: Element>(rt: &Runtime, [m, n, k]: [usize; 3], arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let (places, for_gpus) = (places(&arguments.places)?, arguments.devices.contains("cuda"));
    let (mut a, mut b, mut c) = (memory::<E>(m * k, for_gpus)?, memory(k * n, for_gpus)?, memory(m * n, for_gpus)?);
    fill(&mut a, 1);
    fill(&mut b, 2);
    fill(&mut c, 3);
    let x: Vec<f64> = (0..n).map(|j| (j % 7) as f64 - 3.0).collect();
    let (ab, old) = (times(&a, m, &times(&b, k, &x)), times(&c, m, &x));
    let mut product = Product { rt, shape: [m, n, k], places, a: &a, b: &b, c: &mut c };
    // The first run measures rates and links. Its plan may differ from the later ones.
    product.multiply(&PLANNED)?;
    let found = times(product.c, m, &x);
    let expected: Vec<f64> = ab.iter().zip(&old).map(|(ab, old)| ALPHA * ab + BETA * old).collect();
    // C is rounded, and so is each addition of its sums, of which there are k, in n columns.
    let roundings = E::ROUNDOFF + E::SUM_ROUNDOFF * (n as f64 * k as f64).sqrt();
    let error = roundoffs(&found, &expected) * f64::EPSILON / 2.0 / roundings;
    at_most("error of the product, in roundings", error, ROUNDINGS_MAX)?;
    product.report(arguments, error)
}

/// The bytes over each link, by the names of source and target.
type Bytes = BTreeMap<(String, String), u64>;

fn bytes(rt: &Runtime) -> Bytes {
    let mut all = Bytes::new();
    rt.traffic().into_iter().for_each(|link| *all.entry((link.from, link.to)).or_default() += link.bytes);
    all
}

/// A, B and C in host memory.
type HostViews<'v, E> = (MatRef<'v, E>, MatRef<'v, E>, MatMut<'v, E>);

/// A product on devices.
struct Product<'a, E> {
    rt: &'a Runtime,
    shape: [usize; 3],
    places: [Place; 3],
    a: &'a [E],
    b: &'a [E],
    c: &'a mut [E],
}

impl<E: Element> Product<'_, E> {
    /// Multiplies; returns the seconds, and the bytes over each link.
    fn multiply(&mut self, options: &Options) -> Outcome {
        if self.places != [Place::Host; 3] {
            return E::multiply_on_devices(self, options);
        }
        let rt = self.rt;
        let (a, b, c) = self.views()?;
        let (before, begun) = (bytes(rt), Instant::now());
        E::multiply(rt, a, b, c, options)?;
        Ok((begun.elapsed().as_secs_f64(), since(rt, &before)))
    }

    fn views(&mut self) -> Result<HostViews<'_, E>, Box<dyn Error>> {
        let [m, n, k] = self.shape;
        let (a, b) = (MatRef::from_col_major(self.a, m, k, m)?, MatRef::from_col_major(self.b, k, n, k)?);
        Ok((a, b, MatMut::from_col_major(self.c, m, n, m)?))
    }

    /// Multiplies matrices of which some are on devices.
    fn multiply_on_devices(&mut self, alpha: E, beta: E, options: &Options) -> Outcome
    where
        E: Scalar,
    {
        let ([mb, nb, kb], [on_a, on_b, on_c], rt) = (tile::<E>(self.rt, self.shape)?, self.places, self.rt);
        let (a, b, mut c) = self.views()?;
        let load = |place: Place, matrix: MatRef<'_, E>, (rows, columns)| {
            let layout = match place {
                Place::Host => return Ok(None),
                Place::Device(device) => Layout::rectangles(rows, columns).on(device),
                Place::Dealt => Layout::rectangles(rows, columns),
            };
            DeviceMatrix::from_host(rt, matrix, layout).map(Some)
        };
        let (at, bt, mut ct) =
            (load(on_a, a, (mb, kb))?, load(on_b, b, (kb, nb))?, load(on_c, c.rb_mut().into_ref(), (mb, nb))?);
        let (before, begun) = (bytes(rt), Instant::now());
        rt.scope(|s| {
            let a = at.as_ref().map_or_else(|| Tiled::read_only(s, a, mb, kb), |a| a.lend_ref(s));
            let b = bt.as_ref().map_or_else(|| Tiled::read_only(s, b, kb, nb), |b| b.lend_ref(s));
            let host_c = c.rb_mut();
            let c = match &mut ct {
                Some(c) => c.lend(s),
                None => Tiled::new(s, host_c, mb, nb),
            };
            let c = if options == &*PLANNED { c.distributed(s, Distribution::Planned) } else { c };
            spawn::gemm(s, alpha, Op::None, &a, Op::None, &b, beta, &c);
        })?;
        let result = (begun.elapsed().as_secs_f64(), since(rt, &before));
        ct.map_or(Ok(()), |ct| ct.download(rt, c))?;
        Ok(result)
    }

    /// Prints the plan of host matrices, and the median times by the plan and by the policy.
    fn report(&mut self, arguments: &Arguments, error: f64) -> Result<(), Box<dyn Error>> {
        let ([m, n, k], rt) = (self.shape, self.rt);
        let tflop = 2e-12 * m as f64 * n as f64 * k as f64;
        println!("{m} x {n} x {k}, {}: checked, {error:.2} roundings", arguments.places);
        if self.places == [Place::Host; 3] {
            show_plan::<E>(rt, self.shape, arguments)?;
        }
        let kinds = kinds(arguments.parts && self.places == [Place::Host; 3]);
        let mut seconds = vec![Vec::new(); kinds.len()];
        for _ in 0..arguments.repeat {
            for ((_, options), seconds) in kinds.iter().zip(&mut seconds) {
                let plan = E::plan(rt, self.shape, options)?;
                let (took, moved) = self.multiply(options)?;
                seconds.push(took);
                if let Some(plan) = plan.filter(|_| options == &*PLANNED && self.places == [Place::Host; 3]) {
                    compare(rt, &plan, took, &moved);
                }
            }
        }
        for ((name, _), mut all) in kinds.into_iter().zip(seconds) {
            all.sort_by(f64::total_cmp);
            println!("by {name} {:.3} TFLOP/s", all.get(all.len() / 2).map_or(0.0, |median| tflop / median));
        }
        Ok(())
    }
}

/// Compares a run with its plan.
fn compare(rt: &Runtime, plan: &ProductPlan, took: f64, moved: &Bytes) {
    let expected = expected(rt, plan);
    let verdict = if *moved == expected { "as planned" } else { "NOT as planned" };
    println!("{:.3} ms, predicted {:.3}; bytes {verdict}", took * 1e3, plan.predicted_ns() * 1e-6);
    for (link @ (from, to), bytes) in moved.iter().filter(|_| *moved != expected) {
        println!("  {from} -> {to}: {bytes}, planned {}", expected.get(link).copied().unwrap_or(0));
    }
}

fn since(rt: &Runtime, before: &Bytes) -> Bytes {
    let mut moved = bytes(rt);
    moved.iter_mut().for_each(|(link, bytes)| *bytes -= before.get(link).copied().unwrap_or(0));
    moved.retain(|_, bytes| *bytes > 0);
    moved
}

fn expected(rt: &Runtime, plan: &ProductPlan) -> Bytes {
    let devices = rt.devices();
    let name = |of: Resource| of.device_index().map_or("host".to_owned(), |at| devices[usize::from(at)].name.clone());
    let mut all = Bytes::new();
    plan.traffic().for_each(|(from, to, bytes)| *all.entry((name(from), name(to))).or_default() += bytes);
    all
}

/// Returns the tiles of the plan of host matrices.
fn tile<E: Element>(rt: &Runtime, shape: [usize; 3]) -> Result<[usize; 3], Box<dyn Error>> {
    let plan = E::plan(rt, shape, &PLANNED)?;
    Ok(plan.ok_or("the product cannot be planned on these devices")?.tile())
}
