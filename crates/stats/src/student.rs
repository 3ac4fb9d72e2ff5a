//! Student's t, by way of the incomplete beta function.

/// The quantile of Student's t distribution: the value that a share `p` (0..1, ends excluded) of
/// the distribution is below, with `degrees` degrees of freedom (> 0, not necessarily whole). Good
/// to about 1e-9. NaN outside that domain.
pub fn student_t(p: f64, degrees: f64) -> f64 {
    if !(p > 0.0 && p < 1.0 && degrees > 0.0) {
        return f64::NAN;
    }
    if p < 0.5 {
        return -student_t(1.0 - p, degrees);
    }
    // The distribution is concave on this side, so Newton's steps from zero approach the quantile
    // from below, all of them.
    let tail = 1.0 - p;
    let mut t = 0.0;
    for _ in 0..200 {
        let step = (upper_tail(t, degrees) - tail) / density(t, degrees);
        t += step;
        if step <= 1e-13 * t {
            break;
        }
    }
    t
}

/// The share of Student's t distribution above `t` >= 0.
pub(crate) fn upper_tail(t: f64, degrees: f64) -> f64 {
    0.5 * incomplete_beta(degrees / 2.0, 0.5, degrees / (degrees + t * t))
}

/// The share of Fisher's F distribution above `f`, with these degrees of freedom of its numerator
/// and denominator (> 0); 1 at 0, NaN for NaN.
pub(crate) fn f_upper_tail(f: f64, numerator: f64, denominator: f64) -> f64 {
    if f.is_nan() {
        return f64::NAN;
    }
    incomplete_beta(denominator / 2.0, numerator / 2.0, denominator / (denominator + numerator * f))
}

fn density(t: f64, degrees: f64) -> f64 {
    let scale = ln_gamma(f64::midpoint(degrees, 1.0)) - ln_gamma(degrees / 2.0);
    let shape = -f64::midpoint(degrees, 1.0) * (t * t / degrees).ln_1p();
    (scale + shape).exp() / (degrees * std::f64::consts::PI).sqrt()
}

/// The regularised incomplete beta function I_x(a, b), by its continued fraction (Abramowitz &
/// Stegun 26.5.8).
pub(crate) fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast only on this side of the mean; the other side is its mirror
    // image.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p();
    front.exp() / (a * beta_fraction(a, b, x))
}

/// The continued fraction 1 + d1/(1 + d2/(1 + ..)), evaluated forwards (modified Lentz).
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |v: f64| if v.abs() < TINY { TINY } else { v };
    let (mut value, mut c, mut d) = (1.0, 1.0, 0.0);
    for step in 1..10_000 {
        let m = f64::from(step / 2);
        let term = if step % 2 == 0 {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        };
        d = 1.0 / away_from_zero(1.0 + term * d);
        c = away_from_zero(1.0 + term / c);
        value *= c * d;
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// The natural logarithm of the gamma function for `x > 0`: Stirling's series, after shifting the
/// argument above 10.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    let mut shifted = x;
    let mut product = 1.0;
    while shifted < 10.0 {
        product *= shifted;
        shifted += 1.0;
    }
    let inverse = 1.0 / shifted;
    let square = inverse * inverse;
    let series =
        inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0)));
    (shifted - 0.5) * shifted.ln() - shifted + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
        - product.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_quantiles_have_closed_forms_at_one_and_two_degrees() {
        for p in [0.001, 0.2, 0.5, 0.6, 0.9, 0.9999] {
            let cauchy = (std::f64::consts::PI * (p - 0.5)).tan();
            let two = (2.0 * p - 1.0) / (2.0 * p * (1.0 - p)).sqrt();
            assert!((student_t(p, 1.0) - cauchy).abs() <= 1e-9 * cauchy.abs().max(1.0), "{p}");
            assert!((student_t(p, 2.0) - two).abs() <= 1e-9 * two.abs().max(1.0), "{p}");
        }
    }

    #[test]
    fn ln_gamma_of_whole_numbers_is_the_factorial() {
        let mut factorial = 1.0_f64;
        for n in 1..30 {
            let (found, ln) = (ln_gamma(f64::from(n)), factorial.ln());
            assert!((found - ln).abs() < 1e-11 * (1.0 + ln), "{n}: {found}");
            factorial *= f64::from(n);
        }
    }
}
