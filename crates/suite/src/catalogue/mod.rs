//! The tests, one file each.

mod align_read;
mod buffered_read;
pub mod capacity;
mod commit;
mod durable;
pub mod ext2_fill;
mod ext2_format;
mod fill;
mod flush_cost;
mod level;
mod log_append;
mod open_aus;
mod preconditioned_span;
mod prelude;
mod prime;
mod random_read;
mod random_write;
pub(crate) mod read_back;
pub(crate) mod record_ops;
mod rewrite_check;
mod sector_write;
mod seek;
mod sequential;
mod stretch;
mod sustained;
mod sweep;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod verify;
mod whole_view;

pub use record_ops::RecordOpsSettings;

use record::alike::closest;
use record::test;

use crate::Test;
use crate::settings::SettingError;

/// Every test, in the order in which `--help` names them.
pub static CATALOGUE: &[&dyn Test] = &[
    &prime::Prime,
    &random_write::RandomWrite,
    &sequential::Sequential::READ,
    &sequential::Sequential::WRITE,
    &fill::Fill::ZEROS,
    &fill::Fill::RANDOM,
    &random_read::RandomRead,
    &seek::Seek,
    &buffered_read::BufferedRead,
    &record_ops::RecordOps,
    &sector_write::SectorWrite,
    &ext2_format::Ext2Format,
    &ext2_fill::Ext2Fill,
    &align_read::AlignRead,
    &open_aus::OpenAus,
    &sweep::write_unit::WRITE_UNIT,
    &sweep::misalign::MISALIGN,
    &sweep::span_sweep::SPAN_SWEEP,
    &sweep::content_sweep::CONTENT_SWEEP,
    &sustained::Sustained,
    &flush_cost::FlushCost,
    &commit::Commit,
    &log_append::LogAppend,
    &whole_view::WholeView,
    &capacity::Capacity,
    &verify::Verify,
    &read_back::ReadBack,
];

/// Other names of a test in the field, and its name here.
const ALIASES: [(&str, &str); 1] = [("precondition", test::PRIME)];

/// The name of the test that `name` means: its own, or another one of the field.
pub fn test_name(name: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, test)| test)
}

/// The test of this name; an error names the nearest ones.
pub fn find(name: &str) -> Result<&'static dyn Test, SettingError> {
    let name = test_name(name);
    CATALOGUE.iter().find(|test| test.name() == name).copied().ok_or_else(|| {
        let hint = match closest(name, CATALOGUE.iter().map(|test| test.name())).as_slice() {
            [] => "; `flashmark tests` names them all".to_owned(),
            near => format!("; did you mean {}?", near.join(" or ")),
        };
        SettingError::UnknownTest { test: name.to_owned(), hint }
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use record::units::MILLISECOND_NS;

    use super::testing::TestBench;
    use super::*;
    use crate::PlanError;

    /// A matrix and a replay are not tests of a suite; their cells are in records too.
    #[test]
    fn the_names_of_the_record_are_those_of_the_catalogue() {
        let beyond = [test::MATRIX, test::REPLAY];
        let here: BTreeSet<&str> = CATALOGUE.iter().map(|test| test.name()).chain(beyond).collect();
        assert_eq!(here, test::ALL.iter().copied().collect());
    }

    #[test]
    fn every_published_value_is_one_that_can_be_set() {
        for test in CATALOGUE {
            let all = test.settings().iter().map(|set| format!(" {}={}", set.name, set.default));
            let asked: String = std::iter::once(test.name().to_owned()).chain(all).collect();
            let planned = TestBench::raw(4 << 30, |_, _| 1).plan(&[asked.as_str()]);
            assert!(!matches!(planned, Err(PlanError::Setting(_))), "{asked}: {planned:?}");
        }
    }

    #[test]
    fn a_cell_without_a_number_of_its_plan_fails_and_names_it() {
        let bench = TestBench::raw(1 << 30, |_, _| MILLISECOND_NS);
        let mut plan = bench.plan(&["seek", "flush-cost block=4KiB form=plain"]).unwrap();
        plan.cells[1].params.other.remove("rounds");
        let ran = bench.run_plan(&plan);
        assert_eq!(ran.cell("seek/1").reason, None);
        let reason = ran.cell("flush-cost/1").reason.as_deref();
        assert_eq!(reason, Some("the plan has no rounds for flush-cost; another version made it"));
    }
}
