use proptest::prelude::*;

use super::scale::AxisScale;
use super::*;

fn point(x: f64, y: f64) -> ChartPoint {
    ChartPoint { x, y, interval: Some([y * 0.9, y * 1.1]), tip: format!("{x}: {y}") }
}

fn chart(x: (Scale, AxisUnit), y: (Scale, AxisUnit), points: Vec<ChartPoint>) -> Chart {
    let axis = |label: &str, (scale, unit)| AxisSpec { label: label.to_owned(), scale, unit };
    Chart {
        id: "test".to_owned(),
        title: "A & B <i>".to_owned(),
        x: axis("across", x),
        y: axis("up", y),
        series: vec![ChartLine {
            name: "\"one\"".to_owned(),
            points,
            style: Style { hue: 1, stroke: Stroke::Solid, mark: ChartMark::Disc },
        }],
        references: Vec::new(),
        note: String::new(),
    }
}

/// Asserts the tick labels of an axis over these values.
fn check(scale: Scale, unit: AxisUnit, values: &[f64], most: usize, expected: &str) {
    let axis = AxisScale::over(scale, unit, values.iter().copied());
    let labels: Vec<String> = axis.ticks(most).into_iter().map(|(_, label)| label).collect();
    assert_eq!(labels.join(", "), expected);
}

#[test]
fn ticks_are_what_a_person_would_choose() {
    use Scale::{Linear, Log};
    check(
        Log,
        AxisUnit::Blocks,
        &[512.0, 2.0 * 1_048_576.0],
        7,
        "1 KiB, 4 KiB, 16 KiB, 64 KiB, 256 KiB, 1 MiB",
    );
    check(Log, AxisUnit::Rate, &[35e3, 60e6], 6, "100 kB/s, 1 MB/s, 10 MB/s");
    check(Log, AxisUnit::Iops, &[1.06, 95.0], 8, "1, 2, 5, 10, 20, 50, 100");
    check(Log, AxisUnit::Time, &[250e3, 3.2e9], 6, "1 ms, 10 ms, 100 ms, 1 s");
    check(Log, AxisUnit::OneIn, &[0.0003, 1.0], 6, "1 in 1000, 1 in 100, 1 in 10, all");
    check(Linear, AxisUnit::Rate, &[0.0, 23.5e6], 6, "0, 5 MB/s, 10 MB/s, 15 MB/s, 20 MB/s");
    check(
        Linear,
        AxisUnit::Bytes,
        &[15.9e9, 16.4e9],
        6,
        "15.9 GB, 16 GB, 16.1 GB, 16.2 GB, 16.3 GB, 16.4 GB",
    );
    // A short range far from zero: no two ticks have the same label.
    check(Linear, AxisUnit::Bytes, &[125.0e9, 125.5e9], 3, "125 GB, 125.2 GB, 125.4 GB");
    check(Linear, AxisUnit::Bytes, &[64.0e9, 64.0005e9], 3, "64 GB, 64.0002 GB, 64.0004 GB");
    check(Linear, AxisUnit::Time, &[0.0, 120e9], 5, "0, 50 s, 100 s");
    check(Linear, AxisUnit::Plain("°C"), &[41.0, 44.0], 4, "41 °C, 42 °C, 43 °C, 44 °C");
}

