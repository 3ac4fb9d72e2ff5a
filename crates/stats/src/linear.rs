//! Least squares on a design whose columns may depend on each other.

/// Values smaller than this count as 0: designs are made of zeros and ones.
const ZERO: f64 = 1e-9;

/// The coefficients that fit values to rows of a design best, in the sum of squares; 0 for a column
/// that depends on those before it. `None` without rows.
pub fn least_squares(rows: &[Vec<f64>], values: &[f64]) -> Option<Vec<f64>> {
    let kept = independent(rows);
    let normal = |a: &usize| -> Vec<f64> {
        kept.iter().map(|b| rows.iter().map(|row| row[*a] * row[*b]).sum()).collect()
    };
    let inverse = inverted(kept.iter().map(normal).collect())?;
    let right: Vec<f64> =
        kept.iter().map(|a| rows.iter().zip(values).map(|(row, y)| row[*a] * y).sum()).collect();
    let mut coefficients = vec![0.0; rows.first()?.len()];
    for (at, column) in kept.iter().enumerate() {
        coefficients[*column] = dot(&inverse[at], &right);
    }
    Some(coefficients)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_through_points_and_a_column_that_depends_on_another() {
        let rows: Vec<Vec<f64>> = [0.0, 1.0, 2.0].map(|x| vec![1.0, x, 2.0 * x]).to_vec();
        let found = least_squares(&rows, &[1.0, 3.0, 5.0]).unwrap();
        for (found, expected) in found.iter().zip([1.0, 2.0, 0.0]) {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
        assert_eq!(least_squares(&[], &[]), None);
    }
}
