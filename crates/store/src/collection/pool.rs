//! A pool of a few connections to the database.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::connection::{Connection, Intent};
use super::error::{DatabaseError, ErrorContext};
use super::sqlite::Sqlite;
use super::{Address, CollectionError};

/// Most connections. More readers than this on one database wait for each other anyway.
const MOST: usize = 8;

/// The connections of a collection.
pub(super) struct ConnectionPool {
    address: Address,
    most: usize,
    idle: Mutex<Idle>,
    returned: Condvar,
    /// Lock of the writer in this process; the lock of the database keeps out others.
    writing: Mutex<()>,
}

#[derive(Default)]
struct Idle {
    connections: Vec<Box<dyn Connection>>,
    /// Number of connections, in use or not.
    count: usize,
}

/// A connection in use. It returns to the pool only if all went well: otherwise its state is
/// unknown.
struct Lease<'a> {
    pool: &'a ConnectionPool,
    connection: Option<Box<dyn Connection>>,
    is_sound: bool,
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let mut idle = self.pool.idle();
        match self.connection.take().filter(|_| self.is_sound) {
            Some(connection) => idle.connections.push(connection),
            None => idle.count -= 1,
        }
        self.pool.returned.notify_one();
    }
}

fn connect(address: &Address) -> Result<Box<dyn Connection>, CollectionError> {
    match address {
        Address::Sqlite(path) => {
            Sqlite::open(path).map(|sqlite| Box::new(sqlite) as Box<dyn Connection>).opening()
        }
        Address::Memory => {
            Sqlite::in_memory().map(|sqlite| Box::new(sqlite) as Box<dyn Connection>).opening()
        }
        #[cfg(feature = "postgres")]
        Address::Postgres(url) => super::postgres::Postgres::open(url)
            .map(|postgres| Box::new(postgres) as Box<dyn Connection>)
            .opening(),
        #[cfg(not(feature = "postgres"))]
        Address::Postgres(_) => Err(CollectionError::NoPostgres),
    }
}

impl ConnectionPool {
    pub fn new(address: Address) -> ConnectionPool {
        // Each connection to memory is a memory of its own.
        let most = if address == Address::Memory { 1 } else { MOST };
        ConnectionPool {
            address,
            most,
            idle: Mutex::default(),
            returned: Condvar::new(),
            writing: Mutex::new(()),
        }
    }

    pub fn address(&self) -> &Address {
        &self.address
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        // A panic in another thread leaves the list of connections intact.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lease(&self) -> Result<Lease<'_>, CollectionError> {
        let mut idle = self.idle();
        loop {
            while let Some(mut connection) = idle.connections.pop() {
                if connection.is_alive() {
                    return Ok(Lease { pool: self, connection: Some(connection), is_sound: false });
                }
                idle.count -= 1;
            }
            if idle.count < self.most {
                idle.count += 1;
                drop(idle);
                let mut lease = Lease { pool: self, connection: None, is_sound: false };
                lease.connection = Some(connect(&self.address)?);
                return Ok(lease);
            }
            idle = self.returned.wait(idle).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Uses a connection outside any transaction.
    pub fn look<T>(
        &self,
        work: impl FnOnce(&mut dyn Connection) -> Result<T, CollectionError>,
    ) -> Result<T, CollectionError> {
        let mut lease = self.lease()?;
        let connection =
            lease.connection.as_mut().expect("a lease has its connection until it is dropped");
        let result = work(connection.as_mut());
        // A statement that was refused leaves the connection as it was.
        lease.is_sound = true;
        result
    }

    /// Reads in a transaction: all statements see the same state.
    pub fn read<T>(
        &self,
        work: impl FnOnce(&mut dyn Connection) -> Result<T, CollectionError>,
    ) -> Result<T, CollectionError> {
        self.transaction(Intent::Read, work)
    }

    /// Writes in a transaction: all or nothing, durable when this returns.
    pub fn write<T>(
        &self,
        work: impl FnOnce(&mut dyn Connection) -> Result<T, CollectionError>,
    ) -> Result<T, CollectionError> {
        let _one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.transaction(Intent::Write, work)
    }

    fn transaction<T>(
        &self,
        intent: Intent,
        work: impl FnOnce(&mut dyn Connection) -> Result<T, CollectionError>,
    ) -> Result<T, CollectionError> {
        let mut lease = self.lease()?;
        let connection =
            lease.connection.as_mut().expect("a lease has its connection until it is dropped");
        let named = |fault: Result<(), DatabaseError>| {
            if intent == Intent::Write { fault.changing() } else { fault.reading() }
        };
        named(connection.begin(intent))?;
        let result = work(connection.as_mut());
        let ended = connection.script(if result.is_ok() { "COMMIT" } else { "ROLLBACK" });
        lease.is_sound = ended.is_ok();
        match result {
            Ok(value) => named(ended).map(|()| value),
            Err(error) => Err(error),
        }
    }
}
