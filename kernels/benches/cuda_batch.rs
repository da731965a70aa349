//! Times of batched operations on the first GPU, in double precision beside cuBLAS and cuSOLVER:
//! `cargo bench -p superscalar-kernels --bench cuda_batch [-- FILTER...]`.
//!
//! All operands are in device memory. A line has the time of a call when many are queued, the rate, and the ratio of
//! the peer's time to it; the peer's calls are queued in turn with ours, in the same process. Matrices that are
//! overwritten are copied anew before each call, and the time of the copies is subtracted on both sides. A filter is a
//! word that a line must contain.

#[allow(dead_code)] // Other benchmarks use the rest.
mod gpu;
mod peer;
#[allow(dead_code)] // Other benchmarks use the rest.
mod timing;

use gpu::Gpu;
use peer::{Peer, PeerCall};
use std::sync::Arc;
use superscalar_devices::cuda::{self, Options};
use superscalar_kernels::{
    Diag, Op, Scalar, Side, Uplo, c64,
    device::{Call, Mat},
    operations::{BatchCall, BatchLayout, BatchMat, BatchMember, BatchOperation, BatchShapes, Lacpy, TABLE_ROWS},
};
use superscalar_runtime::{Device as _, DeviceError};
use timing::{Filters, median, numbers};

/// Orders, and the number of problems of each.
const ORDERS: [(usize, usize); 8] =
    [(8, 10_000), (16, 10_000), (32, 10_000), (64, 10_000), (128, 1000), (256, 1000), (512, 1000), (64, 1000)];
const ROUNDS: usize = 7;

/// Places matrices of one shape behind each other.
struct Places {
    next: usize,
}

impl Places {
    /// Returns `count` m x n matrices of `E`.
    fn batch<E>(&mut self, (m, n): (usize, usize), count: usize) -> BatchMat<E> {
        let first = Mat::at(self.next.div_ceil(size_of::<E>()), (m, n), m.max(1));
        self.next = ((first.offset + m * n * count) * size_of::<E>()).next_multiple_of(256);
        BatchMat { first, shapes: BatchShapes::Uniform { stride: m * n, count } }
    }

    fn column<E>(&mut self, count: usize) -> Mat<E> {
        let column = Mat::at(self.next.div_ceil(size_of::<E>()), (count, 1), count);
        self.next = ((column.offset + count) * size_of::<E>()).next_multiple_of(256);
        column
    }
}

/// A uniform batch as one matrix, for copies.
fn whole<T>(batch: &BatchMat<T>) -> Mat<T> {
    let BatchShapes::Uniform { stride, count } = batch.shapes else { panic!("a uniform batch") };
    Mat::at(batch.first.offset, (stride, count), stride.max(1))
}

fn call<T: Scalar>(operation: BatchOperation<T>, read: &[&BatchMat<T>], updated: &[&BatchMat<T>]) -> BatchCall<T> {
    let of = |list: &[&BatchMat<T>]| list.iter().map(|&batch| batch.clone()).collect();
    let (read, updated) = (of(read), of(updated));
    BatchCall { operation, read, updated, written: Vec::new(), reals: Vec::new(), pivots: None, info: None }
}

/// One line of the table.
struct Line<T: Scalar> {
    title: String,
    /// Multiplications of all problems.
    multiplications: f64,
    calls: Vec<Call<T>>,
    /// The copy that restores the operand.
    restores: Option<Call<T>>,
    peer: Option<PeerCall>,
}

/// Returns the medians of our time and of the peer's, in seconds.
fn measure<T: Scalar>(gpu: &Gpu, peer: &mut Peer, line: &Line<T>) -> Result<(f64, Option<f64>), DeviceError> {
    let restore: Vec<Call<T>> = line.restores.iter().cloned().collect();
    let all: Vec<Call<T>> = restore.iter().chain(&line.calls).cloned().collect();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let copies = if restore.is_empty() { 0.0 } else { gpu.round(&restore)? };
        ours.push(gpu.round(&all)? - copies);
        if let Some(call) = &line.peer {
            theirs.push(peer.round(call)?);
        }
    }
    Ok((median(ours), (!theirs.is_empty()).then(|| median(theirs))))
}

