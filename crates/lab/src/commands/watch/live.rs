//! The table on a terminal, drawn over itself: 80 columns, or folded where there are fewer.

use record::Activity;
use report::display;
use workloads::watch::shown;

/// The table that is on the screen now.
#[derive(Debug, Default)]
pub struct Frame {
    /// Columns of each of its lines.
    lines: Vec<usize>,
}

/// Rows of the terminal; 24 if it does not say.
pub fn height() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    size.map(|size| usize::from(size.ws_row)).filter(|rows| *rows > 0).unwrap_or(24)
}

impl Frame {
    /// Bytes that turn the last frame into this one, on a terminal of so many rows and columns. If
    /// not all devices fit in full, each gets a line.
    pub fn draw(
        &mut self,
        rows: &[(String, Activity)],
        [height, columns]: [usize; 2],
        time: &str,
    ) -> String {
        let interval = rows.first().map_or(0.0, |(_, activity)| activity.interval_s);
        let head = format!("{time}  the last {interval:.2} s; Ctrl-C ends and sums up");
        let head = pairs(&head.split("; ").map(str::to_owned).collect::<Vec<_>>(), "; ", columns);
        let blocks: String =
            rows.iter().map(|(name, activity)| block(name, activity, columns)).collect();
        let rest = height.saturating_sub(head.lines().count());
        let fits = blocks.lines().count() < rest;
        let text = head + &if fits { blocks } else { in_short(rows, rest, columns) };
        // A terminal that was made narrower meanwhile has broken what was too wide for it.
        let broken = |line: &usize| line.div_ceil(columns.max(1)).max(1);
        let up = match self.lines.iter().map(broken).sum::<usize>() {
            0 => String::new(),
            up => format!("\x1b[{up}A"),
        };
        self.lines = text.lines().map(display::width).collect();
        // No wrapping meanwhile: a narrow terminal would have more lines than were counted.
        format!("\x1b[?7l{up}\x1b[J{text}\x1b[?7h")
    }
}

/// Columns of names, and of each figure behind them.
const LEAD: usize = 14;
const FIGURE: usize = 11;
/// The same if each device has a line.
const SHORT_LEAD: usize = 12;
const SHORT_FIGURE: usize = 8;

/// Everything about one device.
pub fn block(name: &str, activity: &Activity, columns: usize) -> String {
    let heads = ["I/Os /s", "kB/s", "rqm/s", "%rqm", "await", "areq-sz"].map(str::to_owned);
    let of = |op: &str| {
        let columns = ["@/s", "@kB/s", "@rqm/s", "%@rqm", "@_await", "@areq-sz"];
        columns.map(|column| shown(&column.replace('@', op), activity, 2))
    };
    let table = [
        (display::split(name, LEAD - 1).0, heads),
        ("  r read", of("r")),
        ("  w write", of("w")),
        ("  d discard", of("d")),
        ("  f flush", of("f")),
    ];
    let each = room(columns, LEAD, FIGURE);
    let mut text = String::new();
    for from in (0..6).step_by(each) {
        for (lead, values) in &table {
            let values = &values[from..6.min(from + each)];
            if values.iter().any(|value| !value.is_empty()) {
                text += &row(lead, values, LEAD, FIGURE);
            }
        }
    }
    let sectors = format!("avgrq-sz {:.2}", activity.size_kib * 2.0);
    let column = |head: &str| format!("{head} {}", shown(head, activity, 2));
    let first = "  ".to_owned() + &column("aqu-sz");
    let whole = [first, column("await"), sectors, column("svctm"), column("%util")];
    text + &pairs(&whole, "  ", columns) + "\n"
}

/// Number of figures that fit in a line.
fn room(columns: usize, lead: usize, figure: usize) -> usize {
    (columns.saturating_sub(lead) / figure).max(1)
}

fn row(lead: &str, figures: &[String], lead_width: usize, width: usize) -> String {
    let figures: String = figures.iter().map(|figure| format!("{figure:>width$}")).collect();
    let line = display::padded(lead, lead_width) + &figures;
    line.trim_end().to_owned() + "\n"
}

/// Parts side by side if they fit, else below each other and indented.
fn pairs(parts: &[String], between: &str, columns: usize) -> String {
    let mut text = String::new();
    let mut used = 0;
    for part in parts {
        let wide = display::width(part);
        let joint = match used {
            0 => "",
            _ if used + between.len() + wide <= columns => between,
            _ => "\n  ",
        };
        used = if joint.starts_with('\n') { 2 } else { used + joint.len() } + wide;
        text += &format!("{joint}{part}");
    }
    text + "\n"
}

