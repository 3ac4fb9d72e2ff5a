//! Forwarding of the methods that a wrapper does not change.

/// Inside `impl<D: Device> Device for Wrapper<D>`: forwards the named methods to `self.inner`.
macro_rules! forward {
    ($($method:ident)*) => { $($crate::forward::forward!(@ $method);)* };
    (@ facts) => {
        fn facts(&self) -> &$crate::Facts {
            self.inner.facts()
        }
    };
    (@ now) => {
        fn now(&mut self) -> u64 {
            self.inner.now()
        }
    };
    (@ prepare) => {
        fn prepare(&mut self, slots: u32, slot_bytes: usize) -> Result<(), $crate::IoError> {
            self.inner.prepare(slots, slot_bytes)
        }
    };
    (@ buffer) => {
        fn buffer(&mut self, slot: $crate::Slot) -> &mut [u8] {
            self.inner.buffer(slot)
        }
    };
    (@ reap) => {
        #[inline]
        fn reap(&mut self, min: usize, done: &mut Vec<$crate::Completion>) -> Result<(), $crate::IoError> {
            self.inner.reap(min, done)
        }
    };
    (@ idle) => {
        fn idle(&mut self, duration_ns: u64) {
            self.inner.idle(duration_ns)
        }
    };
    (@ drop_caches) => {
        fn drop_caches(&mut self) -> Result<(), $crate::IoError> {
            self.inner.drop_caches()
        }
    };
    (@ set_data_needed) => {
        fn set_data_needed(&mut self, looked_at: bool, generator: &$crate::DataGenerator) {
            self.inner.set_data_needed(looked_at, generator)
        }
    };
    (@ run_delay_ns) => {
        fn run_delay_ns(&mut self) -> Option<u64> {
            self.inner.run_delay_ns()
        }
    };
    (@ host_stalls) => {
        fn host_stalls(&mut self, from_ns: u64) -> Vec<record::HostStall> {
            self.inner.host_stalls(from_ns)
        }
    };
    (@ cpu_ns) => {
        fn cpu_ns(&mut self) -> Option<u64> {
            self.inner.cpu_ns()
        }
    };
}

pub(crate) use forward;
