//! A moment as RFC 3339 writes it, in UTC.

use std::fmt;

/// A moment, in nanoseconds since the beginning of 1970 in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub i128);

const DAY_NS: i128 = 86_400 * SECOND_NS;
const SECOND_NS: i128 = 1_000_000_000;
/// Days from 1 March of the year 0 to the beginning of 1970. A year that begins in March has its
/// leap day at its end (Howard Hinnant, chrono-Compatible Low-Level Date Algorithms).
const DAYS_TO_1970: i64 = 719_468;

impl Moment {
    /// Reads a time with its offset from UTC: `2026-11-21T22:00:00Z`, `2026-11-21T23:00:00.5+01:00`.
    pub fn read(text: &str) -> Option<Moment> {
        let date = Moment::read_date(text.get(..10)?)?;
        let minutes = minutes(text.get(10..16)?, "Tt ")?;
        let second = number(text.get(16..19)?.strip_prefix(':')?, 60)?;
        let (part, offset) = text[19..].split_at(text[19..].find(['Z', 'z', '+', '-'])?);
        let digits = if part.is_empty() { "0" } else { part.strip_prefix('.')? };
        let part_ns =
            number(digits, 999_999_999)? * 10i64.pow(9u32.checked_sub(digits.len() as u32)?);
        let offset =
            if offset.eq_ignore_ascii_case("z") { 0 } else { self::minutes(offset, "+-")? };
        let east = if text.contains('+') { offset } else { -offset };
        // A leap second is the last one before it.
        let seconds = i128::from((minutes - east) * 60 + second.min(59));
        Some(Moment(date.0 + seconds * SECOND_NS + i128::from(part_ns)))
    }

    /// Reads a date, `2026-11-21`: its first moment in UTC.
    pub fn read_date(text: &str) -> Option<Moment> {
        let [year, month, day] = text.split('-').collect::<Vec<_>>().try_into().ok()?;
        if (year.len(), month.len(), day.len()) != (4, 2, 2) {
            return None;
        }
        let (year, month, day) = (number(year, 9999)?, number(month, 12)?, number(day, 31)?);
        let march_month = (month + 9) % 12;
        let year = year - i64::from(month <= 2);
        let days = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        let days = days + (153 * march_month + 2) / 5 + day - 1 - DAYS_TO_1970;
        let moment = Moment(i128::from(days) * DAY_NS);
        moment.to_string().starts_with(text).then_some(moment)
    }

    /// The same without a part of a second.
    #[must_use]
    pub fn to_the_second(self) -> Moment {
        Moment(self.0.div_euclid(SECOND_NS) * SECOND_NS)
    }
}

/// A number of at most `most`, of digits alone.
fn number(digits: &str, most: i64) -> Option<i64> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|number| is_number && *number <= most)
}

/// Minutes of `22:00` behind one of these signs.
fn minutes(text: &str, signs: &str) -> Option<i64> {
    let (hours, minutes) = text.strip_prefix(|sign| signs.contains(sign))?.split_once(':')?;
    let is_whole = (hours.len(), minutes.len()) == (2, 2);
    is_whole.then_some(number(hours, 23)? * 60 + number(minutes, 59)?)
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, ns) = (self.0.div_euclid(DAY_NS) as i64, self.0.rem_euclid(DAY_NS));
        let days = days + DAYS_TO_1970;
        let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * march_month + 2) / 5 + 1;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        let (seconds, part) = (ns / SECOND_NS, format!(".{:09}", ns % SECOND_NS));
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let part = part.trim_end_matches('0').trim_end_matches('.');
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{part}Z")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn a_moment_is_read_as_it_was_written(seconds in -62_167_219_200i128..253_402_300_800, ns in 0..SECOND_NS) {
            let moment = Moment(seconds * SECOND_NS + ns);
            assert_eq!(Moment::read(&moment.to_string()), Some(moment));
        }
    }

    #[test]
    fn moments_are_those_of_the_calendar() {
        crate::cases::check_rows("src/moments.txt", |of| match of.parse::<i128>() {
            Ok(seconds) => Moment(seconds * SECOND_NS).to_string(),
            Err(_) => {
                let text = of.replace("\\u0661", "\u{661}");
                Moment::read(&text).map_or("-".to_owned(), |it| it.to_string())
            }
        });
    }
}
