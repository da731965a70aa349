//! Gaussian process regression on measured data: a forecast of the carbon dioxide over Mauna Loa for six years.
//!
//! ```text
//! cargo run --release --example gaussian_process
//! ```
//!
//! The training data are the weeks up to the end of 1995, and the test data those from 1996 to 2001. All linear algebra
//! is a Cholesky factorization: the covariance matrix K of about 1900 weeks is built tile by tile, factored and used
//! for solves in one scope, without barriers. The forecast with a band of two standard deviations is written to
//! `co2.svg`.
//! `examples/data` has the data and their licence.
//!
//! The covariance function is that of Rasmussen and Williams, *Gaussian Processes for Machine Learning*, section 5.4.3:
//! a smooth trend, a season whose shape drifts, irregularities of a few years, and noise. Their parameters are for
//! monthly means. This example selects two parameters by the likelihood of the training data: the scale of the trend,
//! and the noise, since weekly means vary more.

use std::{error::Error, f64::consts::PI, fmt::Write};
use superscalar::{
    Runtime, TaskSpec,
    dla::{Matrix, Options, Tiled, posv, spawn},
    kernels::{MatMut, Uplo},
};
use superscalar_oracle::{at_most, largest};

const DATA: &str = include_str!("data/co2.csv");
const PICTURE: &str = "co2.svg";
const FIRST_HELD_OUT_YEAR: f64 = 1996.0;
const NB: usize = 192;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// One week: the day, counted from 1 January 1970, and the concentration in parts per million.
#[derive(Clone, Copy)]
struct Week {
    day: i64,
    ppm: f64,
}

impl Week {
    fn year(self) -> f64 {
        1970.0 + self.day as f64 / 365.2425
    }
}

/// The parameters that the likelihood selects.
#[derive(Clone, Copy, Debug)]
struct Scales {
    trend_years: f64,
    noise_ppm: f64,
}

/// A table of the covariance for each distance in days. Dates are whole days.
struct Covariance {
    of_lag: Vec<f64>,
    noise: f64,
}

/// The result of the regression.
struct Fit {
    log_likelihood: f64,
    /// The solution of (K + σ² I) α = y, where y is the data less their mean.
    alpha: Vec<f64>,
    /// The mean and standard deviation at each requested point.
    forecast: Vec<(f64, f64)>,
}

fn main() -> Outcome {
    let rt = Runtime::new()?;
    let weeks = parse(DATA)?;
    let split = weeks.partition_point(|week| week.year() < FIRST_HELD_OUT_YEAR);
    let (training, held_out) = weeks.split_at(split);
    println!("{} weeks to learn from, {} held out, {} workers", training.len(), held_out.len(), rt.workers());

    let scales = choose(&rt, training)?;
    let covariance = Covariance::new(scales, span(&weeks));
    let fit = regress(&rt, &covariance, training, held_out)?;
    let backward = backward_error(&covariance, training, &fit.alpha);
    println!("backward error |y - (K + s^2 I) a| / (|K + s^2 I| |a|) = {backward:.1e}");
    let means: Vec<f64> = fit.forecast.iter().map(|(mean, _)| *mean).collect();
    let (error, baseline_error) =
        (rms_error(&means, held_out), rms_error(&baseline(&rt, training, held_out)?, held_out));
    let within = held_out.iter().zip(&fit.forecast).filter(|(week, (mean, sd))| (week.ppm - mean).abs() < 2.0 * sd);
    let share = 100.0 * within.count() as f64 / held_out.len() as f64;
    println!("error of the forecast, 1996 to 2001 (root mean square):");
    println!("  gaussian process                      {error:.2} ppm");
    println!("  least squares, parabola and harmonics {baseline_error:.2} ppm");
    println!("{share:.0} % of the weeks lie within two standard deviations");

    std::fs::write(PICTURE, picture(&weeks, held_out, &fit.forecast)?)?;
    println!("picture: {PICTURE}");
    at_most("backward error", backward, training.len() as f64 * f64::EPSILON)?;
    Ok(at_most("error of the forecast, in ppm", error, baseline_error)?)
}

/// Parses the weeks that have a value.
fn parse(text: &str) -> Outcome<Vec<Week>> {
    let mut weeks = Vec::new();
    for line in text.lines().skip(1) {
        let (date, value) = line.split_once(',').ok_or("a line without a comma")?;
        if !value.is_empty() {
            let date: i64 = date.parse()?;
            weeks.push(Week { day: day_number(date / 10000, date / 100 % 100, date % 100), ppm: value.parse()? });
        }
    }
    Ok(weeks)
}

/// Returns the days since 1 January 1970 in the Gregorian calendar. Years are counted from March, so that a leap day is
/// the last day of a year.
fn day_number(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    365 * year + leap_days + (153 * month + 2) / 5 + day - 719_469
}

