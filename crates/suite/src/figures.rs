//! Results computed from other results, with their intervals.

use record::Estimate;

/// The ratio `over / under` of two independent results. The relative half-widths add as squares, in
/// the logarithm, so that the interval of the inverse ratio is the inverse interval. `n` is the
/// smaller of the two.
pub(crate) fn ratio(over: Estimate, under: Estimate) -> Estimate {
    let value = over.value / under.value;
    let half = |figure: Estimate| {
        figure.ci95.filter(|[low, _]| *low > 0.0).map(|[low, high]| (high / low).ln() / 2.0)
    };
    let ci95 = half(over).zip(half(under)).map(|(a, b)| {
        let factor = a.hypot(b).exp();
        [value / factor, value * factor]
    });
    Estimate { value, ci95, n: over.n.min(under.n) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(value: f64, relative: f64) -> Estimate {
        Estimate { value, ci95: Some([value / relative, value * relative]), n: 10 }
    }

    #[test]
    fn uncertainties_of_a_ratio_add_as_squares() {
        let found = ratio(figure(8.0, 0.03f64.exp()), figure(4.0, 0.04f64.exp()));
        let [low, high] = found.ci95.unwrap();
        assert_eq!(found.value, 2.0);
        assert!(
            (low - 2.0 * (-0.05f64).exp()).abs() < 1e-12
                && (high - 2.0 * 0.05f64.exp()).abs() < 1e-12,
            "{low} {high}"
        );
        assert_eq!(ratio(figure(8.0, 1.1), Estimate { ci95: None, ..figure(4.0, 1.0) }).ci95, None);
    }
}