fn print<T: Scalar>(gpu: &Gpu, peer: &mut Peer, filters: &Filters, line: &Line<T>) -> Result<Option<f64>, DeviceError> {
    if !filters.matches(&line.title) {
        return Ok(None);
    }
    let (seconds, theirs) = match measure(gpu, peer, line) {
        Ok(times) => times,
        Err(error) => {
            println!("{:<28} {error}", line.title);
            return Ok(None);
        }
    };
    let rate = f64::from(T::FLOPS_MUL + T::FLOPS_ADD) * line.multiplications / seconds * 1e-9;
    let ratio = theirs.map_or(String::new(), |theirs| format!("{:10.1} µs {:6.2} x", theirs * 1e6, theirs / seconds));
    println!("{:<28} {:10.1} µs {rate:9.1} GFLOP/s {ratio}", line.title, seconds * 1e6);
    Ok(Some(seconds))
}

/// The operands of every line of one order.
struct Operands<T: Scalar> {
    source: BatchMat<T>,
    a: BatchMat<T>,
    b: BatchMat<T>,
    vector: BatchMat<T>,
    result: BatchMat<T>,
    tau: [BatchMat<T>; 2],
    reals: [BatchMat<T::Real>; 2],
    ipiv: BatchMat<i32>,
    info: Mat<i32>,
    end: usize,
}

impl<T: Scalar> Operands<T> {
    fn new(n: usize, count: usize) -> Self {
        let mut places = Places { next: 0 };
        Self {
            source: places.batch((n, n), count),
            a: places.batch((n, n), count),
            b: places.batch((n, n), count),
            vector: places.batch((n, 1), count),
            result: places.batch((n, 1), count),
            tau: [(); 2].map(|()| places.batch((n, 1), count)),
            reals: [n, n - 1].map(|n| places.batch((n, 1), count)),
            ipiv: places.batch((n, 1), count),
            info: places.column(count),
            end: places.next,
        }
    }
}

/// Returns the elements of symmetric positive definite matrices whose pivots are not all on the diagonal of their
/// factorization, and of small numbers behind them.
fn contents<T: Scalar>(n: usize, count: usize) -> Vec<u8> {
    let mut next = numbers();
    let mut data: Vec<T> = (0..n * n * count).map(|_| T::from_f64(next())).collect();
    for matrix in data.chunks_exact_mut(n * n) {
        for j in 0..n {
            (0..j).for_each(|i| matrix[i + j * n] = matrix[j + i * n]);
            matrix[j * (n + 1)] = T::from_f64(2.0 * n as f64);
        }
    }
    bytemuck::cast_slice::<T, u8>(&data).to_vec()
}

/// The lines of one order.
struct Order<T: Scalar> {
    n: usize,
    count: usize,
    operands: Operands<T>,
}

impl<T: Scalar> Order<T> {
    fn batch(call: BatchCall<T>) -> Vec<Call<T>> {
        vec![Call::Batch(Box::new(call))]
    }

    /// Returns a line; `share` are its multiplications as a part of n³, and `peer` is for double precision.
    fn line(&self, name: &str, share: f64, call: BatchCall<T>, is_fresh: bool, peer: Option<PeerCall>) -> Line<T> {
        let (n, count, operands) = (self.n, self.count, &self.operands);
        let copy = Call::Lacpy(Lacpy { op: Op::None, a: whole(&operands.source), b: whole(&operands.a) });
        Line {
            title: format!("{}{name} {n} x{count}", T::LETTER.to_ascii_lowercase()),
            multiplications: share * (n * n * n) as f64 * count as f64,
            calls: Self::batch(call),
            restores: is_fresh.then_some(copy),
            peer: peer.filter(|_| T::LETTER.eq_ignore_ascii_case(&'d')),
        }
    }

    fn address(batch: &BatchMat<T>) -> usize {
        batch.first.offset * size_of::<T>()
    }

