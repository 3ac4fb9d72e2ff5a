//! Lines about a network in logs of whole machines: their rates and times say nothing about a
//! medium.

/// Words of which any one marks a line about a network.
const WORDS: [&str; 7] = [
    " mac: ",
    "duplex: ",
    "] saved",
    "\u{2019} saved [",
    "' saved [",
    "Average Dload",
    "rtt min/avg/max/mdev",
];
/// Beginnings of lines about a network.
const LEADS: [&str; 5] = ["IF: ", "IF-ID-", "Network:", "Fetched ", "Retrieving speedtest"];

/// True if a line is about a network or a download.
pub(super) fn is_of_network(line: &str) -> bool {
    let line = line.trim();
    let is_ping =
        line.contains(" bytes from ") && (line.contains("icmp_seq") || line.contains("ttl="));
    is_ping
        || LEADS.iter().any(|lead| line.starts_with(lead))
        || WORDS.iter().any(|word| line.contains(word))
}
