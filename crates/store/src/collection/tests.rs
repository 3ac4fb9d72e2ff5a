//! One suite of tests, run on SQLite and on a real PostgreSQL.

#[cfg(feature = "postgres")]
mod cluster;
mod copies;
mod judging_many;
mod killed;
mod made;
mod queries;
mod suite;
#[cfg(feature = "postgres")]
mod tls;
mod upgraded;

use std::path::Path;

use super::{Address, Collection};

/// An empty database, and everything that must live as long as it does.
struct Database {
    address: Address,
    dir: Option<tempfile::TempDir>,
    #[cfg(feature = "postgres")]
    cluster: Option<std::sync::Arc<cluster::Cluster>>,
}

impl Database {
    fn open(&self) -> Collection {
        Collection::open(&self.address).unwrap()
    }

    fn sqlite() -> Database {
        let dir = tempfile::tempdir().unwrap();
        Database {
            address: Address::Sqlite(dir.path().join("collection.db")),
            dir: Some(dir),
            #[cfg(feature = "postgres")]
            cluster: None,
        }
    }

    /// Executes a statement that the collection itself would not make.
    fn meddle(&self, sql: &str) {
        match &self.address {
            Address::Sqlite(path) => {
                rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap()
            }
            #[cfg(feature = "postgres")]
            Address::Postgres(url) => drop(self.cluster.as_ref().unwrap().psql(url, sql).unwrap()),
            _ => unreachable!("tests use a file or a server"),
        }
    }

    /// Makes a copy as docs/site.md describes, with the programs of the database.
    fn backup(&self) -> Database {
        match &self.address {
            Address::Sqlite(path) => {
                let copy = Database::sqlite();
                let to = copy.dir().unwrap().join("collection.db");
                let database = rusqlite::Connection::open(path).unwrap();
                database.execute("VACUUM INTO ?1", [to.to_str().unwrap()]).unwrap();
                copy
            }
            #[cfg(feature = "postgres")]
            Address::Postgres(url) => {
                let cluster = self.cluster.clone().unwrap();
                let address = Address::parse(&cluster.copy_of(url).unwrap()).unwrap();
                Database { address, dir: None, cluster: Some(cluster) }
            }
            _ => unreachable!("tests use a file or a server"),
        }
    }

    /// Directory of its file, if it is a file.
    fn dir(&self) -> Option<&Path> {
        self.dir.as_ref().map(tempfile::TempDir::path)
    }
}

/// Database on PostgreSQL; `None` if that is not installed. All tests share a server, which ends
/// with the last that uses it.
#[cfg(feature = "postgres")]
fn postgresql() -> Option<Database> {
    use std::sync::{Arc, Mutex, Weak};
    static RUNNING: Mutex<Weak<cluster::Cluster>> = Mutex::new(Weak::new());
    let mut running = RUNNING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let cluster = match running.upgrade() {
        Some(cluster) => cluster,
        None => Arc::new(cluster::Cluster::start().unwrap()?),
    };
    *running = Arc::downgrade(&cluster);
    drop(running);
    Some(Database {
        address: Address::parse(&cluster.database().unwrap()).unwrap(),
        dir: None,
        cluster: Some(cluster),
    })
}

macro_rules! on_both {
    ($($module:ident :: $name:ident,)*) => {
        mod on_sqlite {
            $(#[test]
            fn $name() {
                super::$module::$name(&super::Database::sqlite());
            })*
        }

        #[cfg(feature = "postgres")]
        mod on_postgresql {
            $(#[test]
            fn $name() {
                if let Some(database) = super::postgresql() {
                    super::$module::$name(&database);
                }
            })*
        }
    };
}

on_both! {
    suite::a_run_comes_back_as_it_was_sent,
    suite::the_same_run_again_is_the_same_run,
    suite::what_is_refused_leaves_nothing,
    suite::a_model_is_a_line_and_hosts_count_once,
    suite::fakes_are_a_line_of_their_own,
    suite::a_line_shows_what_most_senders_report,
    suite::origins_are_never_mixed,
    suite::quarantine_is_not_shown_until_someone_accepts,
    suite::a_replacement_keeps_the_name_and_the_old_revision,
    suite::what_is_withdrawn_stays_withdrawn,
    suite::a_copy_that_was_withdrawn_keeps_nobody_out,
    suite::the_audit_shows_every_event_and_every_manipulation,
    suite::tokens_are_kept_as_hashes,
    suite::the_reference_follows_the_program,
    suite::hosts_are_held_against_each_other,
    suite::media_are_distinguished_by_their_keys,
    suite::names_that_look_alike_get_addresses_of_their_own,
    suite::an_address_cannot_be_taken_in_advance,
    suite::hostile_texts_are_only_texts,
    suite::a_newer_collection_is_refused,
    suite::a_new_figure_gets_its_columns,
    suite::a_damaged_run_is_reported_as_one,
    suite::many_threads_submit_at_once,
    suite::two_programs_share_a_collection,
    queries::pages_are_those_of_a_naive_filter_and_sort,
    queries::figures_are_naive_medians,
    copies::a_copy_is_found_under_other_names,
    copies::a_copy_that_waits_keeps_nobody_waiting,
    judging_many::many_are_judged_and_put_back,
    judging_many::events_are_undone_from_the_last_to_the_first,
    judging_many::many_are_judged_all_or_none,
    judging_many::runs_are_listed_by_what_is_looked_for,
    judging_many::bytes_are_agreed_to_before_they_are_kept,
    upgraded::an_earlier_collection_is_brought_up_to_date,
    upgraded::a_backup_is_whole,
    upgraded::a_backup_of_an_earlier_version_is_brought_up_to_date,
    killed::kill_9_loses_nothing_that_was_acknowledged,
}

#[test]
fn somebody_elses_database_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("places.sqlite");
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE bookmarks (url TEXT)")
        .unwrap();
    let before = std::fs::read(&path).unwrap();
    let error = Collection::open(&Address::Sqlite(path.clone())).err().unwrap().to_string();
    assert!(error.contains("is not a collection of flashmark"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let text = dir.path().join("notes.txt");
    std::fs::write(
        &text,
        "this is no database, but it is longer than its header would be. ".repeat(20),
    )
    .unwrap();
    let error = Collection::open(&Address::Sqlite(text)).err().unwrap().to_string();
    assert!(error.contains("file is not a database"), "{error}");
}

#[test]
fn a_collection_in_memory_is_one() {
    let collection = Collection::open(&Address::Memory).unwrap();
    let receipt = collection.submit(made::submission(1, "SD32G", None, 5.0)).unwrap();
    assert_eq!(collection.clone().line(&receipt.slug).unwrap().unwrap().runs, 1);
}

#[test]
fn handles_go_to_any_thread() {
    fn shared<T: Send + Sync + Clone>() {}
    shared::<Collection>();
}