    /// Prints products and solves. Returns the multiplications of gemv in a second.
    fn print_products(&self, gpu: &Gpu, peer: &mut Peer, filters: &Filters) -> Result<f64, DeviceError> {
        let Operands { source, a, b, vector, result, .. } = &self.operands;
        let (n, count, orders) = (self.n, self.count, (self.n, self.count));
        let [sources, x, y] = [source, vector, result].map(Self::address);
        let gemm = |ops| BatchOperation::Gemm { ops, alpha: T::ONE, beta: T::ZERO };
        let product = call(gemm((Op::None, Op::None)), &[source, a], &[b]);
        let theirs = PeerCall::Gemm { orders, a: sources, b: Self::address(a), c: Self::address(b) };
        print(gpu, peer, filters, &self.line("gemm", 1.0, product, false, Some(theirs)))?;
        let mut gemv_rate = 0.0;
        for (name, op) in [("gemv N", Op::None), ("gemv T", Op::Trans)] {
            let product = call(gemm((op, Op::None)), &[source, vector], &[result]);
            let theirs = PeerCall::Gemv { orders, transposed: op != Op::None, a: sources, x, y };
            let line = self.line(name, 1.0 / n as f64, product, false, Some(theirs));
            if let Some(seconds) = print(gpu, peer, filters, &line)? {
                gemv_rate = line.multiplications / seconds;
                let rate = (n * n + 2 * n) as f64 * count as f64 * size_of::<T>() as f64 / seconds;
                let read = peer.read_rate(sources, n * n * count * size_of::<T>() / size_of::<f64>())?;
                println!("    {:.1} GB/s, {:.3} of the rate at which cuBLAS's asum reads", rate * 1e-9, rate / read);
            }
        }
        for (name, op) in [("trsv N", Op::None), ("trsv T", Op::Trans)] {
            let (side, uplo, diag, alpha) = (Side::Left, Uplo::Lower, Diag::NonUnit, T::ONE);
            let solve = call(BatchOperation::Trsm { side, uplo, op, diag, alpha }, &[source], &[vector]);
            let theirs = PeerCall::Trsm { orders, transposed: op != Op::None, a: sources, b: x };
            print(gpu, peer, filters, &self.line(name, 0.5 / n as f64, solve, false, Some(theirs)))?;
        }
        Ok(gemv_rate)
    }

    fn print_factorizations(
        &self,
        gpu: &Gpu,
        peer: &mut Peer,
        filters: &Filters,
        gemv_rate: f64,
    ) -> Result<(), DeviceError> {
        let Operands { source, a, tau, reals, ipiv, info, .. } = &self.operands;
        let orders = (self.n, self.count);
        let [source, to, scalars] = [source, a, &tau[0]].map(Self::address);
        let mut potrf = call(BatchOperation::Potrf { uplo: Uplo::Lower }, &[], &[a]);
        potrf.info = Some(*info);
        let theirs = PeerCall::Potrf { orders, source, a: to };
        print(gpu, peer, filters, &self.line("potrf", 1.0 / 6.0, potrf, true, Some(theirs)))?;
        let mut getrf = call(BatchOperation::Getrf, &[], &[a]);
        (getrf.info, getrf.pivots) = (Some(*info), Some(ipiv.clone()));
        let theirs = PeerCall::Getrf { orders, source, a: to };
        print(gpu, peer, filters, &self.line("getrf", 1.0 / 3.0, getrf, true, Some(theirs)))?;
        let mut getrf = call(BatchOperation::GetrfNopiv, &[], &[a]);
        getrf.info = Some(*info);
        print(gpu, peer, filters, &self.line("getrf_nopiv", 1.0 / 3.0, getrf, true, None))?;
        let mut geqrf = call(BatchOperation::Geqrf, &[], &[a]);
        geqrf.written.push(tau[0].clone());
        let theirs = PeerCall::Geqrf { orders, source, a: to, tau: scalars };
        print(gpu, peer, filters, &self.line("geqrf", 2.0 / 3.0, geqrf.clone(), true, Some(theirs)))?;
        let mut both = self.line("geqrf+ungqr", 4.0 / 3.0, geqrf, true, None);
        both.calls.extend(Self::batch(call(BatchOperation::Ungqr, &[&tau[0]], &[a])));
        print(gpu, peer, filters, &both)?;
        let mut gebrd = call(BatchOperation::Gebrd, &[], &[a]);
        (gebrd.written, gebrd.reals) = (tau.to_vec(), reals.to_vec());
        let line = self.line("gebrd", 4.0 / 3.0, gebrd, true, None);
        if let Some(seconds) = print(gpu, peer, filters, &line)?
            && gemv_rate > 0.0
        {
            println!("    {:.2} of 7/4 of gemv's rate", line.multiplications / seconds / (1.75 * gemv_rate));
        }
        Ok(())
    }
}

