//! Conclusions about a medium and its host, one file each: its inner units, its speed, its health,
//! its genuineness, the host. A room uses only the rooms named before it.

pub(crate) mod advice;
pub(crate) mod genuine;
pub(crate) mod geometry;
pub(crate) mod health;
pub(crate) mod host;
pub(crate) mod speed;