/// Returns the largest distance between two weeks in days.
fn span(weeks: &[Week]) -> usize {
    weeks.last().map_or(0, |last| (last.day - weeks[0].day) as usize)
}

impl Covariance {
    fn new(scales: Scales, span: usize) -> Self {
        let square = |x: f64| x * x;
        let of_lag = |days: usize| {
            let years = days as f64 / 365.2425;
            let trend = square(66.0) * (-square(years / scales.trend_years) / 2.0).exp();
            let phase = square((PI * years).sin() / 1.3);
            let season = square(2.4) * (-square(years / 90.0) / 2.0 - 2.0 * phase).exp();
            let irregular = square(0.66) * (1.0 + square(years / 1.2) / (2.0 * 0.78)).powf(-0.78);
            let weather = square(0.18) * (-square(years / (1.6 / 12.0)) / 2.0).exp();
            trend + season + irregular + weather
        };
        Self { of_lag: (0..=span).map(of_lag).collect(), noise: square(scales.noise_ppm) }
    }

    /// Returns the covariance of the values of two weeks, without noise.
    fn at(&self, a: Week, b: Week) -> f64 {
        self.of_lag[a.day.abs_diff(b.day) as usize]
    }
}

/// Returns those of a few scales that maximize the likelihood of the training data.
fn choose(rt: &Runtime, training: &[Week]) -> Outcome<Scales> {
    let mut best: Option<(f64, Scales)> = None;
    for trend_years in [45.0, 67.0, 100.0] {
        for noise_ppm in [0.19, 0.33, 0.50] {
            let scales = Scales { trend_years, noise_ppm };
            let fit = regress(rt, &Covariance::new(scales, span(training)), training, &[])?;
            println!(
                "  log likelihood {:>9.2} with a trend of {trend_years} years, noise of {noise_ppm} ppm",
                fit.log_likelihood
            );
            if best.is_none_or(|(likelihood, _)| fit.log_likelihood > likelihood) {
                best = Some((fit.log_likelihood, scales));
            }
        }
    }
    let (_, scales) = best.ok_or("no scales to choose from")?;
    println!("chosen: a trend of {} years, noise of {} ppm", scales.trend_years, scales.noise_ppm);
    Ok(scales)
}

/// Solves (K + σ² I) X = [y, K*], and computes means, variances and the likelihood from the solution.
fn regress(rt: &Runtime, covariance: &Covariance, training: &[Week], wanted: &[Week]) -> Outcome<Fit> {
    let n = training.len();
    let level = mean(training);
    let mut k = Matrix::zeros(n, n);
    let mut x = Matrix::from_fn(n, 1 + wanted.len(), |i, j| match j {
        0 => training[i].ppm - level,
        j => covariance.at(training[i], wanted[j - 1]),
    });
    let right_hand_sides = x.clone();
    rt.scope(|s| {
        let k = Tiled::new(s, k.as_mut(), NB, NB);
        let x = Tiled::new(s, x.as_mut(), NB, NB);
        for j in 0..k.nt() {
            for i in j..k.mt() {
                let task = TaskSpec::new("covariance").index([i as u32, j as u32]).priority(1);
                s.spawn(task, k.at(i, j).write(), move |tile| {
                    fill(tile.view_mut(), covariance, training, i * NB, j * NB);
                });
            }
        }
        // The factorization of the first tiles starts while the last tiles are still being filled.
        spawn::posv(s, Uplo::Lower, &k, &x);
    })?;

    let column = |matrix: &Matrix<f64>, j: usize| (0..n).map(|i| matrix.at(i, j)).collect::<Vec<_>>();
    let (y, alpha) = (column(&right_hand_sides, 0), column(&x, 0));
    let log_determinant = 2.0 * (0..n).map(|i| k.at(i, i).ln()).sum::<f64>();
    let forecast = (1..=wanted.len()).map(|j| {
        let cross = column(&right_hand_sides, j);
        let variance = covariance.of_lag[0] + covariance.noise - dot(&cross, &column(&x, j));
        (level + dot(&cross, &alpha), variance.max(0.0).sqrt())
    });
    let log_likelihood = -0.5 * (dot(&y, &alpha) + log_determinant + n as f64 * (2.0 * PI).ln());
    Ok(Fit { log_likelihood, forecast: forecast.collect(), alpha })
}

/// Fills the tile of K whose first element is (row, col), with the noise on the diagonal.
fn fill(mut tile: MatMut<'_, f64>, covariance: &Covariance, weeks: &[Week], row: usize, col: usize) {
    let (m, n) = tile.shape();
    for j in 0..n {
        for i in 0..m {
            let noise = if row + i == col + j { covariance.noise } else { 0.0 };
            tile[(i, j)] = covariance.at(weeks[row + i], weeks[col + j]) + noise;
        }
    }
}

