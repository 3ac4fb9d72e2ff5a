//! Forwarding of the methods that a wrapper does not change.

/// Inside `impl Device for Wrapper`: forwards the named methods to `self.inner`, or with `to
/// pointer` to what `self` points to.
macro_rules! forward {
    (to pointer: $($method:ident)*) => { $($crate::forward::forward!(@ $method pointer);)* };
    ($($method:ident)*) => { $($crate::forward::forward!(@ $method inner);)* };
    (@to $self:ident pointer) => { **$self };
    (@to $self:ident inner) => { $self.inner };
    (@ facts $to:ident) => {
        fn facts(&self) -> &$crate::Facts {
            ($crate::forward::forward!(@to self $to)).facts()
        }
    };
    (@ now $to:ident) => {
        fn now(&mut self) -> u64 {
            ($crate::forward::forward!(@to self $to)).now()
        }
    };
    (@ prepare $to:ident) => {
        fn prepare(&mut self, slots: u32, slot_bytes: usize) -> Result<(), $crate::IoError> {
            ($crate::forward::forward!(@to self $to)).prepare(slots, slot_bytes)
        }
    };
    (@ buffer $to:ident) => {
        fn buffer(&mut self, slot: $crate::Slot) -> &mut [u8] {
            ($crate::forward::forward!(@to self $to)).buffer(slot)
        }
    };
    (@ submit $to:ident) => {
        fn submit(&mut self, request: $crate::Request) -> Result<(), $crate::IoError> {
            ($crate::forward::forward!(@to self $to)).submit(request)
        }
    };
    (@ reap $to:ident) => {
        #[inline]
        fn reap(&mut self, min: usize, done: &mut Vec<$crate::Completion>) -> Result<(), $crate::IoError> {
            ($crate::forward::forward!(@to self $to)).reap(min, done)
        }
    };
    (@ idle $to:ident) => {
        fn idle(&mut self, duration_ns: u64) {
            ($crate::forward::forward!(@to self $to)).idle(duration_ns)
        }
    };
    (@ drop_caches $to:ident) => {
        fn drop_caches(&mut self) -> Result<(), $crate::IoError> {
            ($crate::forward::forward!(@to self $to)).drop_caches()
        }
    };
    (@ set_data_needed $to:ident) => {
        fn set_data_needed(&mut self, looked_at: bool, generator: &$crate::DataGenerator) {
            ($crate::forward::forward!(@to self $to)).set_data_needed(looked_at, generator)
        }
    };
    (@ run_delay_ns $to:ident) => {
        fn run_delay_ns(&mut self) -> Option<u64> {
            ($crate::forward::forward!(@to self $to)).run_delay_ns()
        }
    };
    (@ host_stalls $to:ident) => {
        fn host_stalls(&mut self, from_ns: u64) -> Vec<record::HostStall> {
            ($crate::forward::forward!(@to self $to)).host_stalls(from_ns)
        }
    };
    (@ cpu_ns $to:ident) => {
        fn cpu_ns(&mut self) -> Option<u64> {
            ($crate::forward::forward!(@to self $to)).cpu_ns()
        }
    };
}

pub(crate) use forward;
