//! The collection as a web service: pages, downloads, an interface for programs, and submissions. It trusts no byte that comes in, and nothing that
//! could touch a medium is linked into it.

pub mod allowance;
pub mod upload;