/// Returns ‖y − (K + σ² I) α‖ / (‖K + σ² I‖ ‖α‖) in the infinity norm, computed from the definition without the tiles.
fn backward_error(covariance: &Covariance, training: &[Week], alpha: &[f64]) -> f64 {
    let level = mean(training);
    let row = |(a, own): (&Week, &f64)| {
        let product: f64 = training.iter().zip(alpha).map(|(b, alpha)| covariance.at(*a, *b) * alpha).sum();
        (a.ppm - level - product - covariance.noise * own).abs()
    };
    let sum = |a: &Week| training.iter().map(|b| covariance.at(*a, *b).abs()).sum::<f64>() + covariance.noise;
    let size = largest(training.iter().map(sum)) * largest(alpha.iter().map(|alpha| alpha.abs()));
    largest(training.iter().zip(alpha).map(row)) / size
}

fn mean(weeks: &[Week]) -> f64 {
    weeks.iter().map(|week| week.ppm).sum::<f64>() / weeks.len() as f64
}

/// Returns a forecast for comparison: a fit of a parabola and two harmonics of the year with the normal equations.
fn baseline(rt: &Runtime, training: &[Week], wanted: &[Week]) -> Outcome<Vec<f64>> {
    let terms = |week: &Week| {
        let t = (week.year() - 1980.0) / 20.0;
        let angle = 2.0 * PI * week.year();
        [1.0, t, t * t, angle.sin(), angle.cos(), (2.0 * angle).sin(), (2.0 * angle).cos()]
    };
    let rows: Vec<_> = training.iter().map(terms).collect();
    let mut normal = Matrix::from_fn(7, 7, |i, j| rows.iter().map(|row| row[i] * row[j]).sum());
    let mut weights =
        Matrix::from_fn(7, 1, |i, _| rows.iter().zip(training).map(|(row, week)| row[i] * week.ppm).sum());
    posv(rt, Uplo::Lower, normal.as_mut(), weights.as_mut(), &Options::default())?;
    let weights = weights.into_vec();
    Ok(wanted.iter().map(|week| dot(&terms(week), &weights)).collect())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn rms_error(forecast: &[f64], truth: &[Week]) -> f64 {
    let squares = forecast.iter().zip(truth).map(|(forecast, week)| (forecast - week.ppm).powi(2));
    (squares.sum::<f64>() / truth.len() as f64).sqrt()
}

/// Draws the last years of the data, the forecast and its band.
fn picture(weeks: &[Week], held_out: &[Week], forecast: &[(f64, f64)]) -> Result<String, std::fmt::Error> {
    const FIRST_YEAR: f64 = 1988.0;
    let x = |week: &Week| 50.0 + (week.year() - FIRST_YEAR) * 60.0;
    let y = |ppm: f64| 380.0 - (ppm - 345.0) * 11.0;
    let line = |points: &mut dyn Iterator<Item = (f64, f64)>| {
        points.map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ")
    };
    let at = |sign: f64| held_out.iter().zip(forecast).map(move |(week, (mean, sd))| (x(week), y(mean + sign * sd)));
    let mut svg =
        String::from("<svg xmlns='http://www.w3.org/2000/svg' width='920' height='400' font-family='sans-serif'>\n");
    writeln!(svg, "<rect width='920' height='400' fill='white'/>")?;
    for year in (1988..=2002).step_by(2) {
        let at = 50.0 + (f64::from(year) - FIRST_YEAR) * 60.0;
        writeln!(svg, "<text x='{at}' y='397' font-size='12' text-anchor='middle'>{year}</text>")?;
    }
    for ppm in (350..=375).step_by(5) {
        let at = y(f64::from(ppm));
        writeln!(svg, "<path d='M50 {at}H900' stroke='#ddd'/><text x='4' y='{at}' font-size='12'>{ppm} ppm</text>")?;
    }
    let band = line(&mut at(2.0).chain(at(-2.0).collect::<Vec<_>>().into_iter().rev()));
    writeln!(svg, "<polygon points='{band}' fill='#f4b183' fill-opacity='0.5'/>")?;
    writeln!(svg, "<polyline points='{}' fill='none' stroke='#c04000'/>", line(&mut at(0.0)))?;
    for week in weeks.iter().filter(|week| week.year() > FIRST_YEAR) {
        let colour = if week.year() < FIRST_HELD_OUT_YEAR { "#1f4e9c" } else { "black" };
        writeln!(svg, "<circle cx='{:.1}' cy='{:.1}' r='1.3' fill='{colour}'/>", x(week), y(week.ppm))?;
    }
    svg.push_str("</svg>\n");
    Ok(svg)
}