#[test]
fn a_small_chart_is_drawn_to_the_letter() {
    let chart = chart(
        (Scale::Log, AxisUnit::Blocks),
        (Scale::Linear, AxisUnit::Iops),
        vec![point(512.0, 10.0), point(4096.0, 20.0), point(f64::NAN, 3.0)],
    );
    let svg = draw(&chart).replace("><", ">\n<");
    insta::assert_snapshot!(svg, @r#"
    <svg class="chart" viewBox="0 0 360 314" role="img" aria-labelledby="test" tabindex="0">
    <title id="test">A &amp; B &lt;i&gt;. up against across (log scale).</title>
    <path class="line s1" d="M0 8.5h26"/>
    <circle class="mark s1" cx="13.0" cy="8.5" r="3.2"/>
    <text class="key" x="33" y="13">&quot;one&quot;</text>
    <text class="name" x="0" y="40">up</text>
    <text class="tick end" x="22" y="274.0">0</text>
    <text class="tick end" x="22" y="226.8">5</text>
    <text class="tick end" x="22" y="179.7">10</text>
    <text class="tick end" x="22" y="132.5">15</text>
    <text class="tick end" x="22" y="85.3">20</text>
    <text class="tick mid" x="30.0" y="288">512 B</text>
    <text class="tick mid" x="130.7" y="288">1 KiB</text>
    <text class="tick mid" x="231.3" y="288">2 KiB</text>
    <text class="tick mid" x="332.0" y="288">4 KiB</text>
    <path class="grid" d="M30 270.0H332M30 222.8H332M30 175.7H332M30 128.5H332M30 81.3H332M30.0 270v5M130.7 270v5M231.3 270v5M332.0 270v5"/>
    <path class="axis" d="M30 270H332"/>
    <text class="name end" x="332" y="308">across (log scale)</text>
    <path class="whisker s1" d="M30.0 185.1V166.2M332.0 100.2V62.5"/>
    <path class="line s1" d="M30 175.7l302-94.4"/>
    <circle class="mark s1" cx="30.0" cy="175.7" r="3.2"/>
    <circle class="mark s1" cx="332.0" cy="81.3" r="3.2"/>
    <g class="tips s1">
    <circle cx="30" cy="176" r="9">
    <title>512: 10</title>
    </circle>
    <circle cx="332" cy="81" r="9">
    <title>4096: 20</title>
    </circle>
    </g>
    </svg>
    "#);
}

#[test]
fn what_has_no_place_is_not_drawn() {
    let nothing = chart(
        (Scale::Log, AxisUnit::Blocks),
        (Scale::Log, AxisUnit::Iops),
        vec![point(0.0, 1.0), point(1.0, -1.0), point(1.0, f64::INFINITY)],
    );
    assert!(nothing.is_empty());
    let svg = draw(&nothing);
    assert!(!svg.contains("<circle") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    let one = chart(
        (Scale::Log, AxisUnit::Blocks),
        (Scale::Log, AxisUnit::Iops),
        vec![point(4096.0, 1.0)],
    );
    assert!(!one.is_empty());
}

#[test]
fn a_yardstick_alone_is_no_chart() {
    let mut chart = chart(
        (Scale::Log, AxisUnit::Blocks),
        (Scale::Log, AxisUnit::Iops),
        vec![point(512.0, 90.0), point(4096.0, 90.0)],
    );
    chart.series[0].style.stroke = Stroke::Yardstick;
    assert!(chart.is_empty());
}

#[test]
fn a_logarithmic_axis_is_labelled_as_one() {
    let drawn =
        |x, y| draw(&chart((x, AxisUnit::Blocks), (y, AxisUnit::Iops), vec![point(512.0, 10.0)]));
    let svg = drawn(Scale::Log, Scale::Linear);
    assert!(svg.contains(">across (log scale)<") && svg.contains(">up<"), "{svg}");
    let svg = drawn(Scale::Linear, Scale::Log);
    assert!(svg.contains(">across<") && svg.contains(">up (log scale)<"), "{svg}");
}

#[test]
fn a_long_line_is_drawn_no_finer_than_it_is_seen() {
    let points = (0..5000).map(|at| point(f64::from(at), 10.0)).collect();
    let svg =
        draw(&chart((Scale::Linear, AxisUnit::Bytes), (Scale::Linear, AxisUnit::Iops), points));
    let (_, path) = svg.rsplit_once(r#"<path class="line s1" d=""#).expect("a line");
    let corners = path.split('"').next().unwrap_or_default().matches(' ').count() / 2;
    assert!((200..400).contains(&corners), "{corners}");
    assert_eq!(svg.matches("</title></circle>").count(), 8);
}

/// All numbers after `name="`.
fn numbers(svg: &str, name: &str) -> Vec<f64> {
    svg.split(&format!(" {name}=\""))
        .skip(1)
        .filter_map(|rest| rest.split('"').next()?.parse().ok())
        .collect()
}

fn scale() -> impl Strategy<Value = Scale> {
    prop_oneof![Just(Scale::Linear), Just(Scale::Log)]
}

fn unit() -> impl Strategy<Value = AxisUnit> {
    prop_oneof![
        Just(AxisUnit::Bytes),
        Just(AxisUnit::Rate),
        Just(AxisUnit::Time),
        Just(AxisUnit::Iops),
        Just(AxisUnit::OneIn),
        Just(AxisUnit::Blocks)
    ]
}

/// A single block size at the upper limit of what an axis can show.
#[test]
fn a_tick_no_value_can_have_is_left_out() {
    let axis = AxisScale::over(Scale::Log, AxisUnit::Blocks, [8.005e29].into_iter());
    let axis = axis.laid(0.0, 100.0);
    let ticks: Vec<f64> = axis.ticks(2).into_iter().map(|(value, _)| value).collect();
    assert_eq!(ticks, [2f64.powi(99)]);
    assert!((0.0..=100.0).contains(&axis.at(ticks[0])));
}

proptest! {
    #[test]
    fn ticks_lie_within_the_axis_in_order(scale in scale(), unit in unit(), values in prop::collection::vec(any::<f64>(), 0..5), most in 1usize..12) {
        let axis = AxisScale::over(scale, unit, values.iter().copied()).laid(0.0, 100.0);
        let places: Vec<f64> = axis.ticks(most).iter().map(|(value, _)| axis.at(*value)).collect();
        prop_assert!(places.iter().all(|place| (-1e-6..=100.000_001).contains(place)), "{places:?}");
        prop_assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{places:?}");
        prop_assert!(places.len() <= 2 * most + 2, "{} of {most}", places.len());
    }

    #[test]
    fn an_axis_keeps_order_and_its_ends(scale in scale(), values in prop::collection::vec(1e-3f64..1e12, 2..20)) {
        let axis = AxisScale::over(scale, AxisUnit::Iops, values.iter().copied()).laid(10.0, 90.0);
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let places: Vec<f64> = sorted.iter().map(|&value| axis.at(value)).collect();
        prop_assert!(places.windows(2).all(|pair| pair[0] <= pair[1]));
        prop_assert!(places.iter().all(|place| (9.999..=90.001).contains(place)));
    }

    #[test]
    fn any_numbers_make_a_drawing_within_its_frame(
        sx in scale(), sy in scale(), ux in unit(), uy in unit(), numbers_in in prop::collection::vec((any::<f64>(), any::<f64>()), 0..40), name in ".{0,80}",
    ) {
        let mut chart = chart((sx, ux), (sy, uy), numbers_in.into_iter().map(|(x, y)| point(x, y)).collect());
        chart.series[0].name = name;
        let svg = draw(&chart);
        for what in ["NaN", "inf\"", "-inf"] {
            prop_assert!(!svg.split('>').any(|tag| tag.contains(what) && tag.starts_with("<path")), "{svg}");
        }
        prop_assert!(numbers(&svg, "cx").iter().all(|x| (0.0..=360.0).contains(x)), "{svg}");
        prop_assert!(numbers(&svg, "x").iter().all(|x| (0.0..=360.0).contains(x)), "{svg}");
    }
}

#[test]
fn the_name_of_a_yardstick_stands_above_the_plot_and_hides_no_line() {
    let (x, y) = ((Scale::Log, AxisUnit::Blocks), (Scale::Log, AxisUnit::Iops));
    let mut chart = chart(x, y, vec![point(4096.0, 100.0), point(65_536.0, 90.0)]);
    let label = "5400 rpm laptop disk: 90 IOPS".to_owned();
    chart.references =
        vec![Reference { axis: ReferenceAxis::Y, value: 90.0, label: label.clone() }];
    let svg = draw(&chart);
    let text = svg.split("<text").find(|text| text.contains(&label)).unwrap();
    let y: f64 = text.split(" y=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    let level = svg.rsplit("class=\"ref\" d=\"M").next().unwrap();
    let top: f64 = level.split([' ', 'H']).nth(1).unwrap().parse().unwrap();
    assert!(text.contains("class=\"key\"") && y < top, "{svg}");
}

/// All numbers in a drawing after this text.
fn numbers_after(text: &str, start: &str) -> Vec<f64> {
    let number = |rest: &str| {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        rest[..end].parse().unwrap_or(f64::NAN)
    };
    text.split(start).skip(1).map(number).collect()
}

proptest! {
    #[test]
    fn no_line_goes_through_a_name(begins in prop::collection::btree_set(0u32..1000, 2..12)) {
        let points = vec![point(0.0, 1.0), point(1000.0, 2.0)];
        let mut chart = chart(
            (Scale::Linear, AxisUnit::Plain("")),
            (Scale::Linear, AxisUnit::Plain("")),
            points,
        );
        let names = ["seek", "random write", "capacity", "sequential read"];
        chart.references = begins
            .iter()
            .zip(names.into_iter().cycle())
            .map(|(begin, name)| Reference {
                axis: ReferenceAxis::X,
                value: f64::from(*begin),
                label: name.to_owned(),
            })
            .collect();
        let svg = draw(&chart);
        let plot_top = numbers_after(&svg, "V").into_iter().fold(f64::MAX, f64::min);
        let flags: Vec<(f64, f64, f64)> = svg
            .split(r#"<text class="refname" x=""#)
            .skip(1)
            .map(|rest| {
                let text = rest.split(['>', '<']).nth(1).unwrap();
                let x = numbers_after(&format!("@{rest}"), "@")[0];
                let width = report::display::width(text) as f64 * 7.0;
                (x, x + width, numbers_after(rest, "y=\"")[0])
            })
            .collect();
        prop_assert!(!flags.is_empty());
        let y_name = numbers_after(&svg, r#"<text class="name" x="0" y=""#)[0];
        for (at, (x, end, y)) in flags.iter().enumerate() {
            prop_assert!(*end <= 360.0 && *y > y_name && plot_top <= *y, "{svg}");
            for (other, _, above) in flags.iter().take(at) {
                // A name further right is lower, or does not overlap.
                prop_assert!(other > x && (y + 10.0 < *above || other > end), "{svg}");
            }
        }
    }
}
