//! Least squares on a design whose columns may depend on each other.

/// Values smaller than this count as 0: designs are made of zeros and ones.
const ZERO: f64 = 1e-9;

/// A least-squares fit. Columns that depend on those before them have the coefficient 0.
pub(super) struct Fit {
    rows: Vec<Vec<f64>>,
    /// The columns that are kept, by number.
    kept: Vec<usize>,
    /// The inverse of the normal equations of the kept columns.
    inverse: Vec<Vec<f64>>,
    coefficients: Vec<f64>,
    residuals: Vec<f64>,
}

impl Fit {
    /// Fits values to rows of a design; `None` where there is no row.
    pub fn of(rows: &[Vec<f64>], values: &[f64]) -> Option<Fit> {
        let kept = independent(rows);
        let normal = |a: &usize| -> Vec<f64> {
            kept.iter().map(|b| rows.iter().map(|row| row[*a] * row[*b]).sum()).collect()
        };
        let inverse = inverted(kept.iter().map(normal).collect())?;
        let right: Vec<f64> = kept
            .iter()
            .map(|a| rows.iter().zip(values).map(|(row, y)| row[*a] * y).sum())
            .collect();
        let mut coefficients = vec![0.0; rows.first()?.len()];
        for (at, column) in kept.iter().enumerate() {
            coefficients[*column] = dot(&inverse[at], &right);
        }
        let residuals =
            rows.iter().zip(values).map(|(row, y)| y - dot(row, &coefficients)).collect();
        Some(Fit { rows: rows.to_vec(), kept, inverse, coefficients, residuals })
    }

    /// Number of independent columns.
    pub fn rank(&self) -> usize {
        self.kept.len()
    }

    /// The coefficient of a column; 0 for `None`.
    pub fn coefficient(&self, column: Option<usize>) -> f64 {
        column.map_or(0.0, |column| self.coefficients[column])
    }

    /// Fitted value of a row.
    pub fn fitted(&self, row: usize) -> f64 {
        dot(&self.rows[row], &self.coefficients)
    }

    /// The weights of the values in the difference of two coefficients.
    pub fn weights(&self, high: Option<usize>, low: Option<usize>) -> Vec<f64> {
        let sign =
            |column: &usize| f64::from(Some(*column) == high) - f64::from(Some(*column) == low);
        let contrast: Vec<f64> = self.kept.iter().map(sign).collect();
        let solved: Vec<f64> = self.inverse.iter().map(|line| dot(line, &contrast)).collect();
        self.rows.iter().map(|row| dot(&self.of_kept(row), &solved)).collect()
    }

    /// Birge ratio: distance of the values from the fit over the distance that these variances
    /// predict, 1 or more.
    pub fn scale(&self, variances: &[f64]) -> f64 {
        let squares: f64 = self.residuals.iter().map(|residual| residual * residual).sum();
        let leverage = |row: &Vec<f64>| {
            let row = self.of_kept(row);
            self.inverse.iter().zip(&row).map(|(line, own)| own * dot(line, &row)).sum::<f64>()
        };
        let expected: f64 = self
            .rows
            .iter()
            .zip(variances)
            .map(|(row, of)| (1.0 - leverage(row)).max(0.0) * of)
            .sum();
        let degrees = self.rows.len() - self.rank();
        if degrees == 0 || expected <= 0.0 { 1.0 } else { (squares / expected).sqrt().max(1.0) }
    }

    fn of_kept(&self, row: &[f64]) -> Vec<f64> {
        self.kept.iter().map(|column| row[*column]).collect()
    }
}

/// The coefficients that fit values to rows of a design best, in the sum of squares; 0 for a column
/// that depends on those before it. `None` without rows.
pub fn least_squares(rows: &[Vec<f64>], values: &[f64]) -> Option<Vec<f64>> {
    Fit::of(rows, values).map(|fit| fit.coefficients)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Number of independent rows.
pub(super) fn rank(rows: Vec<Vec<f64>>) -> usize {
    independent(&rows).len()
}

/// The columns that do not depend on those before them, by Gauss's elimination.
fn independent(rows: &[Vec<f64>]) -> Vec<usize> {
    let mut rows = rows.to_vec();
    let columns = rows.first().map_or(0, Vec::len);
    let (mut kept, mut at) = (Vec::new(), 0);
    for column in 0..columns {
        let size = |row: &usize| rows[*row][column].abs();
        let Some(pivot) = (at..rows.len()).max_by(|a, b| size(a).total_cmp(&size(b))) else {
            break;
        };
        if rows[pivot][column].abs() < ZERO {
            continue;
        }
        rows.swap(at, pivot);
        let (above, below) = rows.split_at_mut(at + 1);
        for row in below {
            subtract(row, &above[at], column);
        }
        kept.push(column);
        at += 1;
    }
    kept
}

/// Subtracts a multiple of the pivot's row, so that the column becomes 0.
fn subtract(row: &mut [f64], pivot: &[f64], column: usize) {
    let share = row[column] / pivot[column];
    row.iter_mut().zip(pivot).for_each(|(own, of)| *own -= share * of);
}

/// The inverse of a square matrix (Gauss and Jordan); `None` of a singular one.
fn inverted(matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let n = matrix.len();
    let unit = |at: usize| (0..n).map(move |column| f64::from(column == at));
    let mut rows: Vec<Vec<f64>> = matrix
        .into_iter()
        .enumerate()
        .map(|(at, row)| row.into_iter().chain(unit(at)).collect())
        .collect();
    for column in 0..n {
        let size = |row: &usize| rows[*row][column].abs();
        let pivot = (column..n).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        if rows[pivot][column].abs() < ZERO {
            return None;
        }
        rows.swap(column, pivot);
        let own = rows[column][column];
        rows[column].iter_mut().for_each(|x| *x /= own);
        let pivot = rows[column].clone();
        for row in rows.iter_mut().enumerate().filter(|(at, _)| *at != column).map(|(_, row)| row) {
            subtract(row, &pivot, column);
        }
    }
    Some(rows.into_iter().map(|row| row[n..].to_vec()).collect())
}
