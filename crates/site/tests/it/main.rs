//! Tests of the site with a real server, a real browser, and each supported database.
#![allow(clippy::unwrap_used, reason = "a test says by panicking what is wrong")]

mod api;
mod browser;
mod chance;
#[path = "../../../store/src/collection/tests/cluster.rs"]
#[allow(dead_code, reason = "shared with the tests of the collection, which ask more of it")]
mod cluster;
mod durability;
mod environment;
mod hostile;
mod http;
mod reading;
mod runs;
#[path = "../../../../tests/sibling.rs"]
mod sibling;
#[path = "../../../../tests/skipped.rs"]
mod skipped;
mod story;

/// Runs the same tests on both databases.
macro_rules! on_both {
    ($($module:ident :: $name:ident,)*) => {
        mod on_postgresql {
            $(#[test]
            fn $name() {
                if let Some(environment) = super::environment::SiteEnvironment::postgresql() {
                    super::$module::$name(&environment);
                }
            })*
        }

        mod on_sqlite {
            $(#[test]
            fn $name() {
                super::$module::$name(&super::environment::SiteEnvironment::sqlite());
            })*
        }
    };
}

on_both! {
    durability::kill_9_loses_nothing_that_was_acknowledged,
    durability::the_same_run_at_once_is_one_run,
    hostile::bad_uploads_are_refused_with_a_reason,
    hostile::hostile_texts_are_only_texts,
    story::what_is_measured_here_and_elsewhere_comes_in,
}

/// Runs tests on one database: those that do not depend on it.
macro_rules! on_one {
    ($($module:ident :: $name:ident,)*) => {
        $(#[test]
        fn $name() {
            $module::$name(&environment::SiteEnvironment::sqlite());
        })*
    };
}

on_one! {
    hostile::one_address_leaves_places_to_others,
    hostile::torn_and_slow_uploads_hold_nobody_up,
    hostile::clients_over_the_rate_limit_get_429_and_retry_after,
    story::at_a_desk,
    story::by_keyboard,
    story::on_a_phone,
}
