use super::*;
use crate::demo;

#[test]
fn scratch() {
    for r in [demo::good(), demo::horrible(), demo::broken(), demo::begun(), demo::empty()] {
        println!("=====\n{}", summary(&r, 80, false));
    }
    println!("{}", table(&demo::broken()));
}