/// A line for each device in so many rows, or several if there are few columns.
fn in_short(rows: &[(String, Activity)], height: usize, columns: usize) -> String {
    let heads = ["r/s", "w/s", "rkB/s", "wkB/s", "r_await", "w_await", "aqu-sz", "%util"];
    let in_line = |activity: &Activity| {
        heads.map(|head| shown(head, activity, if head.ends_with("/s") { 0 } else { 2 }))
    };
    let each = room(columns, SHORT_LEAD, SHORT_FIGURE);
    let lines = |name: &str, figures: [String; 8]| -> String {
        let name = display::split(name, SHORT_LEAD - 1).0;
        let leads = std::iter::once(name).chain(std::iter::repeat(""));
        let parts = leads.zip(figures.chunks(each));
        parts.map(|(lead, figures)| row(lead, figures, SHORT_LEAD, SHORT_FIGURE)).collect()
    };
    let taken = 8usize.div_ceil(each);
    // What is drawn above the screen cannot be drawn over.
    let most = height.saturating_sub(taken + 2) / taken;
    let mut text = lines("Device", heads.map(str::to_owned));
    text.extend(rows.iter().take(most).map(|(name, activity)| lines(name, in_line(activity))));
    if rows.len() > most {
        text += &format!("and {} more, for which there is no room\n", rows.len() - most);
    }
    text
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
        insta::assert_snapshot!(block("nvme0n1p1", &busy(), 80).trim_end(), @r"
        nvme0n1p1         I/Os /s       kB/s      rqm/s       %rqm      await    areq-sz
          r read          1000.00    4000.00      50.00       4.76       2.50       4.00
          w write          400.00   25600.00       0.00       0.00       3.00      64.00
          d discard         10.00    2048.00       0.00       0.00       0.50     204.80
          f flush            4.00                                        3.00
          aqu-sz 3.70  await 2.63  avgrq-sz 44.89  svctm 0.66  %util 93.00
        ");
        let old = Activity { discard: None, flush: None, ..busy() };
        let text = block("sda", &old, 80);
        assert!(text.lines().all(|line| display::width(line) <= 80) && text.lines().count() == 7);
    }

    #[test]
    fn a_narrow_terminal_has_every_column() {
        insta::assert_snapshot!(block("nvme0n1p1", &busy(), 40).trim_end(), @r"
        nvme0n1p1         I/Os /s       kB/s
          r read          1000.00    4000.00
          w write          400.00   25600.00
          d discard         10.00    2048.00
          f flush            4.00
        nvme0n1p1           rqm/s       %rqm
          r read            50.00       4.76
          w write            0.00       0.00
          d discard          0.00       0.00
        nvme0n1p1           await    areq-sz
          r read             2.50       4.00
          w write            3.00      64.00
          d discard          0.50     204.80
          f flush            3.00
          aqu-sz 3.70  await 2.63
          avgrq-sz 44.89  svctm 0.66
          %util 93.00
        ");
        let rows: Vec<_> = (0..30).map(|n| (format!("sd{n}"), busy())).collect();
        for (columns, devices) in [(40, 1), (40, 2), (40, 30), (60, 1), (80, 30)] {
            let mut frame = Frame::default();
            frame.draw(&rows[..devices], [24, columns], "12:00:00");
            assert!(frame.lines.len() < 24, "{devices}: {frame:?}");
            assert!(frame.lines.iter().all(|line| *line <= columns), "{columns}: {frame:?}");
        }
    }

    #[test]
    fn a_frame_covers_the_one_before_and_never_leaves_the_screen() {
        let rows: Vec<_> = (0..30).map(|n| (format!("sd{n}"), busy())).collect();
        let mut frame = Frame::default();
        assert!(frame.draw(&rows[..1], [24, 80], "12:00:00").starts_with("\x1b[?7l\x1b[J12:00:00"));
        // A terminal made narrower: six of the eight lines take two rows of 40 columns each; the last
        // is empty.
        let narrower = Frame { lines: frame.lines.clone() }.draw(&rows[..1], [24, 40], "12:00:01");
        assert!(narrower.contains("\x1b[15A\x1b[J"));
        assert!(frame.draw(&rows[..2], [24, 80], "12:00:01").starts_with("\x1b[?7l\x1b[8A\x1b[J"));
        let many = frame.draw(&rows, [24, 80], "12:00:02");
        let is_drawn_over = many.starts_with("\x1b[?7l\x1b[15A\x1b[J");
        assert!(is_drawn_over && many.contains("and 10 more"), "{many}");
    }
}
