//! `flashmark-site`: starts the collection as a web service.

fn main() {}
