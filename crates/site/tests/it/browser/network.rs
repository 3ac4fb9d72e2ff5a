//! Network conditions: simulated speed, and transferred bytes.

use serde_json::{Value, json};

use super::Browser;

/// Cost of loading a page.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Bytes on the wire, headers included, for all of its files.
    pub bytes: u64,
    /// Number of requests.
    pub requests: usize,
    /// Time from the first request until text is visible, in ms.
    pub readable_ms: f64,
    /// Time from the first request until the page is loaded, in ms.
    pub loaded_ms: f64,
}

impl Browser {
    /// Simulates a slow phone: a quarter of the processor speed, `latency_ms` of latency, and a
    /// limited rate in bytes per second.
    pub fn set_slow_phone(&mut self, latency_ms: u32, bytes_a_second: u32) {
        self.call("Emulation.setCPUThrottlingRate", json!({"rate": 4}));
        let conditions = json!({"offline": false, "latency": latency_ms, "downloadThroughput": bytes_a_second, "uploadThroughput": bytes_a_second});
        self.call("Network.emulateNetworkConditions", conditions);
    }

    /// Opens an address with an empty cache; returns the cost.
    pub fn cost(&mut self, address: &str) -> Cost {
        self.call("Network.clearBrowserCache", json!({}));
        let before = self.events("Network.loadingFinished").count();
        self.open(address);
        let ended: Vec<&Value> = self.events("Network.loadingFinished").skip(before).collect();
        let bytes =
            ended.iter().map(|event| event["encodedDataLength"].as_f64().unwrap() as u64).sum();
        let requests = ended.len();
        let times = self.value(
            r#"(() => {
              const page = performance.getEntriesByType("navigation")[0];
              const paint = performance.getEntriesByName("first-contentful-paint")[0];
              return [paint ? paint.startTime : page.domContentLoadedEventEnd, page.loadEventStart];
            })()"#,
        );
        Cost {
            bytes,
            requests,
            readable_ms: times[0].as_f64().unwrap(),
            loaded_ms: times[1].as_f64().unwrap(),
        }
    }
}
