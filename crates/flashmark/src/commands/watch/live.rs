//! The table on a terminal: 80 columns, drawn over itself.

use record::{Activity, IoCounters};

/// As wide as a terminal is at least.
const WIDTH: usize = 80;
/// Lines of a device's [`block`].
const BLOCK: usize = 7;

/// What stands on the screen.
#[derive(Default)]
pub struct Frame {
    lines: usize,
}

/// Rows of the terminal; 24 where it does not say.
pub fn size() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    size.map(|size| usize::from(size.ws_row)).filter(|rows| *rows > 0).unwrap_or(24)
}

impl Frame {
    /// What to print so that the last frame becomes this one. Devices that do not fit in full get a
    /// line each.
    pub fn draw(&mut self, rows: &[(String, Activity)], height: usize, time: &str) -> String {
        let fits = rows.len() * BLOCK + 1 < height;
        let interval = rows.first().map_or(0.0, |(_, activity)| activity.interval_s);
        let mut text = format!("{time}  the last {interval:.2} s; Ctrl-C ends and sums up\n");
        if fits {
            text.extend(rows.iter().map(|(name, activity)| block(name, activity)));
        } else {
            text += &short_header();
            // What is drawn above the screen cannot be drawn over.
            let room = height.saturating_sub(4);
            text.extend(rows.iter().take(room).map(|(name, activity)| short_line(name, activity)));
            if rows.len() > room {
                text += &format!("and {} more, for which there is no room\n", rows.len() - room);
            }
        }
        let up = if self.lines > 0 { format!("\x1b[{}A", self.lines) } else { String::new() };
        self.lines = text.lines().count();
        // No wrapping meanwhile: a narrow terminal would have more lines than were counted.
        format!("\x1b[?7l{up}\x1b[J{text}\x1b[?7h")
    }
}

/// Everything about one device.
pub fn block(name: &str, activity: &Activity) -> String {
    let head = ["I/Os /s", "kB/s", "rqm/s", "%rqm", "await", "areq-sz"]
        .map(|head| format!("{head:>11}"))
        .concat();
    let mut text = format!("{:<14}{head}\n", short(name, 13));
    let dash = || [String::from("-"), "-".into(), "-".into(), "-".into(), "-".into(), "-".into()];
    let mut push = |what: &str, values: [String; 6]| {
        let line = format!("  {what:<12}{}", values.map(|value| format!("{value:>11}")).concat());
        text += &format!("{}\n", line.trim_end());
    };
    push("r read", shown(&activity.read));
    push("w write", shown(&activity.write));
    push("d discard", activity.discard.as_ref().map_or_else(dash, shown));
    let flush = |[per_s, await_ms]: [f64; 2]| {
        [two(per_s), String::new(), String::new(), String::new(), two(await_ms), String::new()]
    };
    push("f flush", activity.flush.map_or_else(dash, flush));
    let Activity { queue, await_ms, size_kib, service_ms, busy_percent, .. } = activity;
    let sectors = size_kib * 2.0;
    text += &format!(
        "  aqu-sz {queue:.2}  await {await_ms:.2}  avgrq-sz {sectors:.2}  svctm {service_ms:.2}  %util {busy_percent:.2}\n\n"
    );
    text
}

fn shown(flow: &IoCounters) -> [String; 6] {
    [
        flow.ios_per_s,
        flow.kib_per_s,
        flow.merged_per_s,
        flow.merged_percent,
        flow.await_ms,
        flow.size_kib,
    ]
    .map(two)
}

fn two(value: f64) -> String {
    format!("{value:.2}")
}

fn short_header() -> String {
    let heads = ["r/s", "w/s", "rkB/s", "wkB/s", "r_await", "w_await", "aqu-sz", "%util"];
    format!("{:<12}{}\n", "Device", heads.map(|head| format!("{head:>8}")).concat())
}

fn short_line(name: &str, activity: &Activity) -> String {
    let Activity { read, write, .. } = activity;
    let rates = [read.ios_per_s, write.ios_per_s, read.kib_per_s, write.kib_per_s]
        .map(|rate| format!("{rate:>8.0}"));
    let times = [read.await_ms, write.await_ms, activity.queue, activity.busy_percent]
        .map(|value| format!("{value:>8.2}"));
    let line = format!("{:<12}{}{}", short(name, 11), rates.concat(), times.concat());
    format!("{}\n", short(&line, WIDTH))
}

/// The beginning of a text that is too long.
fn short(text: &str, room: usize) -> String {
    text.chars().take(room).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy() -> Activity {
        let fields =
            [1000, 50, 8000, 2500, 400, 0, 51_200, 1200, 0, 930, 3700, 10, 0, 4096, 5, 4, 12];
        let after = record::Counters::from_fields(&fields).unwrap();
        Activity::between(&record::Counters::from_fields(&[0; 17]).unwrap(), &after, 1_000_000_000)
            .unwrap()
    }

    #[test]
    fn a_device_in_full() {
        insta::assert_snapshot!(block("nvme0n1p1", &busy()).trim_end(), @r"
        nvme0n1p1         I/Os /s       kB/s      rqm/s       %rqm      await    areq-sz
          r read          1000.00    4000.00      50.00       4.76       2.50       4.00
          w write          400.00   25600.00       0.00       0.00       3.00      64.00
          d discard         10.00    2048.00       0.00       0.00       0.50     204.80
          f flush            4.00                                        3.00
          aqu-sz 3.70  await 2.63  avgrq-sz 44.89  svctm 0.66  %util 93.00
        ");
        let old = Activity { discard: None, flush: None, ..busy() };
        assert!(block("sda", &old).lines().all(|line| line.chars().count() <= WIDTH));
        assert_eq!(block("sda", &old).lines().count(), BLOCK);
    }

    #[test]
    fn a_frame_covers_the_one_before_and_never_leaves_the_screen() {
        let rows: Vec<_> = (0..30).map(|n| (format!("sd{n}"), busy())).collect();
        let mut frame = Frame::default();
        assert!(frame.draw(&rows[..1], 24, "12:00:00").starts_with("\x1b[?7l\x1b[J12:00:00"));
        assert!(frame.draw(&rows[..2], 24, "12:00:01").starts_with("\x1b[?7l\x1b[8A\x1b[J"));
        let many = frame.draw(&rows, 24, "12:00:02");
        assert!(
            many.starts_with("\x1b[?7l\x1b[15A\x1b[J") && many.contains("and 10 more"),
            "{many}"
        );
        assert!(frame.lines < 24);
        assert!(
            many.lines().all(|line| line
                .trim_start_matches("\x1b[?7l\x1b[15A\x1b[J")
                .chars()
                .count()
                <= WIDTH)
        );
    }
}