fn uniform<T: Scalar>(gpu: &mut Gpu, peer: &mut Peer, filters: &Filters) -> Result<(), DeviceError> {
    for (n, count) in ORDERS {
        let order = Order { n, count, operands: Operands::<T>::new(n, count) };
        let Operands { source, a, b, vector, end, .. } = &order.operands;
        gpu.operands = *end;
        gpu.load(&mut contents::<T>(n, count))?;
        let first = Mat::at(source.first.offset, (n, count), n * n);
        for (from, to) in [(whole(source), whole(a)), (whole(source), whole(b)), (first, whole(vector))] {
            gpu.round(&[Call::Lacpy(Lacpy { op: Op::None, a: from, b: to })])?;
        }
        let gemv_rate = order.print_products(gpu, peer, filters)?;
        order.print_factorizations(gpu, peer, filters, gemv_rate)?;
    }
    Ok(())
}

/// Problems of random orders up to `most` in one call, beside the same problems sorted into one call for each order.
fn random_sizes<T: Scalar>(gpu: &mut Gpu, peer: &mut Peer, filters: &Filters, most: usize) -> Result<(), DeviceError> {
    const COUNT: usize = 1000;
    let mut next = numbers();
    let mut orders: Vec<usize> = (0..COUNT).map(|_| 1 + ((next() + 0.5) * most as f64) as usize).collect();
    orders.sort_unstable_by(|x, y| y.cmp(x));
    let mut data = Vec::<T>::new();
    for &n in &orders {
        data.extend(bytemuck::cast_slice::<u8, T>(&contents::<T>(n, 1)));
    }
    let len = data.len().next_multiple_of(256);
    data.resize(2 * len, T::ZERO);
    let starts: Vec<usize> = orders
        .iter()
        .scan(0, |next, n| {
            let start = *next;
            *next += n * n;
            Some(start)
        })
        .collect();
    // The source, a copy of it, C, interchanges, outcomes, and the tables of matrices and columns.
    let [source, a, c] = [0, 1, 2].map(|at| Mat::<T>::at(at * len, (len, 1), len));
    let mut places = Places { next: 3 * len * size_of::<T>() };
    let (ipiv, info) = (places.column::<i32>(COUNT * most), places.column::<i32>(COUNT));
    let layout = |shape: fn(usize) -> (usize, usize), start: &dyn Fn(usize) -> usize| {
        let member = |(number, &n): (usize, &usize)| {
            let shape = shape(n);
            BatchMember { offset: start(number), shape, ld: shape.0, number }
        };
        Arc::new(BatchLayout::new(orders.iter().enumerate().map(member).collect()).expect("they do not overlap"))
    };
    let matrices = layout(|n| (n, n), &|p| starts[p]);
    let columns = layout(|n| (n, 1), &|p| p * most);
    let tables = [&matrices, &columns].map(|layout| (layout.table(), places.column::<i64>(COUNT * TABLE_ROWS)));
    gpu.operands = places.next;
    let mut bytes = vec![0_u8; places.next];
    bytes[..2 * len * size_of::<T>()].copy_from_slice(bytemuck::cast_slice(&data));
    for (table, place) in &tables {
        let start = place.offset * size_of::<i64>();
        bytes[start..start + table.len() * 8].copy_from_slice(bytemuck::cast_slice(table));
    }
    gpu.load(&mut bytes)?;
    let table = |at: usize| Mat::<i64>::at(tables[at].1.offset, (TABLE_ROWS, COUNT), TABLE_ROWS);
    let varied = |mat: Mat<T>| BatchMat {
        first: Mat::at(mat.offset, (most, most), most),
        shapes: BatchShapes::Varied { layout: matrices.clone(), table: table(0) },
    };
    let pivots = BatchMat {
        first: Mat::at(ipiv.offset, (most, 1), most),
        shapes: BatchShapes::Varied { layout: columns.clone(), table: table(1) },
    };
    let copy = Call::Lacpy(Lacpy { op: Op::None, a: source, b: a });
    let gemm = BatchOperation::Gemm { ops: (Op::None, Op::None), alpha: T::ONE, beta: T::ZERO };
    for (name, operation) in
        [("potrf", BatchOperation::Potrf { uplo: Uplo::Lower }), ("getrf", BatchOperation::Getrf), ("gemm", gemm)]
    {
        let is_product = name == "gemm";
        let whole = |read: [BatchMat<T>; 2], updated: BatchMat<T>, pivots: BatchMat<i32>, info| {
            let mut call = if is_product {
                call(operation, &[&read[0], &read[1]], &[&updated])
            } else {
                call(operation, &[], &[&updated])
            };
            call.pivots = (name == "getrf").then_some(pivots);
            call.info = (!is_product).then_some(info);
            Call::Batch(Box::new(call))
        };
        let to = if is_product { c } else { a };
        let share =
            [("potrf", 1.0 / 6.0), ("getrf", 1.0 / 3.0)].iter().find(|pair| pair.0 == name).map_or(1.0, |pair| pair.1);
        let multiplications = share * orders.iter().map(|&n| (n * n * n) as f64).sum::<f64>();
        let restores = (!is_product).then(|| copy.clone());
        let title = format!("{}{name} random 1..{most} x{COUNT}", T::LETTER.to_ascii_lowercase());
        let one = Line {
            title: title.clone(),
            multiplications,
            calls: vec![whole([varied(source), varied(a)], varied(to), pivots.clone(), info)],
            restores: restores.clone(),
            peer: None,
        };
        // A uniform call for each order.
        let mut groups = Vec::new();
        let mut first = 0;
        while first < COUNT {
            let n = orders[first];
            let count = orders[first..].iter().take_while(|&&order| order == n).count();
            let group = |mat: Mat<T>| BatchMat {
                first: Mat::at(mat.offset + starts[first], (n, n), n),
                shapes: BatchShapes::Uniform { stride: n * n, count },
            };
            let pivots = BatchMat {
                first: Mat::at(ipiv.offset + first * most, (n, 1), most),
                shapes: BatchShapes::Uniform { stride: most, count },
            };
            let info = Mat::at(info.offset + first, (count, 1), count);
            groups.push(whole([group(source), group(a)], group(to), pivots, info));
            first += count;
        }
        let sorted = Line { title: format!("{title} sorted"), multiplications, calls: groups, restores, peer: None };
        if let (Some(ours), Some(sorted)) = (print(gpu, peer, filters, &one)?, print(gpu, peer, filters, &sorted)?) {
            println!("    {:.2} of the rate of uniform groups", sorted / ours);
        }
    }
    Ok(())
}

fn main() -> Result<(), DeviceError> {
    let filters = Filters::from_arguments();
    if cuda::count()? == 0 {
        println!("there is no GPU");
        return Ok(());
    }
    let device = cuda::open(0, &Options { heap_bytes: Some(24 << 30), ..Options::default() })?;
    device.memory().ok_or_else(|| DeviceError::new("the GPU has no memory"))?.reserve()?;
    println!("{}", device.class().name);
    let mut gpu = Gpu { device, operands: 0 };
    let mut peer = Peer::open(gpu.address()?)?;
    uniform::<f64>(&mut gpu, &mut peer, &filters)?;
    random_sizes::<f64>(&mut gpu, &mut peer, &filters, 256)?;
    random_sizes::<f64>(&mut gpu, &mut peer, &filters, 512)?;
    uniform::<f32>(&mut gpu, &mut peer, &filters)?;
    uniform::<c64>(&mut gpu, &mut peer, &filters)
}
